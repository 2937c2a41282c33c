"""The bytes of single pictures, sounds and videos, read from disk when they are asked for."""

import hashlib
import os
import shutil
import tempfile
import weakref
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Media, MediaPlace
from model_accuracy_eval.table_files.decoder import batches

_STARTS = 4
"""How often a table is started anew before a column of it is copied."""
_ROOM = 2
"""Times the size of the table file that has to be free on the disk."""


class MediaFiles:
    """Keeps its place in each table file: most questions come in the order of the rows, so that these are read once."""

    def __init__(self) -> None:
        self._tables: dict[str, _Table] = {}

    def read(self, media: Media) -> bytes:
        """The bytes, which are those that the question was prepared with."""
        place = media.place
        if place is None:
            raise BadData(f"There are no bytes of {media.shown}, only an address.")
        try:
            content = Path(place.file).read_bytes() if place.row is None else self._cell(place, place.row)
        except OSError as error:
            raise BadData(f"{place.file} cannot be read: {error.strerror or error}.") from error
        if hashlib.sha256(content).hexdigest() != media.sha256:
            raise BadData(f"{place.file} is another file than when the run began: {media.shown} is not in it any more.")
        return content

    def _cell(self, place: MediaPlace, row: int) -> bytes:
        value = self._tables.setdefault(place.file, _Table(place.file)).value(row, str(place.path[0]))
        for step in place.path[1:]:
            value = value[step]
        return bytes(value)


class _Table:
    """A table file, read forwards; an earlier row than those at hand starts it anew.

    Where rows are asked for in another order, the column is copied once to a file of its own, in which each row's place
    is known: starting anew for every other picture takes minutes of some sets.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._batches: Iterator[Any] = iter(())
        self._batch: Any = None
        self._first = 0
        """Position of the batch's first row."""
        self._starts = 0
        self._copies: dict[str, ColumnCopy | None] = {}

    def value(self, row: int, column: str) -> Any:
        copy = self._copies.get(column)
        if copy is not None:
            return copy.value(row)
        if self._batch is None or row < self._first:
            self._starts += 1
            if self._starts > _STARTS and column not in self._copies:
                self._copies[column] = column_copy(self._path, column)
                self._batch = None
                return self.value(row, column)
            self._batches = batches(self._path)
            self._first, self._batch = 0, self._next()
        while row >= self._first + self._batch.num_rows:
            self._first += self._batch.num_rows
            self._batch = self._next()
        return self._batch.column(column)[row - self._first].as_py()

    def _next(self) -> Any:
        try:
            return next(self._batches)
        except StopIteration:
            raise _fewer_rows(self._path) from None


def _fewer_rows(path: str) -> BadData:
    return BadData(f"{path} has fewer rows than when the run began.")


class ColumnCopy:
    """One column of a table file, row after row, in a file without a name that goes with this process."""

    def __init__(self, path: str, column: str, file: IO[bytes]) -> None:
        """Reads the table once; an error of the disk ends it."""
        self._path = path
        self._file = file
        weakref.finalize(self, file.close)
        self._ends = array("Q", [0])
        """Where each row begins, and where the last one ends."""
        for batch in batches(path):
            for value in batch.column(column):
                self._ends.append(self._ends[-1] + file.write(msgspec.msgpack.encode(value.as_py())))
        file.flush()

    def value(self, row: int) -> Any:
        if row + 1 >= len(self._ends):
            raise _fewer_rows(self._path)
        start, end = self._ends[row], self._ends[row + 1]
        return msgspec.msgpack.decode(os.pread(self._file.fileno(), end - start, start))


def column_copy(path: str, column: str) -> ColumnCopy | None:
    """None where the disk has no room for it."""
    try:
        return ColumnCopy(path, column, tempfile.TemporaryFile(prefix="column-")) if _has_room(path) else None
    except OSError:
        return None


def _has_room(path: str) -> bool:
    return shutil.disk_usage(tempfile.gettempdir()).free >= _ROOM * Path(path).stat().st_size
