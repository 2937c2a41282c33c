"""HumanEval through the whole program: a service that answers with known solutions, real tests, a real sandbox."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer

from model_accuracy_eval.records import Report

DATA = Path(__file__).parents[3] / "shared/data"
FILE = DATA / "humaneval/HumanEval.jsonl.gz"
JSON = dict[str, Any]

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="HumanEval's file is not in ../shared/data")


def rows() -> list[JSON]:
    return [json.loads(line) for line in gzip.decompress(FILE.read_bytes()).splitlines()]


class Solver:
    """Answers each prompt; `right(row, index)` says whether with the reference solution or with a broken one."""

    def __init__(self, right: Any) -> None:
        self.rows = {row["prompt"].strip(): row for row in rows()}
        self.right = right
        self.asked: dict[str, int] = {}

    def __call__(self, request: JSON) -> Sequence[str]:
        question = request["messages"][-1]["content"]
        row = next((row for prompt, row in self.rows.items() if question.strip().endswith(prompt)), None)
        if row is None:
            return ["ready"] * request.get("n", 1)
        first = self.asked.get(row["task_id"], 0)
        self.asked[row["task_id"]] = first + request.get("n", 1)
        return [self.reply(row, first + offset) for offset in range(request.get("n", 1))]

    def reply(self, row: JSON, index: int) -> str:
        right = self.right(row, index)
        body = row["canonical_solution"] if right else "    return 'nothing that a test expects'\n"
        return f"Here it is:\n```python\n{row['prompt']}{body}```\nIt takes sample {index} at its word."


def evaluate(server: FaultServer, out: Path, **settings: object) -> Report:
    values = {"endpoint": server.url, "datasets": "humaneval", "data-dir": str(DATA), "out": str(out), **settings}
    return command.evaluate(values)


def figures(report: Report) -> dict[str, float | None]:
    return {row.metric: row.value for row in report.dataset_results[0].rows}


def test_reference_solutions_are_worth_100(sandbox: str, tmp_path: Path) -> None:
    """All 164 reference solutions pass, greedily asked once; the report says where they ran and how sure that is."""
    with FaultServer(Solver(lambda row, index: True)) as server:
        report = evaluate(server, tmp_path, preset="greedy", sandbox=sandbox)
    assert figures(report) == {"accuracy": 100.0, "best of n": 100.0}
    assert report.outcome.exit_code == 0, report.outcome.sentence
    (note,) = [note for note in report.dataset_results[0].notes if note.startswith("Programs ran")]
    assert "judged out of the program's reach" in note
    assert "in the program's process" not in note


def test_a_run_that_goes_on_runs_nothing_twice(sandbox: str, tmp_path: Path) -> None:
    """Judged again, the kept verdicts are used: the file of findings does not grow, and the figures are the same."""
    with FaultServer(Solver(lambda row, index: index % 2 == 0)) as server:
        first = evaluate(server, tmp_path, limit=10, **{"num-return-sequences": 2}, sandbox=sandbox)
    folder = command.only_run(tmp_path)
    (kept,) = folder.glob("predictions/*/humaneval_findings.jsonl")
    before = kept.read_bytes()
    again = command.evaluate({"mode": "eval", "reuse": str(folder), "data-dir": str(DATA)})
    assert figures(again) == figures(first)
    assert kept.read_bytes() == before
    assert 0 < len(before.splitlines()) <= 60
