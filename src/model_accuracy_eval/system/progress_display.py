"""Shows progress on stderr: live bars on a terminal, occasional lines in a CI log. stdout is for results."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

import rich.console
import rich.live
import rich.progress_bar
import rich.table
import rich.text

from model_accuracy_eval.ports import Activity
from model_accuracy_eval.records import Counts
from model_accuracy_eval.report.progress import DatasetPace, RunPace

if TYPE_CHECKING:
    from rich.console import Group

_REFRESHES_PER_SECOND = 5
_INTERVAL = 20.0
"""Seconds between lines of a log that say how far a run is."""
_LINES = 3
"""Datasets that have a line of their own then."""
_BARS = 8
"""Where there are more datasets, only those that are being asked have a bar."""
_CONTROL_CHARACTERS = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)])


def progress_display(
    stream: TextIO,
    elapsed: Callable[[], float],
    *,
    group: str = "",
    environ: Mapping[str, str] = os.environ,
) -> "TerminalProgress | PlainProgress":
    """Bars on a terminal; lines in a file, in a CI log and on a simple terminal. `group`: what all datasets are of."""
    # Some CI systems provide a terminal; redrawn bars would fill their log.
    simple = environ.get("TERM", "") in {"", "dumb"} or bool(environ.get("CI"))
    if simple or not stream.isatty():
        return PlainProgress(stream, elapsed, group)
    return TerminalProgress(stream, elapsed, group)


class _IgnoringErrors:
    """A text stream whose reader may go away: the run continues without output."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except (OSError, ValueError):
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except (OSError, ValueError):
            return


class PlainProgress:
    """Implements `ports.ProgressDisplay` with whole lines and no escape codes."""

    def __init__(self, stream: TextIO, elapsed: Callable[[], float], group: str = "") -> None:
        self._stream = _IgnoringErrors(stream)
        self._elapsed = elapsed
        self._whole = f"{group}, all" if group else "all"
        self._pace = RunPace()
        self._told: dict[str, Counts] = {}
        """Datasets that were said to be done, and with what."""
        self._next_line = 0.0

    def enter(self, stage: str) -> None:
        """Shows nothing: each stage prints lines of its own."""

    def say(self, sentence: str) -> None:
        for number, line in enumerate(sentence.splitlines() or [""]):
            printable = line.translate(_CONTROL_CHARACTERS).replace("##[", "# #[")
            # Sentences may quote a service: a line of it that starts with "::" would be a command to a GitHub runner.
            quoted = number or printable.lstrip().startswith("::")
            self._stream.write(f"{'| ' if quoted else ''}{printable}\n")
        self._stream.flush()

    def begin(self, dataset: str, counts: Counts, activity: Activity | None = None) -> None:
        now = self._elapsed()
        if not self._pace.datasets:
            self._next_line = now + _INTERVAL
        self._pace.datasets[dataset] = DatasetPace(now, counts, counts.answered, activity)
        note = f", {counts.answered:,} of them answered before" if counts.answered else ""
        self.say(f"{dataset}: {counts.planned:,} samples{note}")

    def update(self, dataset: str, counts: Counts) -> None:
        pace = self._pace.datasets[dataset]
        pace.counts = counts
        if pace.is_done:
            self._tell_end(dataset, pace)
        self.tick()

    def tick(self) -> None:
        now = self._elapsed()
        if now < self._next_line or not self._pace.datasets:
            return
        self._next_line = now + _INTERVAL
        several = len(self._pace.datasets) > 1
        active = self._pace.active()
        for name, pace in active[:_LINES]:
            left = "" if several else f", {self._pace.left(now)}"
            self.say(f"{name}: {pace.line(now)}{left}")
        if several:
            more = f" ({len(active)} of them being asked)" if len(active) > _LINES else ""
            datasets = f"{self._whole} {len(self._pace.datasets)} datasets{more}"
            self.say(f"{datasets}: {self._pace.line(now)}, {self._pace.left(now)}")

    def end(self, dataset: str, counts: Counts) -> None:
        pace = self._pace.datasets.get(dataset)
        if pace is not None:
            pace.counts = counts
            self._tell_end(dataset, pace)
            pace.ended = pace.ended or self._elapsed()
        if all(pace.ended for pace in self._pace.datasets.values()):
            self._pace = RunPace()

    def _tell_end(self, dataset: str, pace: DatasetPace) -> None:
        if self._told.get(dataset) != pace.counts:
            self._told[dataset] = pace.counts
            several = len(self._pace.datasets) > 1  # of one dataset, the table follows at once
            how = "done" if pace.is_done else "ended early"
            self.say(f"{dataset}: {how}, {pace.line(self._elapsed(), figure=several)}")

    def close(self) -> None:
        """Lines need no restoring of the terminal."""


