"""How far a run is, how long its stages took, and the logs of its datasets."""

import contextlib
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite

from model_accuracy_eval.errors import EvalError, PublishFailed
from model_accuracy_eval.ports import Clock, Ports, Store
from model_accuracy_eval.records import Attempt, FigureSoFar, Pipeline, PreparedDataset, Problem, RunPlan
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
        return self._clock.local("%Y-%m-%dT%H:%M:%S.%f%z")

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
        self._journal = journal.file(plan.settings.label, dataset)
        self.clock: Clock = ports.clock

    def journal(self) -> Iterator[bytes]:
        """The lines of what the log is about."""
        return self._store.lines(self._journal)

    def write(self, sentence: str) -> None:
        if not self._debug:
            stamp = self.clock.local("%Y-%m-%d %H:%M:%S")
            with contextlib.suppress(PublishFailed):
                self._store.append(self._file, f"{stamp} {sentence}\n".encode())
                return
        self._ports.progress.say(f"{self._dataset}: {sentence}")

    def announce(self, sentence: str) -> None:
        """Writes it, and displays it in any case."""
        self.write(sentence)
        if not self._debug:
            self._ports.progress.say(f"{self._dataset}: {sentence}")


# How far the judging of a dataset is: a line in its log and on the terminal now and then.


_FIRST_LINE = 5.0
"""Seconds of work before the first line; what takes less needs none."""
_INTERVAL = 30.0


def journal_lines(log: DatasetLog, participle: str, under_way: Callable[[], int] = lambda: 0) -> Iterator[bytes]:
    """The lines of the dataset's journal. Now and then it is said to how many of them what the `participle` says has
    happened: to each when the next one is asked for, unless it is still `under_way`."""
    clock = log.clock
    last, last_done, next_word = clock.elapsed(), 0, clock.elapsed() + _FIRST_LINE
    for number, line in enumerate(log.journal()):
        if (now := clock.elapsed()) >= next_word:
            done, total = max(0, number - under_way()), sum(1 for _ in log.journal())
            # At the pace since the last word: what an earlier judging had found took no time.
            left = duration((total - done) * (now - last) / (done - last_done) if done > last_done else None)
            log.announce(f"{done:,} of {total:,} samples {participle}, about {left} left")
            last, last_done, next_word = now, done, now + _INTERVAL
        yield line


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
        if problem.part not in self._pipelines:
            self._pipelines[problem.part] = pipelines(self._prepared.task.of(problem))[0]
        judged = judging.judge(problem, samples, self._pipelines[problem.part])
        values = [_sample_ends(value) for value in judged.values[0]]
        return sum(low for low, _ in values) / len(values), sum(high for _, high in values) / len(values)

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
