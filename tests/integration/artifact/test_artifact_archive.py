"""What goes into the archive, from folders that are awkward or do not keep still."""

import os
import threading
from pathlib import Path

import pytest
from tests.integration.artifact.tools import Client, unzipped
from tests.servers.artifact_service import ArtifactServer

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github import folder_zip


def archived(folder: Path) -> tuple[dict[str, bytes | None], list[str]]:
    notes: list[str] = []
    files = folder_zip.members(str(folder), notes)
    return unzipped(b"".join(folder_zip.zipped(files, notes))), notes


def test_file_that_grows(tmp_path: Path) -> None:
    """A log that is written to all the time is taken as long as it was, and the archive is sound."""
    log = tmp_path / "deploy.log"
    log.write_bytes(b"line\n" * 200_000)
    stop = threading.Event()

    def chatter() -> None:
        with log.open("ab") as file:
            while not stop.is_set():
                file.write(b"line\n" * 50_000)

    writer = threading.Thread(target=chatter)
    writer.start()
    try:
        files, notes = archived(tmp_path)
    finally:
        stop.set()
        writer.join()
    kept = files["deploy.log"]
    assert kept is not None
    assert len(kept) >= 1_000_000
    assert notes == []


def test_file_that_vanishes(tmp_path: Path) -> None:
    """A file that is gone by the time its turn comes is named; everything else arrives."""
    for name in ("a", "b", "c/d"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    notes: list[str] = []
    files = folder_zip.members(str(tmp_path), notes)
    (tmp_path / "b").unlink()
    assert unzipped(b"".join(folder_zip.zipped(files, notes))) == {"a": b"a", "c/d": b"c/d"}
    assert notes == ["'b' is not in the artifact, or not all of it: No such file or directory."]


def test_links_and_pipes(tmp_path: Path) -> None:
    """They are left out and named: one could lead to other files of the machine, the other is waited for."""
    (tmp_path / "secret").write_text("MARKER of the machine")
    folder = tmp_path / "report"
    (folder / "real").mkdir(parents=True)
    (folder / "real" / "file").write_text("content")
    (folder / "out").symlink_to("../secret")
    (folder / "parent").symlink_to("..")
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "pipe")
    files, notes = archived(folder)
    assert files == {"real/file": b"content"}
    names = ("loop", "out", "parent", "pipe")
    assert notes == [f"'{name}' is not in the artifact: it is a link or no file." for name in names]


def test_strange_names(tmp_path: Path) -> None:
    """Names that some system cannot have are changed, never made equal, and told."""
    for name in ("12:30.log", "12_30.log", "a\\..\\b", "line\nbreak", "fine name"):
        (tmp_path / name).write_text(name)
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))).write_text("no UTF-8")
    files, notes = archived(tmp_path)
    assert sorted(files) == ["12_30.log", "12_30.log_2", "_", "a_.._b", "fine name", "line_break"]
    assert files["12_30.log"] == b"12:30.log"
    assert len(notes) == 5
    assert "'12:30.log' is called '12_30.log' in the artifact: not every system allows such names." in notes
    assert all("\n" not in note for note in notes)


@pytest.mark.parametrize("folder", ["missing", "empty", "file"])
def test_nothing_to_upload(client: Client, tmp_path: Path, folder: str) -> None:
    """A folder without a file is refused before the service is asked for anything."""
    (tmp_path / "empty" / "deeper").mkdir(parents=True)
    (tmp_path / "file").write_text("x")
    with ArtifactServer() as server, pytest.raises(PublishFailed, match="has no file that could be uploaded"):
        client.of(server).upload("report", str(tmp_path / folder))
    assert server.calls == []


def test_old_and_late_times(tmp_path: Path) -> None:
    """Files from before 1980 and after 2107 are no trouble."""
    for name, when in (("old", -1e9), ("older", 1.0), ("late", 5e9)):
        (tmp_path / name).write_text(name)
        os.utime(tmp_path / name, (when, when))
    assert len(archived(tmp_path)[0]) == 3
