"""What weights are: where they come from, and the files that one commit of them has."""

import re
from typing import Literal

from model_accuracy_eval.errors import BadValue, Refused
from model_accuracy_eval.records import Record
from model_accuracy_eval.rim.hubs.sizes import show_apart

Source = Literal["hf", "ms", "path"]

_NAME = re.compile(r"(?!\.)[\w.-]+/(?!\.)[\w.-]+", re.ASCII)
_REVISION = re.compile(r"(?![-/])[\w./+-]+(?<!/)", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][\w+.-]*):(?P<rest>.*)", re.DOTALL)
_FORMS = "write hf:org/name, ms:org/name (each may end in @revision) or the path of a folder"


class Reference(Record, frozen=True, kw_only=True):
    """A model as the user names it."""

    source: Source
    name: str
    """`org/name` at a hub, or a path."""
    revision: str | None = None

    def __str__(self) -> str:
        if self.source == "path":
            return self.name
        return f"{self.source}:{self.name}" + (f"@{self.revision}" if self.revision else "")


class WeightFile(Record, frozen=True, kw_only=True):
    path: str
    size: int
    sha256: str | None = None
    git_sha1: str | None = None
    """Hubs know small files by their git blob id only."""


class Weights(Record, frozen=True, kw_only=True):
    """The files of one commit, as the hub or the disk tells them."""

    reference: Reference
    commit: str | None = None
    """None for a path."""
    files: tuple[WeightFile, ...]
    task_types: tuple[str, ...] = ()
    """The hub's words for what the model is made for; empty when it has none."""

    @property
    def total(self) -> int:
        return sum(file.size for file in self.files)


def parse_reference(text: str) -> Reference:
    text = text.strip()
    parts = _SCHEME.fullmatch(text)
    if parts is None:
        if not text or "\0" in text:
            raise BadValue(f"The model is not given: {_FORMS}.")
        return Reference(source="path", name=text)
    scheme, (name, at, revision) = parts["scheme"], parts["rest"].partition("@")
    if scheme not in ("hf", "ms"):
        raise BadValue(f"Model '{text}' is of an unknown kind '{scheme}': {_FORMS}.")
    if not _NAME.fullmatch(name):
        raise BadValue(f"Model '{text}' has no name of the form org/name: {_FORMS}.")
    if at and (not _REVISION.fullmatch(revision) or ".." in revision):
        raise BadValue(f"Model '{text}': '{revision}' is no branch, tag or commit.")
    return Reference(source="hf" if scheme == "hf" else "ms", name=name, revision=revision or None)


def is_commit(text: object) -> bool:
    return isinstance(text, str) and _COMMIT.fullmatch(text) is not None


def checked_files(reference: Reference, files: list[WeightFile]) -> tuple[WeightFile, ...]:
    """Refuses names that would leave their folder: what a hub says becomes paths on this machine."""
    for file in files:
        parts = file.path.split("/")
        if any(part in ("", ".", "..") for part in parts) or re.search(r"[\\\x00-\x1f\x7f]", file.path):
            raise Refused(f"{reference} holds a file called {file.path!r}, which is no safe name; it is not fetched.")
        if file.size < 0:
            raise Refused(f"The hub says that {file.path!r} of {reference} has {file.size} bytes.")
    names = {file.path for file in files}
    if len(names) != len(files):
        raise Refused(f"The hub lists a file of {reference} twice; it is not fetched.")
    inside = {"/".join(name.split("/")[:depth]) for name in names for depth in range(1, name.count("/") + 1)}
    if inside & names:
        raise Refused(f"The hub lists {min(inside & names)!r} of {reference} as a file and as a folder.")
    if not files:
        raise Refused(f"{reference} holds no files.")
    return tuple(sorted(files, key=lambda file: file.path))


def refuse_size(weights: Weights, limit: int, *, where: str = "") -> None:
    """Exactly at the limit passes."""
    if weights.total > limit:
        found, allowed = show_apart(weights.total, limit)
        raise Refused(
            f"The weights are {found}{where}, the limit is {allowed} (max-weight-size): "
            f"{weights.reference}, {len(weights.files)} files."
        )
