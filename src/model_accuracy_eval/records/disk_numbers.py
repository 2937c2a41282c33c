"""Lists that a large run would fill the memory with: what does not fit a block goes to a temporary file without a name.

Where there is no room for such a file, they stay in memory: a run does not fail for the sake of it.
"""

import os
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

BLOCK = 8_192
"""Numbers, or eighths of bytes, that stay in memory."""


Numbers: TypeAlias = "array[int] | array[float]"


class DiskBytes:
    """Bytes that are added at the end, and read at any place."""

    def __init__(self) -> None:
        self._file = -1
        self._full = False
        self._written = 0
        self._last = bytearray()

    def __len__(self) -> int:
        return self._written + len(self._last)

    def append(self, data: "bytes | Numbers") -> None:
        self._last += data
        if len(self._last) >= 8 * BLOCK and not self._full:
            self._write()

    def read(self, start: int, end: int) -> bytes:
        if start >= self._written:
            return bytes(self._last[start - self._written : end - self._written])
        stored = os.pread(self._file, min(end, self._written) - start, start)
        return stored + bytes(self._last[: max(0, end - self._written)])

    def _write(self) -> None:
        try:
            if self._file < 0:
                with tempfile.TemporaryFile() as file:
                    self._file = os.dup(file.fileno())
                weakref.finalize(self, os.close, self._file)
            while self._last:
                count = os.pwrite(self._file, self._last, self._written)
                self._written += count
                del self._last[:count]
        except OSError:  # there is no room for it: the rest stays in memory
            self._full = True


class DiskNumbers:
    """Numbers that are added at the end, and read from the first to the last; `kind` as in `array`."""

    def __init__(self, kind: Literal["d", "q"] = "d") -> None:
        self._kind = kind
        self._stored = DiskBytes()
        self._last: Numbers = array(kind)

    def __len__(self) -> int:
        return len(self._stored) // 8 + len(self._last)

    def append(self, number: float) -> None:
        if len(self._last) == BLOCK:
            self._stored.append(self._last)
            self._last = array(self._kind)
        self._last.append(number)  # type: ignore[arg-type]

    def extend(self, numbers: Iterable[float]) -> None:
        for number in numbers:
            self.append(number)

    def put_last(self, number: float) -> None:
        """In place of the last one."""
        self._last[-1] = number  # type: ignore[call-overload]

    def blocks(self) -> Iterator[Numbers]:
        """All of them, some thousands at a time."""
        for start in range(0, len(self._stored), 8 * BLOCK):
            block: Numbers = array(self._kind)
            block.frombytes(self._stored.read(start, min(start + 8 * BLOCK, len(self._stored))))
            yield block
        yield self._last

    def __iter__(self) -> Iterator[float]:
        for block in self.blocks():
            yield from block
