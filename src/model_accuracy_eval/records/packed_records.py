"""Many records in little memory: of a run of millions of samples, problems and their results are some gigabytes."""

import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar, overload

import msgspec

from model_accuracy_eval.records.disk_numbers import DiskBytes

T = TypeVar("T", bound=msgspec.Struct)

AS_THEY_ARE = 20_000
"""So many records are not worth packing: they stay what they are."""
_DICTIONARY = 4096
"""Bytes of the first packed records that all others are compressed with, because they resemble each other."""
_LEARNED_FROM = 64
_RECENT = 256
"""So many records are kept as they were read: a request reads its problem some ten times."""


class PackedRecords(Sequence[T], Generic[T]):
    """A list that can grow. Many records are kept as compressed bytes, and made anew when they are read.

    A record that would come back as another one, such as one with a number beyond 64 bits, stays as it is.
    """

    def __init__(self, kind: type[T], records: Iterable[T] = (), *, as_they_are: int | None = None) -> None:
        self._as_they_are = AS_THEY_ARE if as_they_are is None else as_they_are
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(kind).decode
        self._whole: dict[int, T] = {}
        self._waiting: list[bytes] = []
        """Encoded records that the dictionary is made of."""
        self._dictionary = b""
        self._recent: dict[int, T] = {}
        self._packed = DiskBytes()
        self._ends = array("q", [0])
        """Of each record's bytes; those of whole ones are empty."""
        for record in records:
            self.append(record)

    def append(self, record: T) -> None:
        if len(self) < self._as_they_are:
            self._whole[len(self)] = record
            self._ends.append(0)
            return
        if len(self) == self._as_they_are:
            first, self._whole, self._ends = self._whole, {}, array("q", [0])
            for each in first.values():
                self._pack(each)
        self._pack(record)

    def _pack(self, record: T) -> None:
        place, encoded = len(self), self._encoded(record)
        if encoded is None:
            self._whole[place] = record
        elif self._dictionary:
            self._packed.append(self._compressed(encoded))
        else:
            self._whole[place] = record
            self._waiting.append(encoded)
            if len(self._waiting) == _LEARNED_FROM:
                self._dictionary = b"".join(self._waiting)[-_DICTIONARY:]
                self._waiting = []
        self._ends.append(len(self._packed))

    def _encoded(self, record: T) -> bytes | None:
        """None: it would come back as another record."""
        try:
            encoded = self._encode(record)
            back = self._decode(encoded)
            # Equal records may have 1 in place of 1.0, and equal bytes a text in place of a time.
            return encoded if back == record and self._encode(back) == encoded else None
        except (TypeError, ValueError, OverflowError):  # msgspec's own errors are ValueErrors
            return None

    def _compressed(self, encoded: bytes) -> bytes:
        compressor = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS, 8, zlib.Z_DEFAULT_STRATEGY, self._dictionary)
        return compressor.compress(encoded) + compressor.flush()

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        if isinstance(place, slice):
            return self.arranged(range(len(self))[place])
        place = range(len(self))[place]
        record = self._recent.get(place)
        if record is None:
            record = self.unpacked(place)
            if len(self._recent) == _RECENT:
                self._recent.clear()
            self._recent[place] = record
        return record

    def unpacked(self, place: int) -> T:
        """The record at a place from 0, made anew if it is packed."""
        if place in self._whole:
            return self._whole[place]
        packed = self._packed.read(self._ends[place], self._ends[place + 1])
        return self._decode(zlib.decompressobj(-zlib.MAX_WBITS, self._dictionary).decompress(packed))

    def __iter__(self) -> Iterator[T]:
        return map(self.unpacked, range(len(self)))

    def arranged(self, places: Iterable[int]) -> Sequence[T]:
        """Some of the records, or all, in another order. No more are to be added."""
        order = array("q", places)
        if len(self._whole) == len(self):
            return tuple(self._whole[place] for place in order)
        return _Arranged(self, order)


class _Arranged(Sequence[T], Generic[T]):
    def __init__(self, records: PackedRecords[T], order: "array[int]") -> None:
        self._records = records
        self._order = order

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        if isinstance(place, slice):
            return _Arranged(self._records, self._order[place])
        return self._records[self._order[place]]

    def __iter__(self) -> Iterator[T]:
        return map(self._records.unpacked, self._order)


def packed(kind: type[T], records: Iterable[T]) -> Sequence[T]:
    """The records in little memory; few of them as a tuple."""
    found = PackedRecords(kind, records)
    return found if len(found) > AS_THEY_ARE else tuple(found)


class RecordsById(Mapping[int, T], Generic[T]):
    """Records by their numbers, in their order. They are read when they are asked for."""

    def __init__(self, records: Sequence[T], ids: Iterable[int]) -> None:
        self._records = records
        self._ids = array("q", ids)
        rising = all(self._ids[at] == at + self._ids[0] for at in range(len(self._ids)))
        self._first = self._ids[0] if rising and self._ids else None
        self._places = {} if rising else {number: place for place, number in enumerate(self._ids)}

    def place(self, number: int) -> int | None:
        """Where the record with this number stands."""
        if self._first is None:
            return self._places.get(number)
        place = number - self._first
        return place if 0 <= place < len(self._ids) else None

    def __getitem__(self, number: int) -> T:
        place = self.place(number)
        if place is None:
            raise KeyError(number)
        return self._records[place]

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.place(number) is not None

    def __iter__(self) -> Iterator[int]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)
