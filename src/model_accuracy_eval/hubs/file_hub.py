"""Finds data files: in the user's folders, in the package and in the cache, where missing ones are fetched to."""

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from pathlib import Path

from model_accuracy_eval.errors import BadData, BadValue, MissingData, Unfetched
from model_accuracy_eval.hubs import content
from model_accuracy_eval.hubs.data_fetch import DataFetch
from model_accuracy_eval.hubs.data_lock import DataLock, LockedFile
from model_accuracy_eval.hubs.hub_listings import file_name
from model_accuracy_eval.ports import RowPins
from model_accuracy_eval.records import DataBytes, DataFile, DataSource, TableFile
from model_accuracy_eval.system import table_files
from model_accuracy_eval.tasks import split_layout
from model_accuracy_eval.tasks.split_layout import DATA_ENDINGS
from model_accuracy_eval.tasks.spreadsheets import file_of

_PACKAGE = "package:"


class FileHub:
    """Implements `ports.DataHub`.

    `fetch`: how to get what is missing; None: the network is not used. `guard` gets the path of each file before it is
    read, and may refuse it; what comes along is everybody's. `update`: what the lock file says of the sources that are
    asked for is forgotten. `keep_lock`: whether the one in the cache is believed.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        fetch: DataFetch | None = None,
        guard: Callable[[str], None] | None = None,
        update: bool = False,
        keep_lock: bool = True,
    ) -> None:
        self._fetch = fetch
        self._guard = guard
        self._most = content.most_bytes(environment)
        self._cache = cache_folder(environment) / "data"
        self._lock = DataLock(self._cache, forget=update, keep=keep_lock)
        self.pins: RowPins = self._lock

    def parts(self, file: DataFile, data_dir: str | None) -> Iterator[DataBytes]:
        pinned, left = file.source.hash if file.source else "", self._most
        for path, stored in self._stored(file, data_dir):
            if self._guard and not _comes_along(file):
                self._close_cache()
                self._guard(str(path))
            held: bytes | TableFile
            if path.name.endswith(table_files.ENDINGS):
                content.refuse_pointer(path, str(path))
                held = TableFile(path=str(path), most=left)
            else:
                held = content.whole(path, left)
                left -= len(held)
            is_known = _comes_along(file) or bool(pinned and (stored or content.is_one(path, pinned, self._most)))
            sheet = file.name[len(file_of(file.name)) :]
            yield DataBytes(place=f"{path}{sheet}", source=stored.at if stored else "", content=held, is_known=is_known)
            del held  # before the next one is read: some files have a gigabyte

    def lies_in(self, file: DataFile, folder: str) -> bool:
        if _comes_along(file):
            return False
        by_name = any(path.is_file() for path in _names_in(Path(folder), file.name))
        return by_name or bool(file.source and copies_of(file.source, Path(folder)))

    def _stored(self, file: DataFile, data_dir: str | None) -> Iterator[tuple[Path, LockedFile | None]]:
        """The files that together have the rows, each with what is known of it if it is not the user's."""
        own = list(_own_paths(file, data_dir))
        found = next((path for path in own if path.is_file()), None)
        copies = copies_of(file.source, Path(data_dir)) if data_dir and file.source and not found else ()
        if found or copies:
            yield from ((path, None) for path in (found and (found,)) or copies)
        elif file.source is None:
            raise _no_file(file.name)
        else:
            for one in self._locked(file):
                yield self._whole(one, file), one

    def _locked(self, file: DataFile) -> tuple[LockedFile, ...]:
        source = file.source or DataSource()
        if source.hash:
            return (LockedFile(at=source.url, hash=source.hash),)
        found = self._lock.find(source)
        if found is None and self._fetch:
            found = self._lock.add(source, self._fetch.resolve(source, self._cache))
        if found is None:
            raise _missing(file, self._lock.lock)
        return found

    def _whole(self, one: LockedFile, file: DataFile) -> Path:
        """The file in the cache, if it is what it was; else it is fetched."""
        name = file_name(one.at)
        called = name
        if file.source and file.source.url and _has_ending(file.name):
            called = file.name
            name = Path(file.name).name + (".gz" if name.endswith(".gz") and not file.name.endswith(".gz") else "")
        path = content.cached_place(self._cache, one.hash, name)
        found = content.hash_of(path, one.hash) if path.is_file() else ""
        if found == one.hash:
            return path
        if self._fetch:
            try:
                self._fetch(one, path, called)
            except Unfetched as failure:
                if called != file.name:
                    raise
                way_on = f"On a machine without a network, put the file under --data-dir as {called}."
                raise Unfetched(f"{failure.sentence} {way_on}") from failure
            return path
        if found:
            raise BadData(f"{path} was changed: its hash is {found}, but {one.hash} is pinned. Remove it.")
        raise _missing(file, path)

    def _close_cache(self) -> None:
        """Nobody else needs our own cache; the weights beside it stay readable."""
        with contextlib.suppress(OSError):  # then the guard says what to do
            if self._cache.stat().st_uid == os.geteuid():
                self._cache.chmod(0o700)