class TerminalProgress:
    """Implements `ports.ProgressDisplay` with one live bar for each dataset. Updates change numbers; a timer draws."""

    def __init__(self, stream: TextIO, elapsed: Callable[[], float], group: str = "") -> None:
        self._elapsed = elapsed
        self._pace = RunPace()
        self._group = f"{group}, " if group else ""
        # A terminal that is closed must not end the run; rich would end the process.
        file: Any = _IgnoringErrors(stream)
        self._console = rich.console.Console(file=file, highlight=False, markup=False, emoji=False, force_terminal=True)
        self._live = rich.live.Live(
            console=self._console,
            get_renderable=self._shown,
            refresh_per_second=_REFRESHES_PER_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def enter(self, stage: str) -> None:
        """Shows nothing: each stage prints lines of its own."""

    def say(self, sentence: str) -> None:
        self._console.print(sentence.translate(_CONTROL_CHARACTERS), soft_wrap=True)

    def begin(self, dataset: str, counts: Counts, activity: Activity | None = None) -> None:
        self._pace.datasets[dataset] = DatasetPace(self._elapsed(), counts, counts.answered, activity)
        self._live.start()

    def update(self, dataset: str, counts: Counts) -> None:
        self._pace.datasets[dataset].counts = counts

    def tick(self) -> None:
        """Draws nothing: a timer does."""

    def end(self, dataset: str, counts: Counts) -> None:
        if dataset in self._pace.datasets:
            self._pace.datasets[dataset].counts = counts
            self._pace.datasets[dataset].ended = self._elapsed()
        if all(pace.ended is not None for pace in self._pace.datasets.values()):
            self.close()

    def close(self) -> None:
        """Draws the bars a last time and restores the cursor; does nothing when it is closed already."""
        self._live.stop()
        self._pace = RunPace()

    def _shown(self) -> "Group":
        """A bar for each dataset, or for those that are being asked where there are many; then the whole run."""
        now, pace = self._elapsed(), self._pace
        table = rich.table.Table.grid(padding=(0, 2), expand=True)
        for name in ("dataset", "bar", "counts", "figure"):
            wide = {"dataset": self._console.width // 4}.get(name)
            table.add_column(
                name, ratio=1 if name == "bar" else None, no_wrap=True, max_width=wide, overflow="ellipsis"
            )
        every = list(pace.datasets.items())
        for dataset, one in every if len(every) <= _BARS else pace.active()[:_BARS]:
            bar = rich.progress_bar.ProgressBar(total=max(one.counts.planned, 1), completed=one.done)
            counts = f"{one.done:,} of {one.counts.planned:,}"
            table.add_row(rich.text.Text(dataset), bar, rich.text.Text(counts), rich.text.Text(one.figure(short=True)))
        if not every:
            return rich.console.Group(table)
        left = "" if all(one.ended is not None for _, one in every) else f", {pace.left(now)}"
        several = f"{self._group}{pace.finished} of {len(every)} datasets done: " if len(every) > 1 else ""
        lost = rich.text.Text(f"{pace.lost:,} failed, " if pace.lost else "", style="red")
        whole = rich.text.Text(several) + lost + rich.text.Text(f"{pace.speed(now)}{left}")
        return rich.console.Group(table, whole)
