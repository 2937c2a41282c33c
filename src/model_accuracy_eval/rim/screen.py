"""How far things are, on stderr: live bars for a person, sparse lines for a CI log. stdout stays for results."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from model_accuracy_eval.records import Counts

if TYPE_CHECKING:
    from rich.table import Table

_REFRESHES_PER_SECOND = 5
_LINE_EVERY = 30.0
_LINE_AT_LATEST = 300.0
_CONTROLS = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)])


def screen(
    stream: TextIO, elapsed: Callable[[], float], *, plain: bool = False, environ: Mapping[str, str] = os.environ
) -> "TerminalScreen | PlainScreen":
    """Bars where somebody watches; lines where a file, a CI log or a simple terminal does."""
    # Some CI systems hand out a terminal, whose redrawn bars would fill the log.
    simple = environ.get("TERM", "") in {"", "dumb"} or bool(environ.get("CI"))
    if plain or simple or not stream.isatty():
        return PlainScreen(stream, elapsed)
    return TerminalScreen(stream, elapsed)


def duration(seconds: float | None) -> str:
    """`1:02:03` or `2:03`; a dash when nobody can know yet."""
    if seconds is None:
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@dataclass(slots=True)
class _Progress:
    """One dataset under way. Samples that an earlier run brought are no merit of this one's rate."""

    began: float
    counts: Counts
    before: int
    ended: float | None = None
    next_line: float = 0.0
    tenth: int = 0

    @property
    def done(self) -> int:
        return self.counts.answered + self.lost

    @property
    def lost(self) -> int:
        return self.counts.rejected + self.counts.failed

    def seconds(self, now: float) -> float:
        return (now if self.ended is None else self.ended) - self.began

    def rate(self, now: float) -> float:
        """Samples a second."""
        seconds = self.seconds(now)
        return (self.done - self.before) / seconds if seconds > 0 else 0.0

    def remaining(self, now: float) -> float | None:
        rate = self.rate(now)
        return (self.counts.planned - self.done) / rate if rate > 0 else None

    def line(self, now: float) -> str:
        lost = {"rejected": self.counts.rejected, "failed": self.counts.failed}
        parts = [f"{self.counts.answered:,} of {self.counts.planned:,} answered"]
        parts += [f"{number:,} {what}" for what, number in lost.items() if number]
        return ", ".join([*parts, f"{self.rate(now):,.1f}/s, {duration(self.seconds(now))} gone"])


class _Forgiving:
    """A text stream whose reader may go away: the run goes on, unseen."""

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


class PlainScreen:
    """Implements `ports.Screen` with whole lines and no escape codes."""

    def __init__(self, stream: TextIO, elapsed: Callable[[], float]) -> None:
        self._stream = _Forgiving(stream)
        self._elapsed = elapsed
        self._open: dict[str, _Progress] = {}

    def enter(self, stage: str) -> None:
        """Each stage has lines of its own."""

    def say(self, sentence: str) -> None:
        for place, line in enumerate(sentence.splitlines() or [""]):
            clean = line.translate(_CONTROLS).replace("##[", "# #[")
            # Services are quoted here: a line of theirs that starts with "::" would command a GitHub runner.
            quoted = place or clean.lstrip().startswith("::")
            self._stream.write(f"{'| ' if quoted else ''}{clean}\n")
        self._stream.flush()

    def begin(self, dataset: str, counts: Counts) -> None:
        now = self._elapsed()
        tenth = 10 * counts.answered // max(counts.planned, 1)
        self._open[dataset] = _Progress(now, counts, counts.answered, next_line=now + _LINE_EVERY, tenth=tenth)
        before = f", {counts.answered:,} of them answered before" if counts.answered else ""
        self.say(f"{dataset}: {counts.planned:,} samples{before}")

    def update(self, dataset: str, counts: Counts) -> None:
        progress, now = self._open[dataset], self._elapsed()
        progress.counts = counts
        if now < progress.next_line:
            return
        tenth = 10 * progress.done // max(counts.planned, 1)
        if tenth > progress.tenth or now >= progress.next_line + _LINE_AT_LATEST - _LINE_EVERY:
            progress.tenth, progress.next_line = tenth, now + _LINE_EVERY
            self.say(f"{dataset}: {progress.line(now)}, about {duration(progress.remaining(now))} left")

    def end(self, dataset: str, counts: Counts) -> None:
        progress = self._open.pop(dataset, None)
        if progress is not None:
            progress.counts = counts
            how = "done" if progress.done >= counts.planned else "ended early"
            self.say(f"{dataset}: {how}, {progress.line(self._elapsed())}")

    def close(self) -> None:
        """Lines leave nothing to put back."""


class TerminalScreen:
    """Implements `ports.Screen` with one live bar a dataset. A reply only changes a number; a timer draws."""

    def __init__(self, stream: TextIO, elapsed: Callable[[], float]) -> None:
        from rich.console import Console  # noqa: PLC0415 – rich takes 40 ms to import, and most runs need none
        from rich.live import Live  # noqa: PLC0415

        self._elapsed = elapsed
        self._datasets: dict[str, _Progress] = {}
        # A terminal that hangs up must not end the run, and rich would end the process.
        file: Any = _Forgiving(stream)
        self._console = Console(file=file, highlight=False, markup=False, emoji=False, force_terminal=True)
        self._live = Live(
            console=self._console,
            get_renderable=self._table,
            refresh_per_second=_REFRESHES_PER_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def enter(self, stage: str) -> None:
        """Each stage has lines of its own."""

    def say(self, sentence: str) -> None:
        self._console.print(sentence.translate(_CONTROLS), soft_wrap=True)

    def begin(self, dataset: str, counts: Counts) -> None:
        self._datasets[dataset] = _Progress(self._elapsed(), counts, counts.answered)
        self._live.start()

    def update(self, dataset: str, counts: Counts) -> None:
        self._datasets[dataset].counts = counts

    def end(self, dataset: str, counts: Counts) -> None:
        if dataset in self._datasets:
            self._datasets[dataset].counts = counts
            self._datasets[dataset].ended = self._elapsed()
        if all(progress.ended is not None for progress in self._datasets.values()):
            self.close()

    def close(self) -> None:
        """Draws the bars a last time and gives the cursor back; harmless when there is nothing to close."""
        self._live.stop()
        self._datasets = {}

    def _table(self) -> "Table":
        from rich.progress_bar import ProgressBar  # noqa: PLC0415 – as above
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        table, now = Table.grid(padding=(0, 2), expand=True), self._elapsed()
        for name in ("dataset", "bar", "counts", "rate", "time"):
            table.add_column(name, ratio=1 if name == "bar" else None, no_wrap=True)
        for dataset, progress in list(self._datasets.items()):
            counts = Text(f"{progress.done:,} of {progress.counts.planned:,}")
            if progress.lost:
                counts.append(f", {progress.lost:,} failed", style="red")
            left = "" if progress.ended is not None else f", {duration(progress.remaining(now))} left"
            bar = ProgressBar(total=max(progress.counts.planned, 1), completed=progress.done)
            time = f"{duration(progress.seconds(now))}{left}"
            table.add_row(dataset, bar, counts, f"{progress.rate(now):,.1f}/s", time)
        return table
