import io
import os
import pty
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from model_accuracy_eval.ports import Activity
from model_accuracy_eval.records import Counts, FigureSoFar
from model_accuracy_eval.records.base import duration
from model_accuracy_eval.system.progress_display import PlainProgress, TerminalProgress, progress_display

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


class Watch:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def begun(
    first_asked: float | None = None,
    tokens: int = 0,
    request_seconds: float = 0.0,
    figure: FigureSoFar | str | None = None,
) -> Activity:
    """A dataset that has been asked for so long."""
    activity = Activity(lambda: 0.0, lambda: figure, may_end_early=False)
    activity.first_asked, activity.tokens, activity._request_seconds = first_asked, tokens, request_seconds
    return activity


FIGURE = FigureSoFar(metric="avg@5", value=81.25, low=77.1, high=84.7, judged=390)


class Broken(io.StringIO):
    """A stream whose reader is gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError

    def flush(self) -> None:
        raise BrokenPipeError


class Terminal:
    """A pseudo-terminal: `stream` is what a program writes to, `read` what a person would get."""

    def __init__(self) -> None:
        self._reader, writer = pty.openpty()
        self.stream = os.fdopen(writer, "w", encoding="utf-8")

    def read(self) -> str:
        """All of it; the stream is closed afterwards."""
        self.stream.close()
        got = b""
        while True:
            try:
                more = os.read(self._reader, 65536)
            except OSError:  # Linux says "input/output error" at the end of a pseudo-terminal
                more = b""
            if not more:
                return got.decode()
            got += more


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.delenv("NO_COLOR", raising=False)
    found = Terminal()
    yield found
    if not found.stream.closed:
        found.stream.close()


def run(stream: TextIO, watch: Watch, planned: int, seconds: float) -> None:
    """A plain run of a dataset, one reply after the other."""
    plain = PlainProgress(stream, watch)
    plain.begin("sums", Counts(planned=planned))
    for answered in range(1, planned + 1):
        watch.now = seconds * answered / planned
        plain.update("sums", Counts(planned=planned, answered=answered))
    plain.end("sums", Counts(planned=planned, answered=planned))


def test_quick_run_is_two_lines(watch: Watch) -> None:
    """A run of a few seconds says in a log that it began and how it ended, and nothing in between."""
    log = io.StringIO()
    run(log, watch, 5000, 19.9)
    assert log.getvalue().splitlines() == [
        "sums: 5,000 samples",
        "sums: done, 5,000 of 5,000 answered, 251.3/s, 0:20 elapsed",
    ]


def test_longer_run_has_a_line_every_twenty_seconds(watch: Watch) -> None:
    """Nobody is left to wonder whether it lives; more lines than that would fill a log."""
    log = io.StringIO()
    run(log, watch, 1000, 119.0)
    lines = log.getvalue().splitlines()
    assert lines[1] == "sums: 169 of 1,000 answered, 8.4/s, 0:20 elapsed, about 1:39 left"
    assert len(lines) == 2 + 5


def test_the_time_left_is_that_of_all_datasets(watch: Watch) -> None:
    """Two requests at a time. The samples that are left cost 10 × 10 s, 30 × 30 s, and 10 × 12 s in a dataset that waits
    for its turn, which is the mean of the others."""
    log = io.StringIO()
    plain = PlainProgress(log, watch)
    asked = {
        "quick": begun(0.0, 900, 900.0, figure=FIGURE),
        "slow": begun(60.0, 5100, 300.0, figure="judged afterwards"),
        "done": begun(),
        "to come": begun(),
    }
    for name, planned in (("quick", 100), ("slow", 40), ("done", 50), ("to come", 10)):
        plain.begin(name, Counts(planned=planned, answered=50 * (name == "done")), asked[name])
    plain.update("slow", Counts(planned=40, answered=10))
    watch.now = 600.0
    plain.update("quick", Counts(planned=100, answered=88, failed=2))
    assert log.getvalue().splitlines()[4:] == [
        f"quick: 88 of 100 answered, 2 failed, {FIGURE.text}, 0.1/s, 2 tokens/s, 10:00 elapsed",
        "slow: 10 of 40 answered, judged afterwards, 0.0/s, 9 tokens/s, 9:00 elapsed",
        "all 4 datasets: 148 of 200 answered, 2 failed, 0.2/s, 10 tokens/s, 10:00 elapsed, about 9:20 left",
    ]
    asked["slow"].may_end_early = True
    watch.now = 620.0
    plain.tick()
    assert log.getvalue().splitlines()[-1].endswith(", at most about 9:39 left")


def test_nothing_that_comes_is_not_silence(watch: Watch) -> None:
    """A service that thinks for minutes: a line every twenty seconds all the same."""
    log = io.StringIO()
    plain = PlainProgress(log, watch)
    plain.tick()
    plain.begin("sums", Counts(planned=5), begun(0.0))
    for second in range(0, 61, 5):
        watch.now = float(second)
        plain.tick()
    assert log.getvalue().splitlines()[1:] == [
        f"sums: 0 of 5 answered, 0.0/s, 0:{second} elapsed, time left not known yet" for second in (20, 40)
    ] + ["sums: 0 of 5 answered, 0.0/s, 1:00 elapsed, time left not known yet"]


def test_a_dataset_that_is_done_says_so_at_once(watch: Watch) -> None:
    """With its figure, while the others are asked; many at a time share a line."""
    log = io.StringIO()
    plain = PlainProgress(log, watch)
    for number in range(6):
        plain.begin(f"part {number}", Counts(planned=2), begun(0.0, figure=FIGURE))
    plain.update("part 5", Counts(planned=2, answered=2))
    assert (
        log.getvalue().splitlines()[-1].startswith("part 5: done, 2 of 2 answered, avg@5 81.25 % so far (77.10..84.70")
    )
    watch.now = 20.0
    plain.tick()
    *_, third, whole = log.getvalue().splitlines()
    assert third.startswith("part 2: 0 of 2")
    assert whole.startswith("all 6 datasets (5 of them being asked): 2 of 12 answered, ")
    for number in range(6):
        plain.end(f"part {number}", Counts(planned=2, answered=2))
    assert sum("part 5: done" in line for line in log.getvalue().splitlines()) == 1


def test_resumed_run(watch: Watch) -> None:
    """Samples of an earlier run are named at the start, and do not make the rate look better."""
    log = io.StringIO()
    plain = PlainProgress(log, watch)
    plain.begin("sums", Counts(planned=100, answered=60))
    watch.now = 31.0
    plain.update("sums", Counts(planned=100, answered=91))
    plain.end("sums", Counts(planned=100, answered=91, failed=2, rejected=1))
    assert log.getvalue().splitlines() == [
        "sums: 100 samples, 60 of them answered before",
        "sums: 91 of 100 answered, 1.0/s, 0:31 elapsed, about 0:09 left",
        "sums: ended early, 91 of 100 answered, 1 rejected, 2 failed, 1.1/s, 0:31 elapsed",
    ]


def test_quoted_service_commands_nobody(watch: Watch) -> None:
    """Escape codes and runner commands in what a service said reach neither terminal nor runner."""
    log = io.StringIO()
    PlainProgress(log, watch).say("sums: it said \x1b[31mred\r\n::error::boo\r  ::stop-commands::x ##[error]y")
    PlainProgress(log, watch).say("::error::boo")
    lines = re.split(r"[\r\n]+", log.getvalue().strip())
    assert "\x1b" not in log.getvalue()
    assert not any(line.lstrip().startswith("::") or "##[" in line for line in lines)


@pytest.mark.parametrize("kind", [PlainProgress, TerminalProgress])
def test_broken_pipe_ends_nothing(kind: type[PlainProgress] | type[TerminalProgress], watch: Watch) -> None:
    """When nobody reads stderr any more, the run goes on."""
    shown = kind(Broken(), watch)
    shown.begin("sums", Counts(planned=2))
    shown.say("still here")
    shown.update("sums", Counts(planned=2, answered=1))
    shown.end("sums", Counts(planned=2, answered=2))
    shown.close()


def test_a_group_is_named_where_all_are_told(watch: Watch, terminal: Terminal) -> None:
    """In the lines of a log, and below the bars."""
    log = io.StringIO()
    for display in (PlainProgress(log, watch, "arc"), TerminalProgress(terminal.stream, watch, "arc")):
        watch.now = 0.0
        for name in ("arc_easy", "arc_challenge"):
            display.begin(name, Counts(planned=2), begun(0.0))
        watch.now = 20.0
        display.tick()
        display.close()
    assert log.getvalue().splitlines()[-1].startswith("arc, all 2 datasets: 0 of 4 answered, ")
    assert "arc, 0 of 2 datasets done: " in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.read())


def test_bars_on_a_terminal(watch: Watch, terminal: Terminal) -> None:
    """Each dataset has its bar with counts and figure; below them failures, rates and the time left of all of them."""
    shown = TerminalProgress(terminal.stream, watch)
    shown.begin("sums", Counts(planned=2000), begun(0.0, 17_000, 100.0, FIGURE))
    shown.begin("riddles", Counts(planned=10, answered=4))
    watch.now = 50.0
    shown.update("sums", Counts(planned=2000, answered=998, failed=2))
    time.sleep(0.5)
    shown.say("a word :x: [red]in between[/red]")
    shown.end("riddles", Counts(planned=10, answered=10))
    shown.end("sums", Counts(planned=2000, answered=1998, failed=2))
    raw = terminal.read()
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", raw)
    assert "1,000 of 2,000" in text
    assert "81.2 % (77..85)" in text
    assert "0 of 2 datasets done: 2 failed, 20.0/s, 340 tokens/s, 0:50 elapsed, about " in text
    assert "a word :x: [red]in between[/red]" in text
    assert "10 of 10" in text
    assert "2,000 of 2,000" in text
    assert "2 of 2 datasets done: 2 failed, 40.1/s, 340 tokens/s, 0:50 elapsed\r\n" in text
    assert raw.count(HIDE) == 1
    assert raw.rindex(SHOW) > raw.rindex(HIDE)


def test_close_restores_the_cursor(watch: Watch, terminal: Terminal) -> None:
    """A run that is stopped gives the cursor back, however often it is asked to, and may begin again."""
    shown = TerminalProgress(terminal.stream, watch)
    shown.close()
    for _ in range(2):
        shown.begin("sums", Counts(planned=2))
        shown.close()
        shown.close()
    raw = terminal.read()
    assert raw.count(HIDE) == raw.count(SHOW) == 2


def test_choice(terminal: Terminal, tmp_path: Path, watch: Watch) -> None:
    """Bars are for a terminal that can draw them, outside of CI."""
    able = {"TERM": "xterm"}
    with (tmp_path / "log").open("w") as file:
        assert isinstance(progress_display(file, watch, environ=able), PlainProgress)
    assert isinstance(progress_display(terminal.stream, watch, environ=able), TerminalProgress)
    for unable in ({"TERM": "dumb"}, {}, {"TERM": "xterm", "CI": "true"}):
        assert isinstance(progress_display(terminal.stream, watch, environ=unable), PlainProgress)


@pytest.mark.parametrize(("seconds", "text"), [(None, "–"), (0.4, "0:00"), (59.6, "1:00"), (3723, "1:02:03")])
def test_duration(seconds: float | None, text: str) -> None:
    """Times are minutes and seconds, with hours where there are any; unknown ones are a dash."""
    assert duration(seconds) == text
