"""Sorted numbers of which only some are wanted, such as a median: found without sorting all of them in memory.

The bits of numbers, read as whole numbers, are in their order. So counting by the first bits says in which small part
the wanted one is, and in the end the part is small enough to be sorted.
"""

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy

from model_accuracy_eval.records.disk_numbers import DiskNumbers

IN_MEMORY = 100_000
"""So many numbers are sorted at once."""
_BITS = 16
"""By which they are told apart at a time."""


def ordered(values: DiskNumbers) -> Sequence[float]:
    return sorted(values) if len(values) < IN_MEMORY else _Ordered(values)


class _Ordered(Sequence[float]):
    """What `sorted` would return; each number is looked for when it is asked for."""

    def __init__(self, values: DiskNumbers) -> None:
        self._values = values
        self._counts: dict[tuple[int, int], Any] = {}
        self._sorted: dict[tuple[int, int], Any] = {}

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, place: int) -> float: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[float]: ...
    def __getitem__(self, place: int | slice) -> float | Sequence[float]:
        if isinstance(place, slice):
            return [self[at] for at in range(len(self))[place]]
        left, known, first, count = range(len(self))[place], 0, 0, len(self)
        while known == 0 or (count > IN_MEMORY and known < 64):
            counts = self._counted(known, first)
            totals = numpy.cumsum(counts)
            part = int(numpy.searchsorted(totals, left, side="right"))
            count = int(counts[part])
            left -= int(totals[part]) - count
            known, first = known + _BITS, first << _BITS | part
        if known == 64:  # all that are left are equal
            return float(_numbers(numpy.array([first], dtype="uint64"))[0])
        return float(self._part(known, first)[left])

    def _counted(self, known: int, first: int) -> Any:
        """How many of the numbers that begin with these bits go on with which."""
        if (known, first) not in self._counts:
            counts = numpy.zeros(1 << _BITS, dtype="int64")
            for bits in self._bits():
                those = bits[bits >> numpy.uint64(64 - known) == first] if known else bits
                next_bits = those >> numpy.uint64(64 - known - _BITS) & numpy.uint64((1 << _BITS) - 1)
                counts += numpy.bincount(next_bits.astype("int64"), minlength=1 << _BITS)
            self._counts[known, first] = counts
        return self._counts[known, first]

    def _part(self, known: int, first: int) -> Any:
        """The numbers that begin with these bits, sorted."""
        if (known, first) not in self._sorted:
            shift = numpy.uint64(64 - known)
            parts = [bits[bits >> shift == first] for bits in self._bits()]
            self._sorted[known, first] = _numbers(numpy.sort(numpy.concatenate(parts)))
        return self._sorted[known, first]

    def _bits(self) -> Iterator[Any]:
        """Blocks of the numbers as whole numbers in their order."""
        for block in self._values.blocks():
            bits = numpy.frombuffer(block, dtype="uint64")
            yield bits ^ numpy.where(bits >= _HALF, numpy.uint64(_ALL), numpy.uint64(_HALF))


_HALF, _ALL = 1 << 63, (1 << 64) - 1
"""Numbers below zero have the first bit, and the others rise as they fall."""


def _numbers(bits: Any) -> Any:
    """The numbers again."""
    return (bits ^ numpy.where(bits >= _HALF, numpy.uint64(_HALF), numpy.uint64(_ALL))).view("float64")
