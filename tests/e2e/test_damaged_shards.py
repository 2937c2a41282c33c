"""Shards that were packed twice, or whose questions have changed since: what each says."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from tests.e2e import command
from tests.e2e.test_shards import answer, zipped
from tests.servers.fault_server import FaultServer

ROWS = "".join(json.dumps({"question": f"How long is {'x' * n}?", "answer": str(n)}) + "\n" for n in range(12))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the questions, and the shards 0, 1 and 2 of a run about them."""
    folder = tmp_path_factory.mktemp("shards")
    (folder / "lengths.jsonl").write_text(ROWS)
    with FaultServer(answer) as server:
        words = ["run", "--endpoint", server.url, "--datasets", folder / "lengths.jsonl", "-n", 2]
        for index in range(3):
            done = command.run(*words, "--shard", f"{index}/3", "--out", folder / f"out{index}")
            assert done.code == 0, done.err
            shutil.copytree(command.only_run(folder / f"out{index}"), folder / str(index))
    return folder


@pytest.fixture
def shards(made: Path, tmp_path: Path) -> list[Path]:
    """Copies that a test may damage."""
    return [Path(shutil.copytree(made / str(index), tmp_path / f"shard-{index}")) for index in range(3)]


def test_a_shard_that_was_packed_twice_is_refused(shards: list[Path], tmp_path: Path) -> None:
    """An artifact of an artifact; nothing is left behind."""
    outer = tmp_path / "outer.zip"
    with zipfile.ZipFile(outer, "w") as archive:
        archive.write(zipped(shards[1]), "inner.zip")
    done = command.run("merge", outer, shards[0], shards[2], "--allow-missing", "--out", tmp_path / "merged")
    assert done.code == 2, done.err
    assert "holds no run, but another zip (inner.zip): unpack it" in done.err
    assert not any((tmp_path / "merged").glob("*"))


def test_questions_that_have_changed_are_not_judged(made: Path, shards: list[Path], tmp_path: Path) -> None:
    """Nor are those that are gone; --data-dir says where they are still."""
    (tmp_path / "data").mkdir()
    rows = Path(made / "lengths.jsonl")
    words = ["merge", *shards, "--out", tmp_path / "merged"]
    try:
        rows.write_text(ROWS.replace("How long is xx?", "How short is xx?"))
        changed = command.run(*words)
        rows.unlink()
        lost = command.run(*words)
    finally:
        rows.write_text(ROWS)
    for done, sentence in ((changed, "Its data or its prompt has changed"), (lost, "There is no data file")):
        assert (done.code, sentence in done.err) == (2, True), done.err
        assert "--data-dir" in done.err
    assert not [path for path in (tmp_path / "merged").glob("*") if path.exists()]


def test_right_answers_that_have_changed_are_told(made: Path, shards: list[Path], tmp_path: Path) -> None:
    """Somebody mended the file since: the figure is that of the mended one, and the report says so."""
    rows = Path(made / "lengths.jsonl")
    mended = ROWS.replace('"answer": "3"', '"answer": "4"').replace('"answer": "7"', '"answer": "8"')
    try:
        rows.write_text(mended)
        done = command.run("merge", *shards, "--out", tmp_path / "merged")
    finally:
        rows.write_text(ROWS)
    assert done.code == 0, done.err
    note = (
        "The right answer of 2 problems is not the one of the day of asking; the replies are judged by the present one."
    )
    assert note in " ".join(done.out.split())
    unchanged = command.run("merge", *shards, "--out", tmp_path / "again")
    assert "day of asking" not in unchanged.out
