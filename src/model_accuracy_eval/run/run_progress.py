"""How far a run is, how long its stages took, and the logs of its datasets."""

import contextlib
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite

from model_accuracy_eval.errors import EvalError, PublishFailed
from model_accuracy_eval.ports import Clock, Ports, Store
from model_accuracy_eval.records import Attempt, FigureSoFar, Pipeline, PreparedDataset, Problem, Reply, RunPlan
from model_accuracy_eval.records.base import duration
from model_accuracy_eval.run import outcome
from model_accuracy_eval.run_folder import journal
from model_accuracy_eval.scoring.figures import judging
from model_accuracy_eval.scoring.figures.scorecard import figure_units
from model_accuracy_eval.scoring.metrics.metric_table import metric, pipelines, user_function_paths
from model_accuracy_eval.scoring.verdicts.following import BeginningMean, followed_figures


class StageTimer:
    """Measures stages: `seconds` has one entry for each. The time of a stage inside another counts only for itself."""

    def __init__(self, clock: Clock, on_stage: Callable[[str], object]) -> None:
        """`on_stage` is called with the name of each stage that begins."""
        self._clock = clock
        self._on_stage = on_stage
        self._inner = 0.0
        self.seconds: dict[str, float] = {}
        self.started = self.now()

    def now(self) -> str:
        return self._clock.local("%Y-%m-%dT%H:%M:%S%z")

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self._on_stage(name)
        began, outer_inner, self._inner = self._clock.elapsed(), self._inner, 0.0
        try:
            yield
        finally:
            total = self._clock.elapsed() - began
            self.seconds[name] = round(self.seconds.get(name, 0.0) + total - self._inner, 3)
            self._inner = outer_inner + total


class DatasetLog:
    """The log of one dataset, `logs/<step>/<label>/<dataset>.out`; with --debug its lines are displayed instead.

    So are they where the log cannot be written: a full disk must not cost the figures as well.
    """

    def __init__(self, step: str, plan: RunPlan, dataset: str, store: Store, ports: Ports) -> None:
        self._file = f"logs/{step}/{plan.settings.label}/{dataset}.out"
        self._debug = plan.settings.debug
        self._dataset = dataset
        self._store = store
        self._ports = ports

    def write(self, sentence: str) -> None:
        if not self._debug:
            stamp = self._ports.clock.local("%Y-%m-%d %H:%M:%S")
            with contextlib.suppress(PublishFailed):
                self._store.append(self._file, f"{stamp} {sentence}\n".encode())
                return
        self._ports.progress.say(f"{self._dataset}: {sentence}")

    def announce(self, sentence: str) -> None:
        """Writes it, and displays it in any case."""
        self.write(sentence)
        if not self._debug:
            self._ports.progress.say(f"{self._dataset}: {sentence}")


# What is known of a dataset while it is asked, besides its counts: its figure so far, its tokens, its requests.


class DatasetActivity:
    """Implements `ports.Activity`."""

    def __init__(
        self, elapsed: Callable[[], float], so_far: Callable[[], FigureSoFar | str | None], *, may_end_early: bool
    ) -> None:
        self._elapsed = elapsed
        self.may_end_early = may_end_early
        self.so_far = so_far
        self.first_asked: float | None = None
        self.tokens = 0
        self._under_way = 0
        self._changed = 0.0
        self._request_seconds = 0.0

    def begin_request(self) -> None:
        now = self._elapsed()
        if self.first_asked is None:
            self.first_asked = now
        self._request_seconds = self._seconds(now)
        self._changed = now
        self._under_way += 1

    def end_request(self) -> None:
        now = self._elapsed()
        self._request_seconds = self._seconds(now)
        self._changed = now
        self._under_way -= 1

    def answered(self, reply: Reply) -> None:
        if reply.usage is not None:
            self.tokens += reply.usage.completion_tokens or 0

    @property
    def request_seconds(self) -> float:
        return self._seconds(self._elapsed())

    def _seconds(self, now: float) -> float:
        return self._request_seconds + self._under_way * (now - self._changed)


# How far the judging of a dataset is: a line in its log and on the terminal now and then.


