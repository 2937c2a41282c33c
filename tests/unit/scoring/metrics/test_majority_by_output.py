"""Which programs agree with each other on the task's inputs, and what the largest group of them is worth."""

import ast
import json
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import Attempt, Problem
from model_accuracy_eval.records.code import CaseProgram, CaseResult, Execution, Program
from model_accuracy_eval.scoring.code.contest_programs import output_program
from model_accuracy_eval.scoring.figures.reductions import maj_at_k
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.metrics.metric_type import Ask

GROUPS = st.lists(st.integers(1, 4).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size))), max_size=4)


def counted(groups: list[tuple[int, int]], silent: int, k: int) -> float:
    """The vote in every draw, one by one."""
    samples = [(number, place < right) for number, (size, right) in enumerate(groups) for place in range(size)]
    worth = []
    for draw in combinations([*samples, *[None] * silent], k):
        voting = [sample for sample in draw if sample]
        parts = [[right for group, right in voting if group == number] for number in {group for group, _ in voting}]
        largest = [part for part in parts if len(part) == max(map(len, parts))]
        worth.append(sum(sum(part) / len(part) for part in largest) / len(largest) if largest else 0.0)
    return sum(worth) / len(worth)


@given(GROUPS, st.integers(0, 2), st.data())
def test_a_vote_is_the_mean_over_all_draws(groups: list[tuple[int, int]], silent: int, data: st.DataObject) -> None:
    """Groups of any size, pure and mixed, ties, and samples without a vote."""
    n = silent + sum(size for size, _ in groups)
    if not 1 <= n <= 9:
        return
    k = data.draw(st.integers(1, n))
    assert maj_at_k(tuple(groups), silent, k) == pytest.approx(counted(groups, silent, k))


def test_a_vote_without_an_answer_is_refused() -> None:
    """No samples, and more drawn than there are."""
    with pytest.raises(BadValue, match="n = 0"):
        maj_at_k((), 0, 1)
    with pytest.raises(BadValue, match="k = 4 and n = 3"):
        maj_at_k(((2, 1),), 1, 4)


def test_a_vote_of_many_samples_is_counted_quickly() -> None:
    """Two hundred samples of ten groups: an eye-blink, and all of them at once need no counting."""
    assert maj_at_k(tuple((20, 20 * (place < 5)) for place in range(10)), 0, 10) == pytest.approx(0.5)
    assert maj_at_k(((101, 101), (99, 0)), 0, 200) == 1.0


ROW = {
    "prompt": 'def twice(x):\n    """Two times x."""\n',
    "entry_point": "twice",
    "test": "def check(candidate):\n    assert candidate(3) == 6\n    assert candidate([1]) == [1, 1]\n"
    "    for x in range(9):\n        assert candidate(x) == 2 * x\n",
}
BODIES = {
    "right": "    return x * 2",
    "also right": "    return x + x",
    "wrong": "    return 4",
    "worse": "    return 5",
}
BROKEN, ODD = "    raise ValueError", "    return iter([x])"


def run(ask: Ask) -> Execution:
    """A sandbox that evaluates the few known bodies; a mark is what they give."""
    assert isinstance(ask, Program)
    names: dict[str, Any] = {}
    exec(ask.code, names)
    cases: tuple[CaseResult, ...] = ()
    passed = names["twice"](3) == 6 if BROKEN not in ask.code else False
    if isinstance(ask, CaseProgram):
        passed, cases = True, tuple(case(expression, names) for expression in json.loads(ask.tests)["expressions"])
        cases = cases[:1] if cases[0].verdict == "error" else cases
    return Execution(
        verdict="passed" if passed else "failed",
        isolation="none",
        integrity="split",
        cases=cases,
        all_cases=2 if cases else 0,
    )


def case(expression: str, names: dict[str, Any]) -> CaseResult:
    try:
        given = eval(expression, names)
    except ValueError:
        return CaseResult(verdict="error")
    return CaseResult(verdict="passed", mark="" if hasattr(given, "__next__") else repr(given))


def figures(bodies: list[str], k: tuple[int, ...] = ()) -> dict[str, float | None]:
    card = Scorecard(find("humaneval"), len(bodies), k or (len(bodies),), ask_results=run)
    problem = Problem(id=0, messages=(), references=("",), extras=ROW)
    card.judge(problem, [Attempt(problem=0, index=place, text=body) for place, body in enumerate(bodies)])
    return {row.metric: row.value for row in card.rows("abc123") if row.metric.startswith("maj@")}


