"""Shows progress on stderr: live bars on a terminal, occasional lines in a CI log. stdout is for results."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

import msgspec
import rich.console
import rich.live
import rich.progress_bar
import rich.table
import rich.text

from model_accuracy_eval.ports import Activity, ProgressDisplay
from model_accuracy_eval.records import Counts, FigureSoFar
from model_accuracy_eval.records.base import duration

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
) -> ProgressDisplay:
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


class PlainProgress(ProgressDisplay):
    """Whole lines and no escape codes. Each stage prints lines of its own."""

    def __init__(self, stream: TextIO, elapsed: Callable[[], float], group: str = "") -> None:
        self._stream = _IgnoringErrors(stream)
        self._elapsed = elapsed
        self._whole = f"{group}, all" if group else "all"
        self._pace = RunPace()
        self._told: dict[str, Counts] = {}
        """Datasets that were said to be done, and with what."""
        self._next_line = 0.0

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

    def _tell_end(self, dataset: str, pace: "DatasetPace") -> None:
        if self._told.get(dataset) != pace.counts:
            self._told[dataset] = pace.counts
            several = len(self._pace.datasets) > 1  # of one dataset, the table follows at once
            how = "done" if pace.is_done else "ended early"
            self.say(f"{dataset}: {how}, {pace.line(self._elapsed(), figure=several)}")


class TerminalProgress(ProgressDisplay):
    """One live bar for each dataset. Updates change numbers; a timer draws."""

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

    def say(self, sentence: str) -> None:
        self._console.print(sentence.translate(_CONTROL_CHARACTERS), soft_wrap=True)

    def begin(self, dataset: str, counts: Counts, activity: Activity | None = None) -> None:
        self._pace.datasets[dataset] = DatasetPace(self._elapsed(), counts, counts.answered, activity)
        self._live.start()

    def update(self, dataset: str, counts: Counts) -> None:
        self._pace.datasets[dataset].counts = counts

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


# How far a run is, how fast, and how long the rest of it takes, from what is counted while it is asked.


class DatasetPace(msgspec.Struct):
    """The pace of one dataset. Samples of an earlier run do not count in the rate."""

    begun: float
    counts: Counts
    answered_before: int
    activity: Activity | None = None
    ended: float | None = None

    @property
    def done(self) -> int:
        return self.counts.answered + self.lost

    @property
    def lost(self) -> int:
        return self.counts.rejected + self.counts.failed

    @property
    def is_done(self) -> bool:
        return self.done >= self.counts.planned

    @property
    def left(self) -> int:
        return 0 if self.ended is not None else max(0, self.counts.planned - self.done)

    @property
    def done_now(self) -> int:
        """Samples of this run."""
        return self.done - self.answered_before

    @property
    def is_active(self) -> bool:
        """Whether it is being asked."""
        waits = self.activity is not None and self.activity.first_asked is None
        return not waits and self.ended is None and not self.is_done

    @property
    def tokens(self) -> int:
        return self.activity.tokens if self.activity else 0

    def request_seconds(self, now: float) -> float:
        return self.activity.request_seconds if self.activity else self.seconds(now)

    def seconds(self, now: float) -> float:
        """Since its first request: it may have waited for others."""
        asked = self.activity.first_asked if self.activity else None
        return (now if self.ended is None else self.ended) - (self.begun if asked is None else asked)

    def figure(self, *, short: bool = False) -> str:
        """As far as there is one, or why there is none."""
        so_far = self.activity.so_far() if self.activity else None
        if isinstance(so_far, FigureSoFar):
            return f"{so_far.value:.1f} % ({so_far.low:.0f}..{so_far.high:.0f})" if short else so_far.text
        return so_far or ""

    def line(self, now: float, *, figure: bool = True) -> str:
        speed = _speed(self.done_now, self.tokens, self.seconds(now))
        return ", ".join([*_counted(self.counts), *filter(None, [self.figure() if figure else ""]), speed])


class RunPace(msgspec.Struct):
    """The pace of all datasets together: one that has ended says nothing about those that have not begun."""

    datasets: dict[str, DatasetPace] = msgspec.field(default_factory=dict)

    def _all(self) -> list[DatasetPace]:
        return list(self.datasets.values())

    def active(self) -> list[tuple[str, DatasetPace]]:
        return [(name, pace) for name, pace in list(self.datasets.items()) if pace.is_active]

    @property
    def lost(self) -> int:
        return sum(pace.lost for pace in self._all())

    @property
    def finished(self) -> int:
        return sum(pace.is_done or pace.ended is not None for pace in self._all())

    @property
    def counts(self) -> Counts:
        names = Counts.__struct_fields__
        return Counts(**{name: sum(getattr(pace.counts, name) for pace in self._all()) for name in names})

    def line(self, now: float) -> str:
        return ", ".join([*_counted(self.counts), self.speed(now)])

    def speed(self, now: float) -> str:
        """Of samples and of tokens, and how long it has been."""
        ends = [now if pace.ended is None else pace.ended for pace in self._all()]
        seconds = max(ends) - min(pace.begun for pace in self._all())
        return _speed(sum(pace.done_now for pace in self._all()), sum(pace.tokens for pace in self._all()), seconds)

    def left(self, now: float) -> str:
        """How long the rest takes.

        Every sample that is left costs what those of its dataset did, measured in the seconds that requests take, and
        those of a dataset without answers what all others did; as many requests are under way at a time as were.
        """
        done, took = sum(pace.done_now for pace in self._all()), sum(pace.request_seconds(now) for pace in self._all())
        if done <= 0 or took <= 0:
            return "time left not known yet"
        cost = sum(
            pace.left * (pace.request_seconds(now) / pace.done_now if pace.done_now > 0 else took / done)
            for pace in self._all()
        )
        wall = now - min(pace.begun for pace in self._all())
        most = any(pace.activity is not None and pace.activity.may_end_early and pace.left for pace in self._all())
        return f"{'at most ' if most else ''}about {duration(cost * wall / took)} left"


def _counted(counts: Counts) -> list[str]:
    lost = {"rejected": counts.rejected, "failed": counts.failed}
    return [
        f"{counts.answered:,} of {counts.planned:,} answered",
        *(f"{number:,} {what}" for what, number in lost.items() if number),
    ]


def _speed(samples: int, tokens: int, seconds: float) -> str:
    rates = [f"{samples / seconds if seconds > 0 else 0.0:,.1f}/s"]
    if tokens and seconds > 0:
        rates.append(f"{tokens / seconds:,.0f} tokens/s")
    return ", ".join([*rates, f"{duration(seconds)} elapsed"])
