"""Programs of the published code benchmarks: judged by the tests that come with their rows."""

from model_accuracy_eval.records import Problem
from model_accuracy_eval.records.code import Execution, Limits, Program
from model_accuracy_eval.scoring.code import public, suites
from model_accuracy_eval.scoring.code.called import called
from model_accuracy_eval.scoring.metrics.asked import passed
from model_accuracy_eval.scoring.metrics.row import Metric

_CODE_EVAL_SECONDS = 3.0


def ask_tests(answer: str, problem: Problem, *, suite: str, **how: object) -> Program:
    """The answer with its row's tests, as the named suite puts them together."""
    return suites.find(suite)(answer, problem.extras, **how)


def ask_tests_twice(answer: str, problem: Problem, *, suite: str, **how: object) -> tuple[Program, ...]:
    """The tests, and what the question shows of them."""
    shown = public.program(answer, problem.extras)
    hidden = ask_tests(answer, problem, suite=suite, **how)
    return (hidden, shown) if shown else (hidden,)


def ask_code_eval(answer: str, problem: Problem) -> Program:
    """A whole program, and as the right answer the lines that test it, under the limit that `code_eval` has."""
    tests = problem.references[0]
    name = called([line for line in tests.splitlines() if line.startswith("assert ")])
    return Program(
        code=answer, tests=tests, entry_points=(name,) if name else (), limits=Limits(wall_seconds=_CODE_EVAL_SECONDS)
    )


def choosable(hidden: Execution, shown: Execution | None = None, *, problem: Problem, **how: object) -> float | None:
    """1 for a pass, and 2 more where the sample passes what the question shows: `best_shown` chooses by that."""
    if hidden.passed is None or (shown is not None and shown.passed is None):
        return None
    return float(hidden.passed) + 2.0 * bool(shown is not None and shown.passed)


ROWS = {
    "code_eval": Metric(score=passed, asks=ask_code_eval, reads="findings", yes_or_no=True),
    "tests": Metric(score=passed, asks=ask_tests, reads="findings", yes_or_no=True),
    "best_of_n": Metric(score=choosable, asks=ask_tests_twice, reads="findings"),
}
