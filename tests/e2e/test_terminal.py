"""The command on a terminal of 80 and of 120 columns: what a person sees while it asks, at its end, and when it is refused."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer, Style
from tests.waiting import free_port

from model_accuracy_eval.report.tables import shown_width

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
LONG = "questions_of_a_team_whose_names_of_files_say_everything"


@dataclass(frozen=True)
class Seen:
    """What was on the terminal: every line that was drawn, bars again and again."""

    code: int
    raw: str

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in re.split(r"[\r\n]+", ESCAPES.sub("", self.raw))]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def on_terminal(columns: int, *arguments: object) -> Seen:
    """stdout and stderr are one pseudo-terminal, as at a desk."""
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environ = command.environment(TERM="xterm-256color")
    for name in ("CI", "COLUMNS", "LINES", "NO_COLOR"):
        environ.pop(name, None)
    words = [sys.executable, "-m", "model_accuracy_eval", *map(str, arguments)]
    process = subprocess.Popen(words, stdin=writer, stdout=writer, stderr=writer, env=environ, cwd=command.ROOT)
    os.close(writer)
    got: list[bytes] = []
    thread = threading.Thread(target=_read, args=(reader, got), daemon=True)
    thread.start()
    code = process.wait()
    thread.join()
    os.close(reader)
    return Seen(code, b"".join(got).decode())


def _read(reader: int, got: list[bytes]) -> None:
    while True:
        try:
            more = os.read(reader, 65536)
        except OSError:  # Linux says "input/output error" at the end of a pseudo-terminal
            return
        if not more:
            return
        got.append(more)


@pytest.mark.parametrize("columns", [80, 120])
def test_a_run_shows_its_figure_and_its_table_within_the_columns(columns: int, tmp_path: Path) -> None:
    """A long name; one request fails for good. Bars with the figure so far, then the table, no line of which is wrapped."""
    file = tmp_path / f"{LONG}.jsonl"
    file.write_text("".join(f'{{"question": "What is {n} + 1?", "answer": "{n + 1}"}}\n' for n in range(60)))
    style = Style(delay=0.01)
    with FaultServer(lambda request: ["The answer is 7."] * request.get("n", 1), style=style) as server:
        seen = on_terminal(
            columns, "run", "--endpoint", server.url, "--datasets", f"{file},demo_gsm8k", "-n", 2, "--concurrency", 4,
            "--out", tmp_path / "runs",
        )  # fmt: skip
    assert seen.code == 0, seen.text
    bars = [line for line in seen.lines if "━" in line]
    assert any(re.search(r"questions_of_\w*…? .* \d+ of 120  \d+\.\d % \(\d+\.\.\d+\)$", line) for line in bars), bars
    totals = [line for line in seen.lines if "datasets done: " in line]
    assert any(re.search(r"\d tokens/s, 0:\d\d elapsed, about 0:\d\d left$", line) for line in totals), totals
    assert re.search(r"2 of 2 datasets done: .* elapsed$", totals[-1])
    assert max(map(shown_width, [*bars, *totals])) <= columns
    begin = next(number for number, line in enumerate(seen.lines) if line.startswith("Model: "))
    end = next(number for number, line in enumerate(seen.lines) if "samples answered" in line)
    table = seen.lines[begin:end]
    assert max(map(shown_width, table)) <= columns, table
    assert sum("accuracy (2 runs average)" in line for line in table) == 2
    assert seen.text.count("Complete, no gate (exit code 0): ") == 1
    assert seen.raw.rindex("\x1b[?25h") > seen.raw.rindex("\x1b[?25l")


def test_a_refusal_says_what_is_wrong_and_what_is_known_to_help(tmp_path: Path) -> None:
    """One sentence, a command to type, the exit code; no traceback, no bars."""
    words = ("run", "--endpoint", f"http://127.0.0.1:{free_port()}", "--datasets", "demo_gsm8k")
    seen = on_terminal(80, *words, "--out", tmp_path / "runs")
    assert seen.code == 4, seen.text
    assert "Nobody answers" in seen.text
    last = [line for line in seen.lines if line][-1]
    assert "Next: model-accuracy-eval run --endpoint http://127.0.0.1:" in last
    assert "Traceback" not in seen.text
    assert "━" not in seen.text


def test_the_list_of_datasets_is_wrapped_for_people_alone() -> None:
    """80 columns on a terminal; in a pipe one line a dataset, for `grep`."""
    seen, piped = on_terminal(80, "tasks", "list"), command.run("tasks", "list")
    assert max(map(shown_width, seen.lines)) <= 80
    assert any(line.strip().startswith("gsm8k ") for line in piped.out.splitlines())
    assert len(seen.lines) > len(piped.out.splitlines())
