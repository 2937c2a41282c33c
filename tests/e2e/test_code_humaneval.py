"""HumanEval through the whole program: a service that answers with known solutions, real tests, a real sandbox."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.records import Report
from model_accuracy_eval.run import engines, pipeline, plan_parts
from model_accuracy_eval.scoring.figures.reductions import pass_at_k
from model_accuracy_eval.system.clock import SignalClock

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
    plan = plan_parts.plan(values, {})
    return pipeline.run(plan, engines.ports(plan, {}, SignalClock()))


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


def test_broken_solutions_are_worth_0(sandbox: str, tmp_path: Path) -> None:
    """A function that gives back one text for everything passes none of the 164 tests."""
    with FaultServer(Solver(lambda row, index: False)) as server:
        report = evaluate(server, tmp_path, preset="greedy", sandbox=sandbox)
    assert figures(report) == {"accuracy": 0.0, "best of n": 0.0}
    assert report.dataset_results[0].counts.unjudged == 0


def test_a20_two_services_are_compared_on_the_same_prompts(sandbox: str, tmp_path: Path) -> None:
    """The second run, with the first as its baseline, has the paired difference and the problems that flipped."""
    settings: JSON = {"preset": "greedy", "limit": 20, "sandbox": sandbox}
    with FaultServer(Solver(lambda row, index: int(row["task_id"].split("/")[1]) % 2 == 0)) as server:
        evaluate(server, tmp_path / "first", **settings)
    base = command.only_run(tmp_path / "first")
    with FaultServer(Solver(lambda row, index: True)) as server:
        report = evaluate(server, tmp_path / "second", baseline=str(base), **settings)
    assert report.comparison is not None
    (change,) = report.comparison.changes
    assert change.flips is not None
    assert (change.problems, change.flips.gained, change.flips.lost) == (20, 10, 0)
    difference = report.comparison.find("humaneval", "accuracy")
    assert difference is not None
    assert (difference.old, difference.new, difference.points) == (50.0, 100.0, 50.0)
    assert difference.interval is not None
    assert 0 < difference.interval.low < 50 < difference.interval.high


def test_a1_pass_at_k_of_a_mix_is_the_formula(sandbox: str, tmp_path: Path) -> None:
    """With n = 5 and c = 0..5 right samples by turns, the report has the unbiased estimates for k = 1, 2 and 5."""
    chosen = 30

    def right(row: JSON, index: int) -> bool:
        return index < int(row["task_id"].split("/")[1]) % 6

    with FaultServer(Solver(right)) as server:
        report = evaluate(server, tmp_path, k="1,2,5", **{"num-return-sequences": 5}, limit=chosen, sandbox=sandbox)
    found = figures(report)
    for k in (1, 2, 5):
        expected = 100 * sum(pass_at_k(5, number % 6, k) for number in range(chosen)) / chosen
        assert found[f"pass@{k}"] == pytest.approx(expected)


def test_a_run_that_goes_on_runs_nothing_twice(sandbox: str, tmp_path: Path) -> None:
    """Judged again, the kept verdicts are used: the file of findings does not grow, and the figures are the same."""
    with FaultServer(Solver(lambda row, index: index % 2 == 0)) as server:
        first = evaluate(server, tmp_path, limit=10, **{"num-return-sequences": 2}, sandbox=sandbox)
    folder = command.only_run(tmp_path)
    (kept,) = folder.glob("predictions/*/humaneval_findings.jsonl")
    before = kept.read_bytes()
    plan = plan_parts.plan({"mode": "eval", "reuse": str(folder), "data-dir": str(DATA)}, {})
    again = pipeline.run(plan, engines.ports(plan, {}, SignalClock()))
    assert figures(again) == figures(first)
    assert kept.read_bytes() == before
    assert 0 < len(before.splitlines()) <= 60


def test_a_finding_of_a_busy_machine_is_repaired(sandbox: str, tmp_path: Path) -> None:
    """As an older version left HumanEval/15: ended after 90 s of the clock and 1.6 s of core time; nothing else runs again."""
    with FaultServer(Solver(lambda row, index: True)) as server:
        evaluate(server, tmp_path, preset="greedy", limit=16, sandbox=sandbox)
    folder = command.only_run(tmp_path)
    (kept,) = folder.glob("predictions/*/humaneval_findings.jsonl")
    lines = [json.loads(line) for line in kept.read_bytes().splitlines()]
    for line in (line for line in lines if line["problem"] == 15):
        line["execution"] |= {"verdict": "timeout", "wall_seconds": 90.04, "cpu_seconds": 1.6}
        for name in ("alone", "limit_seconds", "waited_seconds"):
            line["execution"].pop(name, None)
    kept.write_text("".join(json.dumps(line) + "\n" for line in lines))
    plan = plan_parts.plan({"mode": "eval", "reuse": str(folder), "data-dir": str(DATA), "sandbox": sandbox}, {})
    report = pipeline.run(plan, engines.ports(plan, {}, SignalClock()))
    assert (figures(report)["accuracy"], report.outcome.exit_code) == (100.0, 0)
    judged_again = [json.loads(line) for line in kept.read_bytes().splitlines()][len(lines) :]
    assert {line["problem"] for line in judged_again} == {15}
    assert {line["execution"]["verdict"] for line in judged_again} == {"passed"}


def test_without_a_sandbox_nothing_is_asked(tmp_path: Path) -> None:
    """A run of code tasks is refused before its first request where the wanted sandbox cannot be had."""
    solver = Solver(lambda row, index: True)
    with FaultServer(solver) as server:
        plan = plan_parts.plan(
            {"endpoint": server.url, "datasets": "humaneval", "data-dir": str(DATA), "out": str(tmp_path)}
            | {"sandbox": "docker"}, {},
        )  # fmt: skip
        nowhere = {"DOCKER_HOST": "unix:///nowhere/docker.sock", "PATH": "/nowhere"}
        with pytest.raises(EvalError) as refusal:
            pipeline.run(plan, engines.ports(plan, nowhere, SignalClock()))
    assert refusal.value.exit_code == 3
    assert solver.asked == {}
    assert list(tmp_path.iterdir()) == []
