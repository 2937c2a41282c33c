"""Output whose reader has gone, or that nobody can take: no defect, and never the exit code of a failed gate."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer

LIST = ("tasks", "list")


def ended(*words: object, out: int | None, err: int | None = subprocess.PIPE, **more: str) -> "tuple[int, str]":
    line = [sys.executable, "-m", "model_accuracy_eval", *map(str, words)]
    done = subprocess.run(
        line, stdout=out, stderr=err, text=True, cwd=command.ROOT, check=False, env=command.environment(**more)
    )
    return done.returncode, done.stderr or ""


@pytest.fixture
def unread() -> Iterator[int]:
    """A pipe that nobody reads any more."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.fixture
def full() -> Iterator[int]:
    """A disk that takes no byte."""
    descriptor = os.open("/dev/full", os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


def test_a_reader_that_has_read_enough_is_no_error(unread: int) -> None:
    """As with `tasks list | head -1`."""
    assert ended(*LIST, out=unread) == (0, "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_told(unbuffered: str, full: int) -> None:
    """In one sentence, with the exit code of what could not be published."""
    sentence = "Error: The output cannot be written: No space left on device.\n"
    assert ended(*LIST, out=full, PYTHONUNBUFFERED=unbuffered) == (6, sentence)
    assert ended(*LIST, out=full, err=full, PYTHONUNBUFFERED=unbuffered) == (6, "")


def test_messages_that_cannot_be_written_change_no_exit_code(unread: int, full: int) -> None:
    """Neither that of a command that did what it was told nor that of one that refuses."""
    for errors in (unread, full):
        assert ended(*LIST, out=subprocess.DEVNULL, err=errors) == (0, "")
        assert ended("nonsense", out=subprocess.DEVNULL, err=errors) == (2, "")


def test_a_closed_output_is_none() -> None:
    """A shell's `>&-`; a file that is opened next must not be taken for it."""
    shell = ["sh", "-c", f"exec {sys.executable} -m model_accuracy_eval tasks list >&-"]
    done = subprocess.run(shell, stderr=subprocess.PIPE, cwd=command.ROOT, check=False, env=command.environment())
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(("gate", "code"), [(">= 0", 0), (">= 100", 1)])
def test_a_verdict_does_not_need_a_reader(gate: str, code: int, unread: int, full: int, tmp_path: Path) -> None:
    """The exit code of a run is that of its gates; a verdict that cannot be written down is published to nobody."""
    with FaultServer(lambda request: ["#### 0"] * request.get("n", 1)) as server:
        run = ("run", "--endpoint", server.url, "--datasets", "demo_gsm8k", "-n", 1, "--out", tmp_path)
        gated = (*run, "--gate", f"demo_gsm8k: accuracy {gate}", "--on-undecided", "fail")
        assert ended(*gated, out=unread, err=unread)[0] == code
        assert ended(*gated, out=full, err=unread)[0] == 6
