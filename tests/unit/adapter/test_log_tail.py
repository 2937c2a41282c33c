"""The end of a log as a terminal would show it."""

from pathlib import Path

import pytest

from model_accuracy_eval.adapter.adapter_files import tail


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        (b"", ""),
        (b"one\ntwo\nthree\nfour\n\n\n", "two\nthree\nfour"),
        (b"\x1b[1;31mred\x1b[0m \x1b]0;title\x07text\x1b(B\n", "red text"),
        (b" 10%\r 50%\r100% done\n", "100% done"),
        (b" 10%\r 50%\r", " 50%"),
        (b"windows\r\nends\r\n", "windows\nends"),
        (b"half \xe4\xbd\n", "half \ufffd"),
        (b"bell\x07 nul\0 tab\t|\n", "bell nul tab\t|"),
    ],
)
def test_tail(tmp_path: Path, written: bytes, seen: str) -> None:
    """The last lines as a person would have seen them."""
    (tmp_path / "log").write_bytes(written)
    assert tail(str(tmp_path / "log"), 3) == seen


def test_tail_of_a_long_log(tmp_path: Path) -> None:
    """Only the end is read, from the first whole line on; one endless progress line still has its last state."""
    (tmp_path / "log").write_bytes(b"x" * 300_000 + b"\nend\n")
    assert tail(str(tmp_path / "log"), 3) == "end"
    (tmp_path / "log").write_bytes(b"  1%\r" * 100_000 + b"100%")
    assert tail(str(tmp_path / "log"), 3) == "100%"


def test_tail_of_no_log(tmp_path: Path) -> None:
    """No log, no lines."""
    assert tail(str(tmp_path / "log"), 3) == ""
