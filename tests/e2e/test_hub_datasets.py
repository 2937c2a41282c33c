"""A dataset named by its address at a hub: fetched, understood, asked and scored, by the command on a fresh machine."""

import io
import json
import signal
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command
from tests.real_data import real
from tests.servers.fake_hub import Blob, FakeHub
from tests.servers.fault_server import FaultServer
from tests.servers.file_host import FileHost
from tests.waiting import until

from model_accuracy_eval.benchmarks import dataset_table as tasks

CARD = b"""---
configs:
- config_name: main
  data_files:
  - {split: train, path: main/train-*}
  - {split: test, path: main/test-*}
- config_name: hard
  data_files:
  - {split: test, path: hard/test-*}
---
"""
ROWS = [{"problem": f"What is {n} + 1?", "solution": str(n + 1), "level": "easy"} for n in range(6)]
WRONG = [{"problem": f"What is {n} + 1?", "solution": "7000", "level": "easy"} for n in range(6)]


def parquet(rows: list[dict[str, str]]) -> bytes:
    """As the hub's own tools write it."""
    pyarrow = pytest.importorskip("pyarrow")
    writer = pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    writer.write_table(pyarrow.Table.from_pylist(rows), file)
    return file.getvalue()


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with FakeHub() as hub:
        hub.push(
            "datasets/org/sums",
            {
                "README.md": CARD,
                "main/train-00000-of-00001.parquet": Blob(parquet(WRONG), large=True),
                "main/test-00001-of-00002.parquet": Blob(parquet(ROWS[3:]), large=True),
                "main/test-00000-of-00002.parquet": Blob(parquet(ROWS[:3]), large=True),
                "hard/test-00000-of-00001.parquet": Blob(parquet(WRONG), large=True),
            },
        )
        yield hub


def around(hub: FakeHub, tmp_path: Path, **more: str) -> dict[str, str]:
    return {**hub.environment, "MODEL_ACCURACY_EVAL_CACHE": str(tmp_path / "cache"), "NO_PROXY": "*", **more}


def adds(request: dict[str, Any]) -> str:
    """Right answers but for one; what is no question of ours, such as the service's first request, gets a zero."""
    question = request["messages"][-1]["content"]
    if not (question.startswith("What is") and "+ 1?" in question):
        return "0"
    number = int(question.split()[2])
    return f"It is {number + 1 if number != 4 else 0}."


def test_a_fresh_machine_evaluates_what_a_hub_has(hub: FakeHub, tmp_path: Path) -> None:
    """Beside a dataset of the package; later offline, from the same commit though the branch has moved."""
    ask = ("-n", 1, "--limit", 6, "--datasets", "demo_arithmetic,hf:org/sums:main:test")
    with FaultServer(adds) as server:
        run = ("run", "--endpoint", server.url, *ask, "--out")
        refused = command.run(*run, tmp_path / "0", "--offline", **around(hub, tmp_path))
        first = command.run(*run, tmp_path / "1", **around(hub, tmp_path))
        hub.push("datasets/org/sums", {"main/test-00000-of-00001.parquet": Blob(parquet(WRONG), large=True)})
        asked = len(hub.asked)
        later = command.run(*run, tmp_path / "2", "--offline", **around(hub, tmp_path))
    assert refused.code == 2
    assert "are not on this machine. `run` fetches them from hf:org/sums unless" in refused.err
    assert (first.code, later.code) == (0, 0), first.err + later.err
    assert len(hub.asked) == asked
    assert "sums_main_test: 6 of 6 samples answered." in first.out
    assert "were read for the first time (hf:org/sums@" in first.out
    assert "were read for the first time" not in later.out
    assert "are those that the lock file noted at their first use (hf:org/sums@" in later.out
    assert all("unpinned" in one.out for one in (first, later))
    for folder, status in ((tmp_path / "1", "pinned now"), (tmp_path / "2", "as pinned")):
        told = command.facts(command.only_run(folder))["datasets"]["sums_main_test"]
        assert told["metrics"]["accuracy"] == pytest.approx(100 * 5 / 6)
        (source,) = told["sources"]
        assert (source["status"], source["count"], len(source["places"])) == (status, 6, 2)
        assert source["places"][1].endswith("/main/test-00001-of-00002.parquet")