@pytest.mark.parametrize(
    ("bodies", "worth"),
    [
        (["right", "also right", "wrong", "worse"], 100.0),
        (["right", "wrong", "wrong"], 0.0),
        (["right", "wrong"], 50.0),
        (["right", "wrong", "worse"], 100 / 3),
    ],
)
def test_the_largest_group_is_taken(bodies: list[str], worth: float) -> None:
    """By what programs give, and not by their text; of equally large groups, any."""
    found = figures([BODIES[body] for body in bodies])
    assert found == {f"maj@{len(bodies)}(by output)": pytest.approx(worth)}


def test_who_fails_has_no_vote_and_who_gives_objects_votes_alone() -> None:
    """A crowd of broken programs wins against nobody."""
    assert figures([BROKEN, BROKEN, BROKEN, BODIES["right"]]) == {"maj@4(by output)": 100.0}
    assert figures([BROKEN, BROKEN]) == {"maj@2(by output)": 0.0}
    assert figures([ODD, ODD, ODD, BODIES["right"], BODIES["also right"]]) == {"maj@5(by output)": 100.0}


def test_every_k_is_given_and_one_sample_has_no_vote() -> None:
    """The same figures' names as pass@k; of one sample nothing is chosen, so nothing more is run."""
    bodies = [BODIES[name] for name in ("right", "wrong", "wrong", "wrong")]
    assert figures(bodies, (1, 2, 4)) == {
        "maj@1(by output)": 25.0, "maj@2(by output)": pytest.approx(25.0), "maj@4(by output)": 0.0
    }  # fmt: skip
    assert figures(bodies[:1]) == {}
    problem = Problem(id=0, messages=(), references=("",), extras=ROW)
    asks = list(Scorecard(find("humaneval"), 1, (1,)).asks(problem, [Attempt(problem=0, index=0, text=bodies[0])]))
    assert not any(isinstance(ask, CaseProgram) for ask in asks)


def test_calls_are_taken_out_of_tests() -> None:
    """Those that need nothing but the tests' imports, helpers and plain values; what is expected stays out."""
    tests = (
        "import math\nfrom helpers import make\ndata = [1, 2]\nstate = make()\ndef half(x): return x / 2\n"
        "assert math.isclose(f(half(3)), 1234)\nassert f(data, key=f(7)) == 1235\nassert f(state) == 1236\n"
        "assert [f(i) for i in data] == 1237\nassert f(lambda x: x) == 1238\nassert f(math.pi) == 1239\n"
    )
    program = output_program(Program(code="c", tests=tests, entry_points=("f",), reference="r"), {})
    assert isinstance(program, CaseProgram)
    found = json.loads(program.tests)
    assert sorted(found["expressions"]) == ["f(7)", "f(data, key=f(7))", "f(half(3))", "f(math.pi)"]
    assert [type(node) for node in ast.parse(found["setup"]).body] == [
        ast.Import, ast.ImportFrom, ast.Assign, ast.FunctionDef
    ]  # fmt: skip
    assert (program.code, program.kind, program.reference) == ("c", "calls", "")
    assert "123" not in program.tests


def test_what_has_no_inputs_has_no_program() -> None:
    """Other languages, unit tests, and tests in which nothing can be called by itself."""
    loop = "for x in range(3):\n    assert f(x) == x\n"
    assert output_program(Program(code="", tests=loop, entry_points=("f",)), {}) is None
    assert output_program(Program(code="", tests="assert f(1)", entry_points=("f",), mode="shared"), {}) is None
    assert output_program(Program(code="", tests="f(1)", entry_points=("f",), language="bash"), {}) is None


def test_cases_of_contests_are_those_that_the_question_shows() -> None:
    """Private ones are left out, unless the program runs through all of them anyway."""
    tests = json.dumps({"cases": [[{"input": "1", "output": "2"}], "packed"], "checker": "tokens", "function": ""})
    stopping, whole = (CaseProgram(code="", tests=tests, all_cases=every) for every in (False, True))
    assert output_program(whole, {}) is whole
    for shown in ('[{"input": "1", "output": "2"}]', "[]"):
        observed = output_program(stopping, {"public_test_cases": shown})
        assert observed is not None
        found = json.loads(observed.tests)
        assert found["compared"] is False
        assert found["cases"] == ([shown] if len(shown) > 2 else json.loads(tests)["cases"])
