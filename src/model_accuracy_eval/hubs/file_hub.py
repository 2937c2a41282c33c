"""Finds data files: in the user's folders, in the package and in the cache, where missing ones are fetched to."""

import contextlib
import fcntl
import gzip
import itertools
import os
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import structs

from model_accuracy_eval.errors import BadData, BadValue, MissingData
from model_accuracy_eval.hubs import split_layout
from model_accuracy_eval.hubs.split_layout import DATA_ENDINGS
from model_accuracy_eval.hubs.weights_listing import hash_of_bytes, known_hash, new_hash
from model_accuracy_eval.ports import RowPins
from model_accuracy_eval.records import DataBytes, DataFile, HubSplit, Record, RowsPin, TableFile
from model_accuracy_eval.system import table_files
from model_accuracy_eval.system.local_files import parts

LOCK_FILE = "accuracy-data.lock"


class LockedFile(Record, frozen=True, kw_only=True):
    path: str
    """At the hub."""
    sha256: str | None = None
    git_sha1: str | None = None
    """Hubs know the SHA-256 of large files alone."""


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


class Fetch(Protocol):
    """The network."""

    def __call__(self, file: DataFile, target: Path) -> None:
        """Leaves a file of a hub at a path."""

    def resolve(self, split: HubSplit, folder: Path) -> LockedSplit:
        """Returns the files of a split as its hub lists them now."""


class FileHub:
    """Implements `ports.DataHub`.

    `fetch`: how to get what is missing; None: the network is not used. `guard` gets the path of each file before it is
    read, and may refuse it; bundled files are everybody's. `update`: what the lock file says of the splits that are
    asked for is forgotten. `keep_lock`: whether the one in the cache is believed.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        fetch: Fetch | None = None,
        guard: Callable[[str], None] | None = None,
        update: bool = False,
        keep_lock: bool = True,
    ) -> None:
        self._fetch = fetch
        self._guard = guard
        self._cache = cache_folder(environment) / "data"
        self._lock = DataLock(self._cache, forget=update, keep=keep_lock)
        self.pins: RowPins = self._lock

    def shards(self, file: DataFile, data_dir: str | None) -> tuple[DataFile, ...]:
        split = file.split
        if split is None or any(path.is_file() for path in self._paths(file, data_dir)):
            return (file,)
        if data_dir and (copies := files_of(split, Path(data_dir))):
            return copies
        found = self._lock.find(split)
        if found is None and self._fetch:
            found = self._lock.add(split, self._fetch.resolve(split, self._cache))
        if found is None:
            raise _missing(file, data_dir, self._lock.lock)
        return tuple(
            DataFile(
                name=one.path,
                hub=found.source if split.url else f"{found.source}/{one.path}",
                sha256=one.sha256,
                git_sha1=one.git_sha1,
            )
            for one in found.files
        )

    def read(self, file: DataFile, data_dir: str | None) -> DataBytes:
        for path in self._paths(file, data_dir):
            if self._fetch and path == self._cached(file):
                self.prepare(file)
            if path.is_file():
                if self._guard and not file.bundled:
                    self._close_cache()
                    self._guard(str(path))
                data = _verified(path, file)
                return structs.replace(data, source=file.hub) if file.hub and path == self._cached(file) else data
        if file.hub is None and not _has_ending(file.name):
            raise MissingData(
                f"There are no rows for '{file.name}' on this machine: put them under --data-dir as {file.name}.jsonl "
                "(or .json, .csv, .parquet, .arrow; each also as .gz)."
            )
        if file.hub is None:
            raise MissingData(
                f"There is no data file '{file.name}': it is looked for here and under --data-dir, also as .gz."
            )
        paths = ", ".join(str(path) for path in self._paths(file, data_dir))
        raise MissingData(
            f"The rows of '{file.name}' are not on this machine. `run` fetches them unless it is --offline, "
            "`model-accuracy-eval tasks prepare` beforehand; "
            f"or put the file under --data-dir. Looked at: {paths}."
        )

    def _close_cache(self) -> None:
        """Nobody else needs our own cache; the weights beside it stay readable."""
        with contextlib.suppress(OSError):  # then the guard says what to do
            if self._cache.stat().st_uid == os.geteuid():
                self._cache.chmod(0o700)

    def lies_in(self, file: DataFile, folder: str) -> bool:
        own = self._cached(file)
        return any(path != own and path.is_file() for path in self._paths(structs.replace(file, hub=None), folder))

    def prepare(self, file: DataFile) -> str:
        """Fetches the file, or the files of a split, if the cache has no good copy; returns the path."""
        if file.split:
            return ", ".join(self.prepare(one) for one in self.shards(file, None))
        target = self._cached(file)
        if target is None:
            return self.read(file, None).place
        if self._fetch and not is_pinned(target, file):
            self._fetch(file, target)
        return str(target)

    def _paths(self, file: DataFile, data_dir: str | None) -> Iterator[Path]:
        if file.bundled:
            yield Path(str(resources.files("model_accuracy_eval.tasks") / "data" / file.bundled))
            return
        if not _has_ending(file.name):
            folders = [*([data_dir] if data_dir else []), *([] if file.split else ["."])]
            for folder, ending in itertools.product(folders, DATA_ENDINGS):
                yield Path(folder) / f"{file.name}{ending}"
                yield Path(folder) / f"{file.name}{ending}.gz"
            return
        bases = [Path(data_dir) / file.name, Path(data_dir) / Path(file.name).name] if data_dir else []
        # What has a source is not looked for in the working directory: a file of that name may be there by chance.
        own = self._cached(file) or (None if file.split else Path(file.name))
        for base in [*bases, *([own] if own else [])]:
            yield base
            yield base.with_name(base.name + ".gz")

    def _cached(self, file: DataFile) -> Path | None:
        return cached_place(self._cache, known_hash(file) or "unpinned", file.name) if file.hub else None


def cached_place(folder: Path, sha256: str, name: str) -> Path:
    """Where a file with that hash is kept."""
    return folder / sha256[:12] / Path(name).name


def _missing(file: DataFile, data_dir: str | None, lock: str) -> MissingData:
    split = file.split or HubSplit()
    named = (("hf:", split.hf), ("ms:", split.ms), ("", split.url))
    hubs = " or ".join(f"{hub}{name}" for hub, name in named if name)
    looked = f"under {data_dir}" if data_dir else "under --data-dir, which is not given"
    return MissingData(
        f"The rows of '{file.name}' ({hubs}) are not on this machine: they are not {looked}, and {lock} does not name "
        "their files. `run` fetches them unless it is --offline, `model-accuracy-eval tasks prepare` beforehand."
    )


def _has_ending(name: str) -> bool:
    return name.removesuffix(".gz").endswith((*DATA_ENDINGS, ".txt", ".zip", ".xlsx", ".xls", ".ods"))


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The folder of downloads that are kept between runs."""
    home = environment.get("XDG_CACHE_HOME") or str(Path(environment.get("HOME", "/tmp")) / ".cache")  # noqa: S108
    return Path(environment.get("MODEL_ACCURACY_EVAL_CACHE") or f"{home}/model-accuracy-eval")


