"""Between what values a sample of a problem lies, for metrics that are no shares."""

from math import inf

from model_accuracy_eval.records import Problem


def nats(problem: Problem) -> tuple[float, float]:
    """Of a log-likelihood."""
    return -inf, 0.0


def from_zero(problem: Problem) -> tuple[float, float]:
    """Of errors and bits."""
    return 0.0, inf


def brier(problem: Problem) -> tuple[float, float]:
    """Of a squared distance: the greatest if a wrong option has all the probability."""
    return 0.0, 1.0 + len(problem.gold)


def labels(problem: Problem) -> tuple[tuple[int, int], tuple[int, int]]:
    """Of (right, chosen) option: the last wrong one, and the right one."""
    gold = problem.gold[0]
    wrong = len(problem.choices) - 1
    return (gold, wrong if wrong != gold else wrong - 1), (gold, gold)
