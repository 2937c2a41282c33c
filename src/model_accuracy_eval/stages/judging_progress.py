"""How far the judging of a dataset is: a line in its log and on the terminal now and then."""

from collections import Counter
from collections.abc import Iterator

from model_accuracy_eval.ports import Clock, Ports, Store
from model_accuracy_eval.records import PreparedDataset, RunPlan
from model_accuracy_eval.records.durations import duration
from model_accuracy_eval.reporting import journal
from model_accuracy_eval.stages.run_progress import DatasetLog

_FIRST_LINE = 5.0
"""Seconds of work before the first line; what takes less needs none."""
_SHORTEST_INTERVAL = 30.0
_LONGEST_INTERVAL = 120.0


class JudgingProgress:
    """Reads the journal of a dataset, and says how many of its samples have been dealt with."""

    def __init__(self, plan: RunPlan, prepared: PreparedDataset, store: Store, ports: Ports, participle: str) -> None:
        """`participle`: what has happened to the samples that are done."""
        self._file = journal.file(plan.settings.label, prepared.task.name)
        self._log = DatasetLog("eval", plan, prepared.task.name, store, ports)
        self._store = store
        self._clock: Clock = ports.clock
        self._participle = participle
        self._samples = 0
        self._skipped = 0
        self._begin: float | None = None
        self._next_line = 0.0
        self._total = 0
        self._tenth = -1
        self._open: Counter[tuple[int, int]] = Counter()

    @property
    def done(self) -> int:
        """How many samples were read, less those with open asks."""
        return max(0, self._samples - len(self._open))

    def lines(self) -> Iterator[bytes]:
        """Yields the journal's lines; a sample counts as read when the next one is asked for."""
        for line in self._store.lines(self._file):
            yield line
            self._samples += 1
            self.update()

    def begin_ask(self, sample: tuple[int, int]) -> None:
        if self._begin is None:
            self.start()
        self._open[sample] += 1

    def end_ask(self, sample: tuple[int, int]) -> None:
        self._open[sample] -= 1
        if not self._open[sample]:
            del self._open[sample]
        self.update()

    def start(self) -> None:
        """Begins to measure; samples that are done by now took no time."""
        self._begin = self._clock.elapsed()
        self._next_line = self._begin + _FIRST_LINE
        self._skipped = self.done

    def update(self) -> None:
        """Says how far the judging is, if there is news and the last line was some time ago."""
        if self._begin is None or (now := self._clock.elapsed()) < self._next_line:
            return
        if not self._total:  # counted when it is first told: most judging is over before
            self._total = sum(1 for _ in self._store.lines(self._file))
        tenth = 10 * self.done // max(self._total, 1)
        if self._tenth == tenth and now < self._next_line + _LONGEST_INTERVAL - _SHORTEST_INTERVAL:
            return
        self._tenth, self._next_line = tenth, now + _SHORTEST_INTERVAL
        rate = (self.done - self._skipped) / (now - self._begin)
        left = duration((self._total - self.done) / rate if rate else None)
        self._log.announce(f"{self.done:,} of {self._total:,} samples {self._participle}, about {left} left")