def _unpacked(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if path.name.endswith(".gz") else data
    except (OSError, EOFError, zlib.error) as error:
        raise BadData(f"{path} cannot be read: {error}.") from error


def _verified(path: Path, file: DataFile) -> DataBytes:
    content: bytes | TableFile
    if path.name.endswith(table_files.ENDINGS):
        content, size = TableFile(path=str(path)), path.stat().st_size
        digest = hash_of(path, file) if known_hash(file) else None
    else:
        content = _unpacked(path)
        digest, size = hash_of_bytes(content, file), len(content)
    pinned = known_hash(file)
    is_known = digest == pinned if pinned else file.rows is None
    has_row_pin = file.rows is not None and file.recipe is None  # then whoever parses the file compares its rows
    if pinned and not is_known and not has_row_pin:
        raise BadData(
            f"{path} is not the file that '{file.name}' stands for: its {hash_name(file)} is {str(digest)[:12]}…, "
            f"but {pinned[:12]}… is pinned ({size} bytes were read)."
        )
    return DataBytes(place=str(path), content=content, is_known=is_known)


def is_pinned(path: Path, file: DataFile) -> bool:
    """Whether the file is here with the pinned bytes."""
    return path.is_file() and hash_of(path, file) == known_hash(file)


def hash_name(file: DataFile) -> str:
    return "SHA-256" if file.sha256 else "git hash"


def hash_of(path: Path, file: DataFile) -> str:
    """Piece by piece: some files have gigabytes."""
    try:
        whole = new_hash(file, path.stat().st_size)
        for piece in parts(path):
            whole.update(piece)
    except OSError as error:
        raise BadData(f"{path} cannot be read: {error}.") from error
    return whole.hexdigest()


# Copies of hubs' datasets in a folder of the user, as the hubs' own tools leave them.
#
# <folder>/<owner>/<name>/…                                  a clone or a download to a folder
# <folder>/<name>/…                                          the same without its owner
# <folder>/datasets--<owner>--<name>/snapshots/<commit>/…    the cache of Hugging Face's tools


def files_of(split: HubSplit, folder: Path) -> tuple[DataFile, ...]:
    """The files of the split in the first copy that has it; none if no copy has it."""
    for root in _roots(split, folder):
        paths = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
        if any(split_layout.has_script(name, paths) for name in (split.hf, split.ms)):
            continue  # the files are what its script reads, not its rows
        card = root / "README.md"
        text = card.read_text(encoding="utf-8", errors="replace") if card.is_file() else ""
        asked = split
        if len(split_layout.from_names(paths)) == 1 and not split_layout.from_card(text, paths):
            asked = HubSplit(split=split.split)  # a copy of one configuration alone need not name it
        try:
            found = split_layout.find(text, paths, str(root), asked)
        except split_layout.NoSuchSplit:
            continue
        if found:
            return tuple(DataFile(name=str(root / path)) for path in found.files)
    return ()


def _roots(split: HubSplit, folder: Path) -> Iterator[Path]:
    for name in filter(None, (split.hf, split.ms)):
        yield from filter(Path.is_dir, (folder / name, folder / name.rpartition("/")[2]))
        for parent in (folder, folder / "hub"):
            snapshots = parent / f"datasets--{name.replace('/', '--')}" / "snapshots"
            commits = sorted(path for path in snapshots.glob("*") if path.is_dir())
            if split.revision and snapshots / split.revision in commits:
                commits = [snapshots / split.revision]
            if len(commits) > 1:
                raise BadValue(
                    f"{snapshots} has {len(commits)} versions of {name}, and nothing says which is meant: give "
                    f"the folder of one as --data-dir, such as {commits[0]}."
                )
            yield from commits


# The lock file: which files of which commit a split was when it was first read, and what its rows were.
#
# It lies in the cache: one entry for every split, by what was asked for. Beside the cache's files lie short sums of all
# rows that were read, to tell where others differ from them.


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
