"""Programs of the published code benchmarks: judged by the tests that come with their rows."""

from model_accuracy_eval.code_records import Program
from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.code import suites
from model_accuracy_eval.scoring.metrics.asked import passed
from model_accuracy_eval.scoring.metrics.row import Metric


def ask_tests(answer: str, problem: Problem, *, suite: str, **how: object) -> Program:
    """The answer with its row's tests, as the named suite puts them together."""
    return suites.find(suite)(answer, problem.extras, **how)


ROWS = {"tests": Metric(score=passed, asks=ask_tests, reads="findings", yes_or_no=True)}
