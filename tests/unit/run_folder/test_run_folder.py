"""One run folder on disk: what was appended survives a kill, and written files are whole or not there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from model_accuracy_eval.errors import BadReuse, BadValue, PublishFailed
from model_accuracy_eval.run_folder.run_folder import RunFolder

LINES = [b'{"id": 0}\n', b'{"id": 1, "text": "\xe4\xb8\xad"}\n', b"\n", b'{"id": 2}\n']


def test_every_cut_loses_only_the_line_it_cuts(tmp_path: Path) -> None:
    """A file torn at any byte: the lines before it stay, the torn one goes, and the next append merges with nothing."""
    whole = b"".join(LINES)
    for cut in range(len(whole) + 1):
        torn = whole[:cut]
        (tmp_path / "j.jsonl").write_bytes(torn)
        kept = [line for line in torn.splitlines(keepends=True) if line.endswith(b"\n")]
        store = RunFolder(str(tmp_path))
        assert list(store.lines("j.jsonl")) == kept
        store.append("j.jsonl", b"new\n")
        store.append("j.jsonl", b"newer\n")
        assert list(store.lines("j.jsonl")) == [*kept, b"new\n", b"newer\n"]
        assert store.read("j.jsonl") == b"".join([*kept, b"new\n", b"newer\n"])
        store.close()


@pytest.mark.parametrize("length", [65535, 65536, 65537, 200_000])
def test_a_long_torn_line_goes_too(tmp_path: Path, length: int) -> None:
    """Longer than one block of the search for the last line end."""
    for before in (b"", b"kept\n"):
        (tmp_path / "j").write_bytes(before + b"x" * length)
        store = RunFolder(str(tmp_path))
        store.append("j", b"new\n")
        store.close()
        assert (tmp_path / "j").read_bytes() == before + b"new\n"


def test_a_written_file_is_whole_or_the_old_one(tmp_path: Path) -> None:
    """A write that fails half-way leaves the earlier file as it was."""
    store = RunFolder(str(tmp_path))
    store.write("results/a.json", b"old")
    store.write("results/a.json", b"new")
    assert store.read("results/a.json") == b"new"
    store.write("results/a.json", iter([b"ne", b"w"]))
    assert b"".join(store.parts("results/a.json")) == b"new"
    assert store.names() == ["results/a.json"]

    def full() -> Iterator[bytes]:
        yield b"newe"
        raise OSError(28, "No space left on device")

    with pytest.raises(PublishFailed, match=r"results/a\.json cannot be written: No space left on device\."):
        store.write("results/a.json", full())
    assert store.read("results/a.json") == b"new"


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    """The second is refused until the first has closed it."""
    first = RunFolder(str(tmp_path / "run"))
    with pytest.raises(BadReuse, match=r"The run .*/run is under way in another process; wait for it or stop it\."):
        RunFolder(str(tmp_path / "run"))
    RunFolder(str(tmp_path / "other")).close()
    first.close()
    RunFolder(str(tmp_path / "run")).close()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """With its path."""
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(BadValue, match=f"The folder {path} for the run cannot be created: "):
            RunFolder(str(path))


def test_a_journal_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """With its path, too."""
    store = RunFolder(str(tmp_path))
    store.write("predictions", b"a file in the way")
    with pytest.raises(PublishFailed, match=r"predictions/label/a\.jsonl cannot be written: "):
        store.append("predictions/label/a.jsonl", b"x\n")
    store.close()


def test_a_removed_journal_begins_anew(tmp_path: Path) -> None:
    """Even when it was open for appending."""
    store = RunFolder(str(tmp_path))
    store.append("j", b"one\n")
    store.remove("j")
    store.append("j", b"two\n")
    assert list(store.lines("j")) == [b"two\n"]
    store.close()


def test_what_cannot_be_removed_or_made_is_told(tmp_path: Path) -> None:
    """With its name and why."""
    store = RunFolder(str(tmp_path))
    (tmp_path / "manifest").mkdir()
    with pytest.raises(PublishFailed, match=r"manifest cannot be written: "):
        store.remove("manifest")
    (tmp_path / "logs").write_text("")
    with pytest.raises(PublishFailed, match=r"logs/deploy\.log cannot be written: (?:File exists|Not a directory)\."):
        store.path("logs/deploy.log")
    store.close()


def test_names_are_relative_and_sorted(tmp_path: Path) -> None:
    """As a manifest lists them."""
    store = RunFolder(str(tmp_path))
    for name in ("b.json", "a/z.json", "a/b/c.json"):
        store.write(name, b"")
    assert store.names() == ["a/b/c.json", "a/z.json", "b.json"]
    assert store.path("logs/deploy.log") == str(tmp_path / "logs" / "deploy.log")
    assert (tmp_path / "logs").is_dir()
