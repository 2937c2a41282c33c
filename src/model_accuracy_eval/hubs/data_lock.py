"""The lock file: which stored files a source was when it was first read, and what its rows were.

It lies in the cache: an entry for every source, by what was asked for, and one for the rows of every data file.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.hubs.content import is_hash
from model_accuracy_eval.hubs.download import held
from model_accuracy_eval.hubs.hub_listings import address_parts
from model_accuracy_eval.records import DataFile, DataSource, Record, RowsPin

LOCK_FILE = "accuracy-data.lock"


class LockedFile(Record, frozen=True, kw_only=True):
    """One stored file."""

    at: str
    """Its address, such as `hf:openai/gsm8k@<commit>/main/test-00000-of-00001.parquet`."""
    hash: str
    """SHA-256 of its stored bytes; of small files hubs know git's id alone."""


class _LockedSource(Record, frozen=True, kw_only=True):
    files: tuple[LockedFile, ...]
    """In the order of their rows."""
    accepted: bool = False
    """Taken by an update, whatever it holds."""


class _LockedRows(Record, frozen=True, kw_only=True):
    pin: RowsPin
    sums: str = ""


class _Entries(Record, frozen=True, kw_only=True):
    sources: dict[str, _LockedSource] = msgspec.field(default_factory=dict)
    rows: dict[str, _LockedRows] = msgspec.field(default_factory=dict)


def key(source: DataSource) -> str:
    """What was asked for."""
    if source.url:
        return source.url
    name = f"hf:{source.hf}" if source.hf else f"ms:{source.ms}"
    revision = f"@{source.revision}" if source.revision else ""
    return f"{name}{revision}:{source.config}:{source.split}"


def _rows_key(file: DataFile) -> str:
    return key(file.source or DataSource()) + (f" and {len(file.more)} more" if file.more else "")


class DataLock:
    """Implements `ports.RowPins`.

    Only what this user wrote is believed, and no more than it can be: files are those of the source that was asked
    for. `forget`: the entry of each source is made anew when it is first asked for. `keep`: whether to believe, and to
    change, the file; where others share the home of this user, what is noted lasts as long as this object.
    """

    def __init__(self, cache: Path, *, forget: bool = False, keep: bool = True) -> None:
        self._path = cache / LOCK_FILE
        self._memory: _Entries | None = None if keep else _Entries()
        self._forget = forget
        self._renewed: set[str] = set()
        self.lock = str(self._path)

    def find(self, source: DataSource) -> tuple[LockedFile, ...] | None:
        entry = self._source(source)
        return entry.files if entry else None

    def add(self, source: DataSource, files: tuple[LockedFile, ...]) -> tuple[LockedFile, ...]:
        """Keeps what was found, unless another run was first; returns what is kept."""
        with self._changed() as entries:
            if self._forget and key(source) not in self._renewed:
                entries.sources.pop(key(source), None)
                for name in [name for name in entries.rows if name.startswith(key(source))]:
                    del entries.rows[name]
            self._renewed.add(key(source))
            return entries.sources.setdefault(key(source), _LockedSource(files=files, accepted=self._forget)).files

    def accepted(self, file: DataFile) -> bool:
        entry = self._source(file.source) if file.source else None
        return entry is not None and entry.accepted

    def noted(self, file: DataFile) -> RowsPin | None:
        entry = self._read().rows.get(_rows_key(file)) if file.source and self._source(file.source) else None
        return entry.pin if entry else None

    def sums(self, file: DataFile) -> str:
        entry = self._read().rows.get(_rows_key(file))
        return entry.sums if entry else ""

    def note(self, file: DataFile, found: RowsPin, sums: str) -> tuple[RowsPin | None, bool]:
        if file.source is None or self._source(file.source) is None:
            return None, False
        with self._changed() as entries:
            known = entries.rows.get(_rows_key(file))
            kept = entries.rows.setdefault(_rows_key(file), _LockedRows(pin=found, sums=sums))
        return kept.pin, known is None

    def _source(self, source: DataSource) -> _LockedSource | None:
        if self._forget and key(source) not in self._renewed:
            return None
        entry = self._read().sources.get(key(source))
        if entry is None:
            return None
        own = [f"{hub}:{name}@" for hub, name in (("hf", source.hf), ("ms", source.ms)) if name]
        for file in entry.files:
            if file.at != source.url and not (file.at.startswith(tuple(own)) and address_parts(file.at)):
                raise self._wrong(f"'{key(source)}' would be read from another place, {file.at[:200]}")
            if not is_hash(file.hash):
                raise self._wrong(f"'{file.hash[:80]}', which stands there for {key(source)}, is no hash")
        return entry

    def _wrong(self, reason: str) -> BadData:
        return BadData(f"{self._path} is no lock file of this program: {reason}. Remove it to pin anew.")

    def _read(self) -> _Entries:
        if self._memory is not None:
            return self._memory
        try:
            with self._path.open("rb") as file:
                if os.fstat(file.fileno()).st_uid != os.geteuid():
                    return _Entries()  # another user could have written anything
                return msgspec.json.decode(file.read(), type=_Entries)
        except FileNotFoundError:
            return _Entries()
        except (OSError, msgspec.DecodeError) as error:
            raise self._wrong(f"it cannot be read ({error})") from error

    @contextmanager
    def _changed(self) -> Iterator[_Entries]:
        """What is changed inside is written; one process at a time changes it."""
        if self._memory is not None:
            yield self._memory
            return
        try:
            with held(self._path.with_name(f".{self._path.name}.held")):
                entries = self._read()
                yield entries
                unfinished = self._path.with_name(f".{self._path.name}.{os.getpid()}.new")
                try:
                    content = msgspec.json.format(msgspec.json.encode(entries, order="sorted"), indent=1)
                    unfinished.write_bytes(content + b"\n")
                    unfinished.replace(self._path)
                finally:
                    unfinished.unlink(missing_ok=True)
        except OSError as error:
            raise BadData(
                f"Which rows a dataset has cannot be noted in {self._path}: {error.strerror or error}. Name another "
                "folder with MODEL_ACCURACY_EVAL_CACHE."
            ) from error
