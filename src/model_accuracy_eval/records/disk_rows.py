"""Rows of a large data file: all but the first are encoded, and beyond some blocks in a file without a name."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, overload

import msgspec

from model_accuracy_eval.records.disk_numbers import DiskBytes

AS_THEY_ARE = 10_000
"""So many rows stay what they are."""

_Row = dict[str, Any]
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode


class DiskRows(Sequence[_Row]):
    """Rows that nobody changes, for each time that one is read it is made anew.

    One that would come back as another, such as one with a number beyond 64 bits or a picture, stays as it is.
    """

    def __init__(self, rows: Iterable[_Row]) -> None:
        self._whole: dict[int, _Row] = {}
        self._bytes = DiskBytes()
        self._ends = array("q", [0])
        for place, row in enumerate(rows):
            encoded = _encoded(row)
            if encoded is None:
                self._whole[place] = row
            else:
                self._bytes.append(encoded)
            self._ends.append(len(self._bytes))

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, place: int) -> _Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[_Row]: ...
    def __getitem__(self, place: int | slice) -> _Row | Sequence[_Row]:
        if isinstance(place, slice):
            return [self[at] for at in range(len(self))[place]]
        place = range(len(self))[place]
        if place in self._whole:
            return self._whole[place]
        row: _Row = _decode(self._bytes.read(self._ends[place], self._ends[place + 1]))
        return row

    def __iter__(self) -> Iterator[_Row]:
        return (self[place] for place in range(len(self)))


def _encoded(row: _Row) -> bytes | None:
    """None: it would come back as another row."""
    try:
        encoded = _encode(row)
        back = _decode(encoded)
        # Equal rows may have 1 in place of 1.0, and equal bytes a list in place of a tuple.
        return encoded if back == row and _encode(back) == encoded else None
    except (TypeError, ValueError, OverflowError):  # msgspec's own errors are ValueErrors
        return None


def rows_in_little_memory(rows: Iterable[_Row]) -> Sequence[_Row]:
    """A list of few."""
    rest = iter(rows)
    first = list(islice(rest, AS_THEY_ARE))
    following = next(rest, None)
    if following is None:
        return first
    return DiskRows(chain(first, [following], rest))
