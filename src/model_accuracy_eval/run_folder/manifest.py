"""The list of a run folder's files with their hashes, as `sha256sum --check` reads it, and what differs from it."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from model_accuracy_eval.errors import Altered, BadReuse
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import Record

MANIFEST = "manifest.sha256"


class Differences(Record, frozen=True, kw_only=True):
    """Names of files that are not as the manifest says."""

    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing or self.added)

    def sentences(self) -> Iterator[str]:
        for what, names in (("changed", self.changed), ("missing", self.missing), ("added", self.added)):
            yield from (f"{what}: {name}" for name in names)


ReadParts = Callable[[str], Iterable[bytes]]
"""A file's name → its bytes in parts: a journal need not fit into memory."""


def as_text(names: Iterable[str], read: ReadParts, stated: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """The manifest of these files. `stated`: what it said before; where nothing was written since, that stays, so that
    whatever else has changed still differs from it."""
    hashes = {**stated, **{name: digest_of(read(name)) for name in names if name != MANIFEST}}
    return "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(hashes.items())).encode()


def parse(manifest: bytes) -> dict[str, str]:
    """File name → SHA-256 in hex."""
    lines = (line.partition("  ") for line in manifest.decode(errors="replace").splitlines())
    return {name: sha256 for sha256, _, name in lines}


def differences(stated: Mapping[str, str], names: Iterable[str], read: ReadParts) -> Differences:
    """Compares the files that are there with those of the manifest."""
    present = set(names) - {MANIFEST}
    common = sorted(present & stated.keys())
    return Differences(
        changed=tuple(name for name in common if digest_of(read(name)) != stated[name]),
        missing=tuple(sorted(stated.keys() - present)),
        added=tuple(sorted(present - stated.keys())),
    )


def verify(archive: Archive) -> str:
    """The manifest's own hash, if every file of the run is as it says; raises with the differences otherwise."""
    stated = archive.read(MANIFEST)
    if stated is None:
        raise BadReuse(
            f"'{archive.root}' has no {MANIFEST}, so the run did not come to its end; there is nothing to check."
        )
    found = differences(parse(stated), archive.names(), archive.parts)
    if found:
        sentences = list(found.sentences())
        raise Altered(
            f"'{archive.root}' is not what the run left: {len(sentences)} of its files differ from {MANIFEST}.",
            detail="\n".join(sentences),
        )
    return digest_of([stated])


def digest_of(parts: Iterable[bytes]) -> str:
    """Of a file that need not be in memory."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.hexdigest()
