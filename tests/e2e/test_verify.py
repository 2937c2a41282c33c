"""`verify`, and a run whose journal somebody rewrites while it goes on."""

import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with FaultServer(lambda request: ["#### 78"] * request.get("n", 1)) as server:
        done = command.run("run", "--endpoint", server.url, "--datasets", "demo_gsm8k", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    return command.only_run(tmp_path / "out")


def test_a_run_that_nobody_touched(run: Path, tmp_path: Path) -> None:
    """As a folder and as a zip; the number of the manifest is the one that sha256sum gives."""
    done = command.run("verify", run)
    assert done.code == 0, done.err
    assert "It ended as 'complete'" in done.out
    assert hashlib.sha256((run / "manifest.sha256").read_bytes()).hexdigest() in done.out
    packed = tmp_path / "run.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in run.rglob("*"):
            archive.write(path, path.relative_to(run.parent))
    assert command.run("verify", packed).code == 0


def test_every_touched_file_is_listed(run: Path) -> None:
    """Changed, missing and added ones; exit code 1."""
    (prediction,) = run.glob("predictions/*/*.jsonl")
    prediction.write_text(prediction.read_text().replace("#### 78", "#### 18"))
    (run / "report.html").unlink()
    (run / "more.txt").write_text("")
    done = command.run("verify", run)
    assert (done.code, done.out) == (1, "")
    assert "3 of its files differ" in done.err
    for line in (f"changed: {prediction.relative_to(run)}", "missing: report.html", "added: more.txt"):
        assert line in done.err


def test_a_journal_that_is_rewritten_under_way_has_no_verdict(tmp_path: Path) -> None:
    """Exit code 5 with file and line, and no figure is published."""

    def answer(request: dict[str, object]) -> list[str]:
        for journal in tmp_path.glob("[0-9a-f]*/predictions/*/*.jsonl"):
            text = journal.read_text()
            if "WRONG" in text and not list(tmp_path.glob("forged")):
                (tmp_path / "forged").touch()
                journal.write_text(text.replace("WRONG", "#### 18", 1))
        return ["WRONG"] * int(str(request.get("n", 1)))

    with FaultServer(answer) as server:
        done = command.run(
            "run", "--endpoint", server.url, "--datasets", "demo_gsm8k", "--out", tmp_path, "--concurrency", "1",
            "--gate", "demo_gsm8k: avg@5 >= 0",
        )  # fmt: skip
    assert done.code == 5, done.err
    assert "demo_gsm8k.jsonl was changed by another program while the run was under way: line 1 is not" in done.out
    (state,) = tmp_path.glob("[0-9a-f]*/run.json")
    run = json.loads(state.read_text())
    assert (run["status"], run["exit_code"]) == ("broken", 5)
    assert command.run("verify", state.parent).code == 0
