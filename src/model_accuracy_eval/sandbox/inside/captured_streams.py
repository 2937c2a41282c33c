"""Standard streams that tests put in the place of the real ones are the program's, too, while it is called."""

import io
import sys


class TestStreams:
    """On the side of the tests."""

    def __init__(self) -> None:
        self._real = (sys.stdin, sys.stdout, sys.stderr)

    def are_captured(self) -> bool:
        return (sys.stdout, sys.stderr) != self._real[1:]

    def typed(self) -> str | None:
        """What the program is to read: all that the tests have put there."""
        return None if sys.stdin is self._real[0] else str(sys.stdin.read())

    def write(self, printed: list[str]) -> None:
        for stream, real, text in zip((sys.stdout, sys.stderr), self._real[1:], printed, strict=False):
            if stream is not real:
                stream.write(text)


class ProgramStreams:
    """On the side of the program."""

    def __init__(self) -> None:
        self._real = (sys.stdin, sys.stdout, sys.stderr)
        self._captured: list[io.StringIO] = []
        self._input = io.StringIO()

    def begin(self, *, captured: bool, typed: str | None) -> None:
        if captured:
            self._captured = [io.StringIO(), io.StringIO()]
            sys.stdout, sys.stderr = self._captured
        if typed is not None:
            self._input = io.StringIO(self._input.read() + typed)
            sys.stdin = self._input

    def end(self) -> list[str]:
        """Returns what was printed."""
        printed = [stream.getvalue() for stream in self._captured]
        if self._captured or sys.stdin is self._input:
            sys.stdin, sys.stdout, sys.stderr = self._real
            self._captured = []
        return printed
