"""A reference to a model or dataset, and the list of its files: of a folder here, of a hub in the hubs' modules."""

import hashlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from model_accuracy_eval.errors import BadValue, Refused
from model_accuracy_eval.hubs.content import is_hash
from model_accuracy_eval.records import Record
from model_accuracy_eval.system.sizes import show_apart

_Origin = Literal["hf", "ms", "github", "url", "path"]

_NAME = re.compile(r"(?!\.)[\w.-]+/(?!\.)[\w.-]+", re.ASCII)
_REVISION = re.compile(r"(?![-/])[\w./+-]+(?<!/)", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][\w+.-]*):(?P<rest>.*)", re.DOTALL)
_FORMS = "write hf:org/name, ms:org/name (each may end in @revision) or the path of a folder"


class ModelReference(Record, frozen=True, kw_only=True):
    """The name of a model or dataset as the user writes it."""

    source: _Origin
    name: str
    """`org/name` at a hub, or a path."""
    revision: str | None = None
    kind: Literal["model", "dataset"] = "model"

    def __str__(self) -> str:
        if self.source in ("path", "url"):
            return self.name
        return f"{self.source}:{self.name}" + (f"@{self.revision}" if self.revision else "")


class WeightFile(Record, frozen=True, kw_only=True):
    path: str
    size: int
    hash: str
    """Its SHA-256, or git's id of it: hubs give only that of small files."""


def free_bytes(folder: Path) -> int:
    """Free space on the disk where the folder is or will be."""
    existing = folder.absolute()
    while not existing.exists():
        existing = existing.parent
    return shutil.disk_usage(existing).free


class WeightsListing(Record, frozen=True, kw_only=True):
    """The files of one commit, as the hub lists them, or of a folder."""

    reference: ModelReference
    commit: str | None = None
    """None for a path."""
    files: tuple[WeightFile, ...]
    task_types: tuple[str, ...] = ()
    """The hub's names of the tasks that the model is made for; empty when it has none."""

    @property
    def total(self) -> int:
        return sum(file.size for file in self.files)


def parse_reference(text: str) -> ModelReference:
    text = text.strip()
    parts = _SCHEME.fullmatch(text)
    if parts is None:
        if not text or "\0" in text:
            raise BadValue(f"The model is not given: {_FORMS}.")
        return ModelReference(source="path", name=text)
    scheme, (name, at, revision) = parts["scheme"], parts["rest"].partition("@")
    if scheme not in ("hf", "ms"):
        raise BadValue(f"Model '{text}' is of an unknown kind '{scheme}': {_FORMS}.")
    if not _NAME.fullmatch(name):
        raise BadValue(f"Model '{text}' has no name of the form org/name: {_FORMS}.")
    if at and (not _REVISION.fullmatch(revision) or ".." in revision):
        raise BadValue(f"Model '{text}': '{revision}' is not a branch, tag or commit.")
    return ModelReference(source="hf" if scheme == "hf" else "ms", name=name, revision=revision or None)


def is_commit(text: object) -> bool:
    return isinstance(text, str) and _COMMIT.fullmatch(text) is not None


def is_name(text: str) -> bool:
    """Whether it is the name of a model or dataset, `org/name`."""
    return _NAME.fullmatch(text) is not None


def checked_files(reference: ModelReference, files: list[WeightFile]) -> tuple[WeightFile, ...]:
    """Refuses names that would lead out of their folder: they become paths on this machine."""
    for file in files:
        parts = file.path.split("/")
        if any(part in ("", ".", "..") for part in parts) or re.search(r"[\\\x00-\x1f\x7f]", file.path):
            raise Refused(
                f"{reference} holds a file called {file.path!r}, which is not a safe name; it is not fetched."
            )
        if file.size < 0 or not is_hash(file.hash):
            raise Refused(
                f"The hub says that {file.path!r} of {reference} has {file.size} bytes and the hash {file.hash[:80]!r}."
            )
    if not files:
        raise Refused(f"{reference} holds no files.")
    return tuple(sorted(files, key=lambda file: file.path))


def refuse_size(weights: WeightsListing, limit: int) -> None:
    """Exactly at the limit passes."""
    if weights.total > limit:
        size, allowed = show_apart(weights.total, limit)
        raise Refused(
            f"The weights are {size}, the limit is {allowed} (max-weight-size): "
            f"{weights.reference}, {len(weights.files)} files."
        )


def list_path(reference: ModelReference) -> WeightsListing:
    """Weights on this machine. Every byte is counted once, whatever links lead to it."""
    root = Path(reference.name).expanduser()
    try:
        if not root.exists():
            raise Refused(
                f"The weights '{reference.name}' are not there; for weights of a hub write hf:org/name or ms:org/name."
            )
        paths = [root] if root.is_file() else list(_walk(root, set()))
        sizes = {
            path.name if path == root else path.relative_to(root).as_posix(): path.stat().st_size for path in paths
        }
    except OSError as error:
        raise Refused(f"The weights at {reference.name} cannot be read: {error}.") from error
    if not sizes:
        raise Refused(f"There are no files in {reference.name}.")
    files = (WeightFile(path=name, size=size, hash="") for name, size in sorted(sizes.items()))
    return WeightsListing(reference=reference, files=tuple(files))


_BLOCK, _BLOCKS = 1 << 16, 16


def folder_digest(weights: WeightsListing) -> str:
    """Tells weights of this machine from others: their names, their sizes, and blocks from all over each file.

    To read 100 GB as a whole would take as long as to load them. Training, merging and quantizing change every block.
    """
    root, digest = Path(weights.reference.name).expanduser(), hashlib.sha256()
    try:
        for file in weights.files:
            digest.update(f"{file.path}\0{file.size}\0".encode(errors="surrogateescape"))
            with (root if root.is_file() else root / file.path).open("rb") as content:
                for place in range(0, file.size, max(_BLOCK, file.size // _BLOCKS)):
                    content.seek(place)
                    digest.update(content.read(_BLOCK))
    except OSError as error:
        raise Refused(f"The weights at {root} cannot be read: {error}.") from error
    return f"sha256:{digest.hexdigest()[:32]}"


def _walk(folder: Path, visited: set[tuple[int, int]]) -> Iterator[Path]:
    """Follows links into blob caches. Nothing is visited twice, so circles end."""
    for path in sorted(folder.iterdir()):
        if path.name == ".git" and path.is_dir():
            continue  # a clone keeps a second copy of every large file there
        if path.is_symlink() and not path.exists():
            raise Refused(f"{path} is a link to {path.readlink()}, which does not exist; the weights are incomplete.")
        status = path.stat()
        if (status.st_dev, status.st_ino) in visited:
            continue
        visited.add((status.st_dev, status.st_ino))
        if path.is_dir():
            yield from _walk(path, visited)
        elif path.is_file():
            yield path
