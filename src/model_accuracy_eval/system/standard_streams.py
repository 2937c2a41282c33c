"""Standard output and error as a shell leaves them: read to the end, closed, or on a disk that takes no more.

Who closes a pipe, as `head` does, has read enough, and nobody sits at a closed terminal: the command goes on, and ends
with the exit code that it would have ended with. What cannot be written for another reason is an error, once. On
standard error nobody could be told of it.
"""

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO, cast

from model_accuracy_eval.errors import PublishFailed

if TYPE_CHECKING:
    from typing_extensions import Buffer

_OUTPUT, _ERRORS = 1, 2


class NotPrinted(OSError):
    """Standard output takes no more."""

    def as_failure(self) -> PublishFailed:
        return PublishFailed(f"The output cannot be written: {self.strerror or self}.")


class _Standard(io.FileIO):
    """Takes whatever is written after an error, and drops it."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._is_lost = False
        self._is_terminal = self.isatty()

    def write(self, data: "Buffer", /) -> int:
        size = memoryview(data).nbytes
        if self._is_lost or not size:  # with nothing at all, libraries try what a stream takes
            return size
        try:
            return super().write(data)
        except OSError as error:
            self._is_lost = True
            if isinstance(error, BrokenPipeError) or self._is_terminal or self.fileno() == _ERRORS:
                return size
            raise NotPrinted(*error.args) from error


def guard() -> None:
    """Puts such streams in the place of Python's own."""
    # Where one is closed, the next file would get its number, and be taken for it.
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= _ERRORS:
        pass
    os.close(descriptor)
    sys.stdout = _guarded(sys.stdout, _OUTPUT)
    sys.stderr = _guarded(sys.stderr, _ERRORS)


def _guarded(stream: TextIO | None, descriptor: int) -> TextIO:
    raw = _Standard(descriptor)
    if stream is None:
        return io.TextIOWrapper(io.BufferedWriter(raw), "utf-8")
    own = cast("io.TextIOWrapper", stream)
    return io.TextIOWrapper(
        # As Python does it where nothing is buffered.
        cast("io.BufferedWriter", raw) if own.write_through else io.BufferedWriter(raw),
        own.encoding,
        own.errors,
        line_buffering=own.line_buffering,
        write_through=own.write_through,
    )
