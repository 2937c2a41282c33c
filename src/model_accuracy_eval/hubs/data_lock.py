"""The lock file: which files of which commit a split was when it was first read, and what its rows were.

It lies in the cache: one entry for every split, by what was asked for. Beside the cache's files lie short sums of all
rows that were read, to tell where others differ from them.
"""

import fcntl
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import structs

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import HubSplit, Record, RowsPin

LOCK_FILE = "accuracy-data.lock"


class LockedFile(Record, frozen=True, kw_only=True):
    path: str
    """At the hub."""
    sha256: str


class LockedSplit(Record, frozen=True, kw_only=True):
    """The files of one commit that have a split's rows, in order."""

    source: str
    """Such as `hf:openai/gsm8k@<commit>`."""
    config: str
    split: str
    files: tuple[LockedFile, ...]
    accepted: bool = False
    """Taken by an update, whatever it holds."""
    rows: tuple[RowsPin, ...] = ()
    """What they were when they were first read, for each selection of columns that was read."""


class _Entries(Record, frozen=True, kw_only=True):
    splits: dict[str, LockedSplit] = msgspec.field(default_factory=dict)


def key(split: HubSplit) -> str:
    """What was asked for."""
    if split.url:
        return split.url
    name = f"hf:{split.hf}" if split.hf else f"ms:{split.ms}"
    revision = f"@{split.revision}" if split.revision else ""
    return f"{name}{revision}:{split.config}:{split.split}"


class DataLock:
    """Implements `ports.RowPins`.

    Only what this user wrote is believed. `forget`: the entry of each split is made anew when it is first asked for.
    `keep`: whether to believe, and to change, the file; where others share the home of this user, what is noted lasts
    as long as this object.
    """

    def __init__(self, cache: Path, *, forget: bool = False, keep: bool = True) -> None:
        self._path = cache / LOCK_FILE
        self._memory: dict[str, LockedSplit] | None = None if keep else {}
        self._forget = forget
        self._renewed: set[str] = set()
        self.lock = str(self._path)

    def find(self, split: HubSplit) -> LockedSplit | None:
        name = key(split)
        if self._forget and name not in self._renewed:
            return None
        return self._read().splits.get(name)

    def add(self, split: HubSplit, found: LockedSplit) -> LockedSplit:
        """Keeps what was found, unless another run was first; returns what is kept."""
        name = key(split)
        with self._held():
            entries = self._read().splits
            if self._forget and name not in self._renewed:
                entries.pop(name, None)
            self._renewed.add(name)
            kept = entries.setdefault(name, structs.replace(found, accepted=self._forget))
            self._write(entries)
        return kept

    def noted(self, split: HubSplit, fields: Collection[str]) -> RowsPin | None:
        entry = self.find(split)
        pins = entry.rows if entry else ()
        return next((pin for pin in pins if set(pin.columns) >= set(fields)), None)

    def pinned(self, split: HubSplit, found: RowsPin) -> tuple[RowsPin | None, bool]:
        name = key(split)
        with self._held():
            entries = self._read().splits
            entry = entries.get(name)
            if entry is None:
                return None, False
            known = next((pin for pin in entry.rows if pin.columns == found.columns), None)
            if known is None:
                if not entry.accepted:
                    _check_count(split, entry, found)
                entries[name] = structs.replace(entry, rows=(*entry.rows, found))
                self._write(entries)
        return known or found, known is None

    def _read(self) -> _Entries:
        if self._memory is not None:
            return _Entries(splits=self._memory)
        try:
            with self._path.open("rb") as file:
                if os.fstat(file.fileno()).st_uid != os.geteuid():
                    return _Entries()  # another user could have written anything
                return msgspec.json.decode(file.read(), type=_Entries)
        except FileNotFoundError:
            return _Entries()
        except (OSError, msgspec.DecodeError) as error:
            raise BadData(f"{self._path} is no lock file that can be read: {error}. Remove it to pin anew.") from error

    def _write(self, entries: dict[str, LockedSplit]) -> None:
        if self._memory is not None:
            self._memory = entries
            return
        content = msgspec.json.encode(_Entries(splits=dict(sorted(entries.items()))))
        try:
            _replace(self._path, msgspec.json.format(content, indent=1) + b"\n")
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> BadData:
        return BadData(
            f"Which rows a dataset has cannot be noted in {self._path}: {error.strerror or error}. Name another "
            "folder with MODEL_ACCURACY_EVAL_CACHE."
        )

    @contextmanager
    def _held(self) -> Iterator[None]:
        """One process at a time changes it."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path.with_name(f".{self._path.name}.held"), os.O_CREAT | os.O_RDWR, 0o644)
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _check_count(split: HubSplit, entry: LockedSplit, found: RowsPin) -> None:
    if split.count not in (None, found.count):
        raise BadData(
            f"{entry.source} has {found.count:,} rows in its split '{entry.split}', but its publisher says "
            f"{split.count:,}: it has been revised, or is incomplete. To evaluate it as it is now, give the dataset's "
            "name to `model-accuracy-eval tasks prepare --update`."
        )


def _replace(target: Path, content: bytes) -> None:
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(target)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
