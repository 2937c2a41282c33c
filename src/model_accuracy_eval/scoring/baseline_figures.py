"""What a baseline says beforehand about the problems of a run that may stop early."""

from collections.abc import Sequence
from math import fsum

from model_accuracy_eval.scoring import certainty
from model_accuracy_eval.scoring.dataset_outcomes import DatasetOutcome, ProblemOutcome, value_of
from model_accuracy_eval.scoring.stop_lines import BaselineFigure

_OF_SIZES = {"pass", "cons"}
"""Figures whose names say of how many samples they are."""


def values_before(side: DatasetOutcome, metric: str, problems: Sequence[int]) -> tuple[float, ...]:
    """The baseline's value of every problem, 0..1, in this order; empty if it has none. Of a problem that it lacks,
    the mean: whatever stands there, it was there before this run."""
    known = {problem.id: value for problem in side.problems if (value := value_of(metric, problem)) is not None}
    if not known:
        return ()
    middle = fsum(known.values()) / len(known)
    return tuple(known.get(problem, middle) for problem in problems)


def baseline_figure(side: DatasetOutcome, metric: str, *, is_drawn_alike: bool) -> BaselineFigure | None:
    """None if the baseline lacks the figure, or if it is no mean over problems."""
    figure, bounds = side.figures.get(metric), side.bounds.get(metric)
    if figure is None or metric not in side.shares:
        return None
    low = figure if bounds is None or bounds.low is None else bounds.low
    high = figure if bounds is None or bounds.high is None else bounds.high
    values = [value for problem in side.problems if (value := value_of(metric, problem)) is not None]
    noises = [_noise(metric, problem) for problem in side.problems]
    case = certainty.case(values, noises, side.problems[0].n) if len(values) == len(noises) else None
    return BaselineFigure(
        low=low / 100,
        high=high / 100,
        variance=case.rerun_variance if case else None,
        freedom=case.freedom if case else 0.0,
        is_drawn_alike=is_drawn_alike,
    )


def _noise(metric: str, problem: ProblemOutcome) -> certainty.Noise:
    samples = problem.values if problem.c is None else [1.0] * problem.c + [0.0] * (problem.n - problem.c)
    kind = metric.partition("@")[0]
    return certainty.noise("runs", metric if kind in _OF_SIZES else "", samples)
