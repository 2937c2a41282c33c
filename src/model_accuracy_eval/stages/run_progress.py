"""How far a run is, how long its stages took, and the logs of its datasets."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.ports import Activity, Clock, Ports, ProgressDisplay, Store
from model_accuracy_eval.records import Counts, RunPlan
from model_accuracy_eval.reporting import progress
from model_accuracy_eval.reporting.run_pace import DatasetPace, RunPace


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


class RunProgress:
    """Holds the newest state of a run. Texts are made when they are asked for, because replies come by the thousand."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self.stage = "prepare"
        self.group = ""
        self._pace = RunPace()

    def watch(self, display: ProgressDisplay, *, group: str = "") -> ProgressDisplay:
        """Returns a display that notes everything here and shows it on the given one.

        `group`: what all datasets are of.
        """
        self.group = group
        return _WatchedDisplay(display, self)

    def begin(self, dataset: str, counts: Counts, activity: Activity | None) -> None:
        self._pace.datasets[dataset] = DatasetPace(self._elapsed(), counts, counts.answered, activity)

    def update(self, dataset: str, counts: Counts, *, ended: bool = False) -> None:
        if pace := self._pace.datasets.get(dataset):
            pace.counts = counts
            pace.ended = self._elapsed() if ended else None

    def newest(self) -> tuple[str, str]:
        """Returns title and summary; any thread may call it."""
        title = progress.title(self.stage, self._pace, self.group)
        return title, progress.summary(self.stage, self._pace, self._elapsed())


class _WatchedDisplay:
    """Implements `ports.ProgressDisplay`."""

    def __init__(self, display: ProgressDisplay, run_progress: RunProgress) -> None:
        self._display = display
        self._run_progress = run_progress

    def enter(self, stage: str) -> None:
        self._run_progress.stage = stage
        self._display.enter(stage)

    def say(self, sentence: str) -> None:
        self._display.say(sentence)

    def begin(self, dataset: str, counts: Counts, activity: Activity | None = None) -> None:
        self._run_progress.begin(dataset, counts, activity)
        self._display.begin(dataset, counts, activity)

    def tick(self) -> None:
        self._display.tick()

    def update(self, dataset: str, counts: Counts) -> None:
        self._run_progress.update(dataset, counts)
        self._display.update(dataset, counts)

    def end(self, dataset: str, counts: Counts) -> None:
        self._run_progress.update(dataset, counts, ended=True)
        self._display.end(dataset, counts)

    def close(self) -> None:
        self._display.close()
