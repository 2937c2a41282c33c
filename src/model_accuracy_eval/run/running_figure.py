"""The figure of a dataset while it is asked, for people who watch.

Nothing that is decided or reported rests on it: the run is judged when it is complete. All of them may cost a
two-hundredth of the time that this process computes, and a thousandth of the time that it waits for the service, when
it has nothing else to do; problems for which there is no time are left out.
"""

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.records import Attempt, FigureSoFar, Pipeline, PreparedDataset, Problem, RunPlan
from model_accuracy_eval.run import outcome
from model_accuracy_eval.scoring.figures import judging
from model_accuracy_eval.scoring.figures.scorecard import figure_units
from model_accuracy_eval.scoring.metrics.metric_table import metric, pipelines_of_runs, user_function_paths
from model_accuracy_eval.scoring.verdicts.following import BeginningMean, followed_figures

_SHARE = 0.005
"""Of this process's computing time."""
_SHARE_OF_WAITING = 0.001
_ALLOWED = 0.005
"""Seconds of it in any case."""
_LOOK_SECONDS = 0.02
"""When no time is left, the computing time is asked for again after so long: that takes as long as a judgement."""
_UNKNOWN = (0.0, 1.0)


class SpareTime:
    """The computing time that the figures of all datasets may cost together."""

    def __init__(self) -> None:
        self._began = time.process_time()
        self._begun = time.monotonic()
        self._spent: float | None = None
        """None: nothing was judged, so the modules for it may not be loaded, which has to be done once in any case."""
        self._next_look = 0.0

    def is_left(self) -> bool:
        if self._spent is None:
            return True
        now = time.monotonic()
        if now < self._next_look:
            return False
        computed, passed = time.process_time() - self._began, now - self._begun
        is_left = self._spent <= _ALLOWED + _SHARE * computed + _SHARE_OF_WAITING * passed
        if not is_left:
            self._next_look = now + _LOOK_SECONDS
        return is_left

    @contextmanager
    def spending(self) -> Iterator[None]:
        began = time.process_time()
        yield
        self._spent = 0.0 if self._spent is None else self._spent + time.process_time() - began


class RunningFigure:
    """Judges the problems of one dataset as they are completed, by its first figure."""

    def __init__(
        self, plan: RunPlan, prepared: PreparedDataset, open_places: Collection[int], spare: SpareTime
    ) -> None:
        """`open_places`: problems of which no sample is in the journal; the others were asked by an earlier run."""
        self._plan = plan
        self._prepared = prepared
        self._n = plan.sampling.of(prepared.task).n
        self.why_none = _why_none(plan, prepared)
        name = next(iter(figure_units(prepared.task, self._n, plan.k)))
        short = f"avg@{self._n}" if self._n > 1 else name
        self._figure = BeginningMean(short, len(prepared.problems), self._n)
        for place in set(range(len(prepared.problems))) - set(open_places):
            self._figure.leave_out(place)
        self._samples: dict[int, list[Attempt]] = {}
        """Of problems that are not complete."""
        self._pipelines: dict[tuple[int, ...], Pipeline] = {}
        self._spare = spare

    def take(self, place: int, attempts: Sequence[Attempt]) -> None:
        """New samples of a problem, those without an answer included."""
        if self.why_none or self._figure.is_told(place):
            return
        samples = self._samples.setdefault(place, [])
        samples += attempts
        if len(samples) < self._n:
            return
        del self._samples[place]
        if not self._spare.is_left():
            self._figure.leave_out(place)
            return
        with self._spare.spending():
            ends = outcome.attempt("a running figure", lambda: self._ends(self._prepared.problems[place], samples))
        if isinstance(ends, tuple):
            self._figure.tell(place, *ends)
        else:  # it shows again when the run is judged
            self.why_none = "judged at the end"

    def _ends(self, problem: Problem, samples: Sequence[Attempt]) -> tuple[float, float]:
        """The least and the greatest value of a problem."""
        judged = judging.judge(problem, samples, self._pipeline(problem))
        values = [_sample_ends(value) for value in judged.values[0]]
        return sum(low for low, _ in values) / len(values), sum(high for _, high in values) / len(values)

    def _pipeline(self, problem: Problem) -> Pipeline:
        if problem.part not in self._pipelines:
            self._pipelines[problem.part] = pipelines_of_runs(self._prepared.task.of(problem), self._n)[0]
        return self._pipelines[problem.part]

    def so_far(self) -> FigureSoFar | str | None:
        """The figure, or why there is none; None: too few problems are complete."""
        if self.why_none:
            return self.why_none
        figure = outcome.attempt("a running figure", self._figure.figure)
        return None if isinstance(figure, EvalError) else figure


def _sample_ends(value: object) -> tuple[float, float]:
    """What is no number may be worth anything."""
    known = isinstance(value, int | float) and isfinite(value)
    return (min(max(float(value), 0.0), 1.0),) * 2 if known else _UNKNOWN  # type: ignore[arg-type]


def _why_none(plan: RunPlan, prepared: PreparedDataset) -> str:
    """Why a dataset has no figure before all of it is there."""
    task = prepared.task
    n = plan.sampling.of(task).n
    if plan.settings.mode == "infer":
        return "not judged"
    if user_function_paths(task):
        return "judged at the end"
    if any(metric(pipelines_of_runs(part, n)[0].metrics[0].name).asks for part in prepared.tasks):
        return "judged afterwards"
    first = followed_figures(task, n, plan.k).get(next(iter(figure_units(task, n, plan.k))))
    if first is None or not first.is_mean_of_samples or any(each.follow_ups for each in prepared.problems[:1]):
        return "judged at the end"
    return ""
