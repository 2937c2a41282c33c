"""What a job has left, in folders that are the machine's."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from model_accuracy_eval.sandbox.inside.cleanup import Leftovers
from model_accuracy_eval.sandbox.inside.messages import ServerSettings


def test_files_of_others_that_vanish_meanwhile_are_no_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the program has left is removed all the same, before the next one runs."""
    place = tmp_path / "place"
    place.mkdir()
    leftovers = Leftovers(ServerSettings(str(tmp_path), [str(place)], "user", None, None, None))
    listed = os.scandir

    @contextmanager
    def busy(path: str) -> Iterator[Iterator["os.DirEntry[str]"]]:
        """A folder in which somebody else's file goes between the list and the look at it."""
        others = Path(path, "of others")
        others.touch()
        with listed(path) as entries:
            found = [*entries]
        others.unlink()
        yield iter(found)

    monkeypatch.setattr(os, "scandir", busy)
    (place / "left").touch()
    assert leftovers.remove()
    monkeypatch.undo()
    assert not [*place.iterdir()]
