"""What a verdict is about, in one small record: everything that is published is known by it."""

import hashlib
from collections.abc import Mapping

from model_accuracy_eval.records.base import Record


class Identity(Record, frozen=True, kw_only=True):
    """Empty fields are unknown, or there is no such thing: a service that runs already has no image."""

    repository: str = ""
    """Of the adapter, as owner/name."""
    commit: str = ""
    path: str = "."
    """Of the adapter's folder in it."""
    image: str = ""
    """That deploy.sh runs in: its name and digest when it is resolved, until then as it was asked for."""
    weights: str = ""
    """Their reference and commit, or a hash of files of this machine; until they are measured, as asked for."""
    label: str = ""

    @property
    def line(self) -> str:
        """All of it in one line; empty if nothing but the label is known."""
        place = f"{self.repository}@{self.commit}" if self.repository else ""
        if self.path not in {"", "."}:
            place = f"{place}:{self.path}" if place else self.path
        parts = (place, f"image {self.image}" * bool(self.image), f"weights {self.weights}" * bool(self.weights))
        return " · ".join(filter(None, (*parts, self.label))) if any(parts) else ""

    @property
    def series(self) -> tuple[str, str, str]:
        """What stays the same when a commit, an image or weights become newer: those a verdict is held against."""
        return self.repository.lower(), self.path, self.label

    @property
    def key(self) -> str:
        """A short hash of all of it."""
        return _hash(self.repository.lower(), self.commit, self.path, self.image, self.weights, self.label)

    @property
    def subject(self) -> str:
        """A short hash of what two checks of one commit may not differ in if they have one name."""
        return _hash(*self.series, self.weights)

    def name(self, home: str = "") -> str:
        """What tells it from others of the repository `home`, for people to choose by: the names of checks have it."""
        elsewhere = "" if self.repository.lower() == home.lower() else self.repository
        return ", ".join(filter(None, (self.label, elsewhere, "" if self.path == "." else self.path)))


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:16]


def changes(old: Identity, new: Identity) -> list[str]:
    """A sentence for the image and for the weights, if both runs know theirs and these differ."""
    pairs = (("image has", old.image, new.image), ("weights have", old.weights, new.weights))
    return [f"The {name} changed: {was} then, {now} now." for name, was, now in pairs if was and now and was != now]


# The stack on which answers are made: engine, packages, driver, chips, each by its name.


UNKNOWN_PART = "unknown"
"""What is told of the engine and the chips if nobody says which."""
_NAMELESS = {"engine", "chips", "dtype"}
_LONG = {"serves with", "chat template"}


def stack_line(stack: Mapping[str, str]) -> str:
    """The stack without what is long; empty where nothing is known."""
    known = {name: value for name, value in stack.items() if value != UNKNOWN_PART and name not in _LONG}
    return ", ".join(value if name in _NAMELESS else f"{name} {value}" for name, value in known.items())


def stack_changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """A sentence on each part that both runs know, if it is not the same."""
    return [
        f"The stack changed: {name} was {old[name]} then, {new[name]} now."
        for name in old
        if UNKNOWN_PART not in {old[name], new.get(name, UNKNOWN_PART)} and old[name] != new[name]
    ]