_FIRST_LINE = 5.0
"""Seconds of work before the first line; what takes less needs none."""
_INTERVAL = 30.0


class JudgingProgress:
    """Reads the journal of a dataset, and says how many of its samples have been dealt with."""

    def __init__(self, plan: RunPlan, prepared: PreparedDataset, store: Store, ports: Ports, participle: str) -> None:
        """`participle`: what has happened to the samples that are done."""
        self._file = journal.file(plan.settings.label, prepared.task.name)
        self._log = DatasetLog("eval", plan, prepared.task.name, store, ports)
        self._store = store
        self._clock: Clock = ports.clock
        self._participle = participle
        self._samples = self._skipped = self._open = 0
        self._begin: float | None = None
        self._next_line = 0.0

    @property
    def _done(self) -> int:
        """How many samples were read, less those with open asks."""
        return max(0, self._samples - self._open)

    def lines(self) -> Iterator[bytes]:
        """Yields the journal's lines; a sample counts as read when the next one is asked for."""
        for line in self._store.lines(self._file):
            yield line
            self._samples += 1
            self._update()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While something is asked about a sample that was read."""
        if self._begin is None:
            self.start()
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1
        self._update()

    def start(self) -> None:
        """Begins to measure; samples that are done by now took no time."""
        self._begin = self._clock.elapsed()
        self._next_line = self._begin + _FIRST_LINE
        self._skipped = self._done

    def _update(self) -> None:
        """Says how far the judging is, if the last line was some time ago."""
        if self._begin is None or (now := self._clock.elapsed()) < self._next_line:
            return
        self._next_line = now + _INTERVAL
        total = sum(1 for _ in self._store.lines(self._file))
        rate = (self._done - self._skipped) / (now - self._begin)
        left = duration((total - self._done) / rate if rate else None)
        self._log.announce(f"{self._done:,} of {total:,} samples {self._participle}, about {left} left")


# The figure of a dataset while it is asked, for people who watch.
#
# Nothing that is decided or reported rests on it: the run is judged when it is complete. All of them may cost a
# hundredth of the time that the run takes, because replies wait meanwhile; problems beyond that are left out.


_SHARE = 0.01
_ALLOWED = 0.5
"""Seconds of it in any case: what is needed for the first judgement may not be loaded yet."""
_UNKNOWN = (0.0, 1.0)


class SpareTime:
    """The time that the figures of all datasets may cost together."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._spent = 0.0

    def is_left(self) -> bool:
        return self._spent <= _ALLOWED + _SHARE * (time.monotonic() - self._began)

    @contextmanager
    def spending(self) -> Iterator[None]:
        began = time.monotonic()
        yield
        self._spent += time.monotonic() - began


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
        self._figure = BeginningMean(short, [problem.cluster for problem in prepared.problems], self._n)
        for place in set(range(len(prepared.problems))) - set(open_places):
            self._figure.tell(place, None)
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
            self._figure.tell(place, None)
            return
        with self._spare.spending():
            ends = outcome.attempt("a running figure", lambda: self._ends(self._prepared.problems[place], samples))
        if isinstance(ends, tuple):
            self._figure.tell(place, ends)
        else:  # it shows again when the run is judged
            self.why_none = "judged at the end"

    def _ends(self, problem: Problem, samples: Sequence[Attempt]) -> tuple[float, float]:
        """The least and the greatest value of a problem."""
        judged = judging.judge(problem, samples, self._pipeline(problem))
        values = [_sample_ends(value) for value in judged.values[0]]
        return sum(low for low, _ in values) / len(values), sum(high for _, high in values) / len(values)

    def _pipeline(self, problem: Problem) -> Pipeline:
        if problem.part not in self._pipelines:
            self._pipelines[problem.part] = pipelines(self._prepared.task.of(problem))[0]
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
    if any(metric(pipelines(part)[0].metrics[0].name).asks for part in prepared.tasks):
        return "judged afterwards"
    first = followed_figures(task, n, plan.k).get(next(iter(figure_units(task, n, plan.k))))
    if first is None or not first.is_mean_of_samples or any(each.follow_ups for each in prepared.problems[:1]):
        return "judged at the end"
    return ""
