"""The best of n samples, chosen by what the question shows of its tests."""

import pytest

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import Attempt, Problem
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.scoring.code import benchmark_suites
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.metrics.metric_type import Ask

PROMPT = (
    'def twice(x):\n    """Two times x.\n    >>> twice(2)\n    4\n    >>> print("no value")\n    no value\n    """\n'
)
ROW = {"prompt": PROMPT, "entry_point": "twice", "test": "def check(candidate):\n    assert candidate(3) == 6"}
BODIES = {"right": "    return 2 * x", "shown alone": "    return 4", "wrong": "    return 0"}


def test_examples_become_asserts() -> None:
    """Those whose result is a value; what is printed is none."""
    program = benchmark_suites.shown_tests("code", ROW)
    assert program is not None
    assert program.tests == "assert (twice(2)) == (4)\n"
    assert benchmark_suites.shown_tests("code", {**ROW, "prompt": "def f(): …"}) is None


def run(ask: Ask) -> Execution:
    """A sandbox for three known bodies."""
    assert isinstance(ask, Program)
    shown = "check(" not in ask.tests
    passed = BODIES["right"] in ask.code or (shown and BODIES["shown alone"] in ask.code)
    return Execution(verdict="passed" if passed else "failed", isolation="none", integrity="split")


@pytest.mark.parametrize(
    ("samples", "best"),
    [
        (["wrong", "right"], 100),
        (["right", "wrong"], 100),
        (["wrong", "shown alone", "right"], 0),
        (["wrong", "wrong"], 0),
    ],
)
def test_the_first_that_passes_the_examples_is_taken(samples: list[str], best: float) -> None:
    """Told apart from pass@k: the tests themselves have no say in the choice."""
    card = Scorecard(find("humaneval"), len(samples), (len(samples),), ask_results=run)
    problem = Problem(id=0, messages=(), references=("",), extras=ROW)
    attempts = [Attempt(problem=0, index=place, text=BODIES[one]) for place, one in enumerate(samples)]
    problem_result = card.judge(problem, attempts)
    figures = {row.metric: row.value for row in card.rows("abc123")}
    assert problem_result.c == samples.count("right")
    (name,) = [name for name in figures if "best of n" in name]
    assert figures[name] == best
