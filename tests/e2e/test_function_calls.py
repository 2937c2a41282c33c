"""Datasets whose answers are function calls, over real HTTP: each row's own functions go out, and the calls come back."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests import dataset_fixtures
from tests.e2e import command
from tests.servers.tool_server import HABITS, JSON, Said, ToolServer

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import DataFile, Report


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The made-up rows, as files of another hash, in the folder of the user's data."""
    file = find("bfcl_parallel_multiple").data
    for one in (file, *file.more):
        target = tmp_path / "data" / one.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(
            "".join(json.dumps(row) + "\n" for row in dataset_fixtures.read(DataFile(name=one.name), ("id",)))
        )
    return tmp_path / "data"


def evaluate(url: str, data: Path, **settings: object) -> Report:
    task = {
        "name": "calls", "data": {"name": "bfcl/BFCL_v4_parallel_multiple.jsonl",
                                  "more": [{"name": "bfcl/possible_answer_parallel_multiple.jsonl"}]},
        "fields": ["id"], "views": [{"name": "joined", "args": {"field": "id"}}],
        "prompt": {"question": "{{ question[0][-1].content }}"}, "reference": "{{ ground_truth | tojson }}",
        "extras": ["function", "ground_truth"], "functions": "function",
        "pipelines": [{"filters": ["strip_thoughts"], "metrics": ["expected_calls"]}],
    }  # fmt: skip
    file = data / "calls.yaml"
    file.write_text(json.dumps(task))
    values: dict[str, Any] = {
        "endpoint": url, "datasets": str(file), "data_dir": str(data), "out": str(data / "out"), "retries": 0,
        "num_return_sequences": 2, **settings,
    }  # fmt: skip
    return command.evaluate(values)


def obedient(request: JSON) -> Said:
    """Calls what the row expects, under the names that it was offered."""
    rows = dataset_fixtures.read(find("bfcl_parallel_multiple").data, ("id",))
    asked = request["messages"][-1]["content"]
    row = next((row for row in rows if "question" in row and row["question"][0][-1]["content"] == asked), None)
    if row is None:
        return Said(text="Yes?")  # somebody looks whether the service is up
    answer = next(other for other in rows if other["id"] == row["id"] and "ground_truth" in other)
    offered = [tool["function"]["name"] for tool in request["tools"]]
    calls = []
    for at, one in enumerate(answer["ground_truth"]):
        ((name, allowed),) = one.items()
        assert name.replace(".", "_") in offered
        given = {key: values[0] for key, values in allowed.items() if "" not in values}
        calls.append((f"id{at:07}", name.replace(".", "_"), json.dumps(given)))
    return Said(text="I call.", calls=calls)


@pytest.mark.parametrize("habit", ["as defined", "whole, without index and id"])
def test_calls_are_the_answer(data: Path, habit: str) -> None:
    """However a server tells them; they stand in the journal as the prediction."""
    assert habit in HABITS
    with ToolServer(obedient, habit=habit) as server:
        report = evaluate(server.url, data)
        asked = [request for request in server.requests if request.path.endswith("/chat/completions")]
    assert report.dataset_results[0].rows[0].value == 100.0
    kept = (data / "out" / report.plan.run_id / f"predictions/{command.LABEL}/calls.jsonl").read_text().splitlines()
    assert len(kept) == 10
    assert all("<tool_call>" in json.loads(line)["prediction"] for line in kept)
    sizes = {len(exchange.json["tools"]) for exchange in asked if "tools" in exchange.json}
    assert sizes == {2}
