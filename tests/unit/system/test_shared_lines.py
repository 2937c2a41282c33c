"""Several processes append to one file: each line once, none torn."""

import subprocess
import sys
from pathlib import Path

import pytest

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.system.local_files import append_lines

WRITER = """
import sys
from model_accuracy_eval.system.local_files import append_lines
for number in range(40):
    line = f"{number} {'x' * 20000}\\n".encode()
    append_lines(sys.argv[1], lambda before: b"" if line in before else line)
"""


def test_two_writers_lose_and_double_nothing(tmp_path: Path) -> None:
    """Both want to append the same lines, each longer than a pipe's atomic write."""
    path = tmp_path / "deep" / "history.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path)]) for _ in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    lines = path.read_bytes().splitlines()
    assert [int(line.split()[0]) for line in lines] == list(range(40))
    assert {len(line.split()[1]) for line in lines} == {20000}


def test_a_torn_last_line_keeps_a_line_of_its_own(tmp_path: Path) -> None:
    """What a crash left is not made one with what comes after it; nothing new changes nothing."""
    path = tmp_path / "h"
    path.write_bytes(b"whole\nhal")
    assert append_lines(str(path), lambda _: b"") == b"whole\nhal"
    assert append_lines(str(path), lambda _: b"new\n") == b"whole\nhal\nnew\n" == path.read_bytes()


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """With its name and the reason."""
    with pytest.raises(BadValue, match="cannot be written: Is a directory"):
        append_lines(str(tmp_path), lambda _: b"x\n")