def _comes_along(file: DataFile) -> bool:
    return file.source is not None and file.source.url.startswith(_PACKAGE)


def _own_paths(file: DataFile, data_dir: str | None) -> Iterator[Path]:
    """Where the file may lie, but for the cache."""
    if file.source and _comes_along(file):
        yield Path(str(resources.files("model_accuracy_eval.tasks") / "data" / file.source.url[len(_PACKAGE) :]))
        return
    if data_dir:
        yield from _names_in(Path(data_dir), file.name)
    # What has a source is not looked for in the working directory: a file of that name may be there by chance.
    if not file.source:
        yield from _names_in(Path(), file.name)


def _names_in(folder: Path, name: str) -> Iterator[Path]:
    """A file with an ending also without the folders of its name, but not in the working directory."""
    name = file_of(name)
    names = [name, *([Path(name).name] if folder != Path() else [])]
    if not _has_ending(name):
        names = [f"{name}{ending}" for ending in DATA_ENDINGS]
    for each, packed in itertools.product(names, ("", ".gz")):
        yield folder / f"{each}{packed}"


def _has_ending(name: str) -> bool:
    return file_of(name).removesuffix(".gz").endswith((*DATA_ENDINGS, ".txt", ".zip", ".xlsx", ".xls", ".ods"))


def _no_file(name: str) -> MissingData:
    if not _has_ending(name):
        return MissingData(
            f"There are no rows for '{name}' on this machine: put them under --data-dir as {name}.jsonl "
            "(or .json, .csv, .parquet, .arrow; each also as .gz)."
        )
    return MissingData(f"There is no data file '{name}': it is looked for here and under --data-dir, also as .gz.")


def _missing(file: DataFile, looked: object) -> MissingData:
    source = file.source or DataSource()
    named = (("hf:", source.hf), ("ms:", source.ms), ("", source.url))
    hubs = " or ".join(f"{hub}{name}" for hub, name in named if name)
    return MissingData(
        f"The rows of '{file.name}' are not on this machine. `run` fetches them from {hubs} unless it is --offline, "
        f"`model-accuracy-eval tasks prepare` beforehand; or put them under --data-dir. Looked at: {looked}."
    )


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The folder of downloads that are kept between runs."""
    home = environment.get("XDG_CACHE_HOME") or str(Path(environment.get("HOME", "/tmp")) / ".cache")  # noqa: S108
    return Path(environment.get("MODEL_ACCURACY_EVAL_CACHE") or f"{home}/model-accuracy-eval")


# Copies of hubs' datasets in a folder of the user, as the hubs' own tools leave them.
#
# <folder>/<owner>/<name>/…                                  a clone or a download to a folder
# <folder>/<name>/…                                          the same without its owner
# <folder>/datasets--<owner>--<name>/snapshots/<commit>/…    the cache of Hugging Face's tools


def copies_of(source: DataSource, folder: Path) -> tuple[Path, ...]:
    """The files of the split in the first copy that has it; none if no copy has it."""
    for root in _roots(source, folder):
        paths = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
        if any(split_layout.has_script(name, paths) for name in (source.hf, source.ms)):
            continue  # the files are what its script reads, not its rows
        card = root / "README.md"
        text = card.read_text(encoding="utf-8", errors="replace") if card.is_file() else ""
        asked = source
        if len(split_layout.from_names(paths)) == 1 and not split_layout.from_card(text, paths):
            asked = DataSource(split=source.split)  # a copy of one configuration alone need not name it
        try:
            found = split_layout.find(text, paths, str(root), asked)
        except split_layout.NoSuchSplit:
            continue
        if found:
            return tuple(root / path for path in found)
    return ()


def _roots(source: DataSource, folder: Path) -> Iterator[Path]:
    for name in filter(None, (source.hf, source.ms)):
        yield from filter(Path.is_dir, (folder / name, folder / name.rpartition("/")[2]))
        for parent in (folder, folder / "hub"):
            snapshots = parent / f"datasets--{name.replace('/', '--')}" / "snapshots"
            commits = sorted(path for path in snapshots.glob("*") if path.is_dir())
            if source.revision and snapshots / source.revision in commits:
                commits = [snapshots / source.revision]
            if len(commits) > 1:
                raise BadValue(
                    f"{snapshots} has {len(commits)} versions of {name}, and nothing says which is meant: give "
                    f"the folder of one as --data-dir, such as {commits[0]}."
                )
            yield from commits
