"""Programs of the published code benchmarks: judged by the tests that come with their rows."""

from model_accuracy_eval.records import Problem
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.scoring.code import public, suites
from model_accuracy_eval.scoring.metrics.asked import passed
from model_accuracy_eval.scoring.metrics.row import Metric


def ask_tests(answer: str, problem: Problem, *, suite: str, **how: object) -> Program:
    """The answer with its row's tests, as the named suite puts them together."""
    return suites.find(suite)(answer, problem.extras, **how)


def ask_tests_twice(answer: str, problem: Problem, *, suite: str, **how: object) -> tuple[Program, ...]:
    """The tests, and what the question shows of them."""
    shown = public.program(answer, problem.extras)
    hidden = ask_tests(answer, problem, suite=suite, **how)
    return (hidden, shown) if shown else (hidden,)


def choosable(hidden: Execution, shown: Execution | None = None, *, problem: Problem, **how: object) -> float | None:
    """1 for a pass, and 2 more where the sample passes what the question shows: `best_shown` chooses by that."""
    if hidden.passed is None or (shown is not None and shown.passed is None):
        return None
    return float(hidden.passed) + 2.0 * bool(shown is not None and shown.passed)


ROWS = {
    "tests": Metric(score=passed, asks=ask_tests, reads="findings", yes_or_no=True),
    "best_of_n": Metric(score=choosable, asks=ask_tests_twice, reads="findings"),
}
