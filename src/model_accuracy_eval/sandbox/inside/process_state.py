"""What of the tests' process the program finds in its own: captured standard streams, and seeded generators."""

import io
import random
import sys
from typing import Any

# Standard streams that tests put in the place of the real ones are the program's, too, while it is called.


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


# The random generators of Python and numpy: tests seed them in their process, for a program that draws in another.


GeneratorState = tuple[object, ...]


class SeededGenerators:
    """The generators of this process."""

    def __init__(self) -> None:
        self._told = _generator_state()

    def news(self) -> GeneratorState | None:
        """Their state, if it is another one than when this was asked last."""
        state = _generator_state()
        if _comparable(state) == _comparable(self._told):
            return None
        self._told = state
        return state


def restore_generators(state: Any) -> None:
    python, numpy = state
    random.setstate(python)
    if numpy is not None and "numpy" in sys.modules:
        sys.modules["numpy"].random.set_state(numpy)


def _generator_state() -> GeneratorState:
    numpy = sys.modules.get("numpy")
    return random.getstate(), numpy.random.get_state() if numpy else None


def _comparable(state: GeneratorState) -> object:
    python, numpy = state
    return python, numpy and [it.tobytes() if hasattr(it, "tobytes") else it for it in numpy]  # type: ignore[attr-defined]