def test_show_prints_what_is_guessed_and_columns_say_otherwise(hub: FakeHub, tmp_path: Path) -> None:
    """The same rows with the roles of two columns exchanged."""
    shown = command.run("tasks", "show", "hf:org/sums:hard", **around(hub, tmp_path))
    other = command.run(
        *("tasks", "show", "hf:org/sums:hard", "--columns", "question=level,answer=problem"), **around(hub, tmp_path)
    )
    assert shown.code == 0, shown.err
    assert "Read: question from 'problem', right answer from 'solution'" in shown.out
    assert "judged by the number: '7000' is right" in shown.out
    assert "is sent as\n  | easy" in other.out, other.out + other.err
    refused = command.run("tasks", "show", "gsm8k", "--columns", "question", **around(hub, tmp_path))
    assert refused.code == 2
    assert "not 'question'" in refused.err


def test_an_address_of_a_file_is_a_dataset(tmp_path: Path) -> None:
    """It is noted what it held: another content behind the address is refused, until an update takes it."""
    lines = [json.dumps({"question": f"What is {n} + 1?", "answer": str(n + 1)}) for n in range(4)]
    surroundings = {"MODEL_ACCURACY_EVAL_CACHE": str(tmp_path / "cache"), "NO_PROXY": "*"}
    with FaultServer(adds) as server, FileHost({"/more/own%20sums.jsonl": "\n".join(lines).encode()}) as host:
        url = f"{host.url}/more/own%20sums.jsonl"
        run = ("run", "--endpoint", server.url, "-n", 1, "--datasets", url, "--out")
        first = command.run(*run, tmp_path / "1", **surroundings)
        host.files["/more/own%20sums.jsonl"] = "\n".join(lines[:2]).encode()
        for file in tmp_path.glob("cache/data/*/own sums.jsonl"):
            file.unlink()
        moved = command.run(*run, tmp_path / "3", **surroundings)
        update = command.run("tasks", "prepare", "--update", url, **surroundings)
        signed = command.run(*run, tmp_path / "4", "--datasets", f"{url}?X-Amz-Signature=f00&part=1", **surroundings)
    assert (first.code, update.code) == (0, 0), first.err + update.err
    assert (signed.code, "must hold no password or signature" in signed.err, "f00" in signed.err) == (2, True, False)
    assert moved.code == 3
    assert "own%20sums.jsonl is not the expected file: its hash is" in moved.err
    assert "tasks prepare --update" in moved.err
    assert "own_sums: 4 of 4 samples answered." in first.out
    kept = json.loads((tmp_path / "cache" / "data" / "accuracy-data.lock").read_bytes())["sources"][url]["files"]
    assert kept[0]["hash"] == sha256("\n".join(lines[:2]).encode()).hexdigest()


# A dataset is named, and its rows come from where the task says.


ASK = ("--datasets", "gsm8k", "--limit", 5, "-n", 1)


@pytest.fixture
def gsm8k() -> FileHost:
    """GitHub's place for raw files, with the one that `gsm8k` names."""
    file = tasks.find("gsm8k").data
    assert file.source
    place = file.source.url.removeprefix("github:").replace("@", "/")
    return FileHost({f"/{place}": real(file)})


def surroundings(host: FileHost, tmp_path: Path) -> dict[str, str]:
    return {"GITHUB_RAW_ENDPOINT": host.url, "MODEL_ACCURACY_EVAL_CACHE": str(tmp_path / "cache"), "NO_PROXY": "*"}


def test_killed_while_it_fetches_the_next_run_goes_on(gsm8k: FileHost, tmp_path: Path) -> None:
    """Even by SIGKILL: what arrived is used, the rest is asked for, and no byte comes twice."""
    with FaultServer() as server, gsm8k as host:
        around = surroundings(host, tmp_path)
        host.hold.clear()
        killed = command.start("run", "--endpoint", server.url, *ASK, "--out", tmp_path / "1", **around)
        (whole,) = host.files.values()
        half = len(whole) // 2
        until(
            lambda: sum(path.stat().st_size for path in (tmp_path / "cache").rglob("*.partial")) == half, "half of it"
        )
        killed.send_signal(signal.SIGKILL)
        command.finish(killed)
        host.hold.set()
        done = command.run("run", "--endpoint", server.url, *ASK, "--out", tmp_path / "2", **around)
    assert done.code == 0, done.err
    assert "where it broke off" in done.err
    assert sum(host.sent.values()) == len(whole)
