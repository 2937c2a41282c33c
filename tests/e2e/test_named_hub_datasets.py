"""A fresh machine and datasets by their names alone: fetched from a hub, converted, asked, scored, and read offline.

The hub is a local one in the files' true layouts; MMLU's rows are the real ones, because their hash is known.
"""

import base64
import io
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.dataset_fixtures import fixture
from tests.e2e import command
from tests.e2e.test_pictures import SeeingServer, looking
from tests.pictures import png
from tests.real_data import real
from tests.servers.fake_hub import Blob, FakeHub
from tests.waiting import until

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.tasks.rows import parse

FIXTURES = Path(__file__).parents[1] / "unit" / "tasks" / "fixtures"
MMLU_CARD = b"""---
configs:
- config_name: abstract_algebra
  data_files:
  - {split: test, path: abstract_algebra/test-*}
- config_name: all
  data_files:
  - {split: test, path: all/test-*}
---
"""
ASK = ("--datasets", "MMLU,MATH-500,mmmu", "--task-type", "image-text-to-text", "--limit", 5, "-n", 1)
NAMES = ("mmlu", "math500", "mmmu")


def parquet(rows: list[dict[str, Any]]) -> Blob:
    """As the hub's own tools write it, in several row groups."""
    pyarrow = pytest.importorskip("pyarrow")
    writer = pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    writer.write_table(pyarrow.Table.from_pylist(rows), file, row_group_size=300)
    return Blob(file.getvalue(), large=True)


def repeated(name: str, count: int) -> list[dict[str, Any]]:
    """The made-up rows of a dataset, again and again, with pictures where they have some."""
    rows = fixture(FIXTURES / name)["rows"]
    drawn = [
        {key: {"bytes": png(value["drawn"]), "path": None} if _is_drawn(value) else value for key, value in row.items()}
        for row in rows
    ]
    return [drawn[number % len(drawn)] for number in range(count)]


def _is_drawn(value: Any) -> bool:
    return isinstance(value, dict) and "drawn" in value


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    mmlu = list(parse("mmlu/test.jsonl", real(find("mmlu").data), ()))
    with FakeHub() as hub:
        hub.push(
            "datasets/cais/mmlu",
            {
                "README.md": MMLU_CARD,
                "all/test-00000-of-00001.parquet": parquet([dict(reversed(row.items())) for row in mmlu]),
                "abstract_algebra/test-00000-of-00001.parquet": parquet(mmlu[:2]),
            },
        )
        math = "\n".join(json.dumps(row) for row in repeated("math500/test.json", 500))
        hub.push("datasets/HuggingFaceH4/MATH-500", {"README.md": b"# MATH-500", "test.jsonl": math.encode()})
        shards = repeated("mmmu/validation.json", 900)
        hub.push(
            "datasets/lmms-lab/MMMU",
            {
                "data/validation-00000-of-00002.parquet": parquet(shards[:450]),
                "data/validation-00001-of-00002.parquet": parquet(shards[450:]),
                "data/test-00000-of-00001.parquet": parquet(shards[:1]),
            },
        )
        yield hub


def around(hub: FakeHub, tmp_path: Path) -> dict[str, str]:
    return {**hub.environment, "MODEL_ACCURACY_EVAL_CACHE": str(tmp_path / "cache"), "NO_PROXY": "*"}


def says_b(text: str, seen: list[bytes]) -> tuple[str, int]:
    """Sees the digits that tell whether pictures arrive, and answers B to everything else."""
    is_probe = len(text) < 200 and "digit" in text
    return (looking(text, seen) if is_probe else "ANSWER: B"), 20 + 64 * len(seen)


def figures(folder: Path) -> dict[str, Any]:
    whole = command.only_run(folder)
    found = {name: json.loads((whole / f"results/{command.LABEL}/{name}.json").read_bytes()) for name in NAMES}
    return {name: {key: one[key] for key in one if key.startswith("accuracy")} for name, one in found.items()}


def test_three_names_on_a_fresh_machine(hub: FakeHub, tmp_path: Path) -> None:
    """Killed while it fetches; then two at once, who fetch what is missing once; then offline, with the same figures."""
    held = "data/validation-00001-of-00002.parquet"
    with SeeingServer(says_b) as server:
        run = ("run", "--endpoint", server.url, *ASK, "--out")
        hub.held = held
        hub.hold.clear()
        killed = command.start(*run, tmp_path / "0", **around(hub, tmp_path))
        until(lambda: any((tmp_path / "cache").rglob("*.partial")) and hub.sent.get(held, 0) > 0, "half of a file")
        killed.send_signal(signal.SIGKILL)
        command.finish(killed)
        hub.hold.set()
        two = [command.start(*run, tmp_path / str(number), **around(hub, tmp_path)) for number in (1, 2)]
        done = [command.finish(one) for one in two]
        asked = len(hub.asked)
        offline = command.run(*run, tmp_path / "3", "--offline", **around(hub, tmp_path))
    assert [one.code for one in (*done, offline)] == [0, 0, 0], done[0].err + done[1].err + offline.err
    assert len(hub.asked) == asked
    for name, model in (("datasets/cais/mmlu", "all/test-00000-of-00001.parquet"), ("datasets/lmms-lab/MMMU", held)):
        files = hub.models[name].commits[hub.models[name].branches["main"]]
        assert hub.sent[model] == len(files[model].data), f"{model} came more than once"
    assert "abstract_algebra/test-00000-of-00001.parquet" not in hub.sent
    assert all(f"{name}: 5 of 5 samples answered" in offline.out for name in NAMES), offline.out
    assert figures(tmp_path / "1") == figures(tmp_path / "3")
    sources = json.loads(command.only_run(tmp_path / "3").joinpath("run.json").read_bytes())["datasets"]
    told = {name: [(one["status"], one["count"]) for one in sources[name]["sources"]] for name in NAMES}
    assert told == {"mmlu": [("known", 14042)], "math500": [("as pinned", 500)], "mmmu": [("as pinned", 900)]}
    pictures = [part for request in server.requests for part in _pictures(request.json)]
    assert png(fixture(FIXTURES / "mmmu/validation.json")["rows"][0]["image_1"]["drawn"]) in pictures


def _pictures(request: Any) -> list[bytes]:
    contents = [message["content"] for message in (request or {}).get("messages", [])]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [base64.b64decode(url.partition(",")[2]) for url in urls]
