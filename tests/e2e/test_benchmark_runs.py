"""Benchmarks from the command's settings to the report's figures, over real rows and real HTTP."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from tests.e2e import command
from tests.real_data import REAL, built
from tests.servers.fault_server import FaultServer
from tests.servers.knowing_model import KnowingModel
from tests.servers.likelihood_server import VLLM, LikelihoodServer

from model_accuracy_eval.benchmarks.dataset_table import GROUPS, find
from model_accuracy_eval.records import Problem, Report
from model_accuracy_eval.report.figures import all_rows

SIZE = 4


def evaluate(url: str, datasets: str, out: Path, **settings: object) -> Report:
    values = {
        "endpoint": url, "datasets": datasets, "out": str(out), "data-dir": str(REAL), "first": SIZE,
        "gate-on": "point", "num-return-sequences": 1, **settings,
    }  # fmt: skip
    return command.evaluate(values)


def figures(report: Report, dataset: str) -> Mapping[str, float | None]:
    (dataset_result,) = [
        dataset_result for dataset_result in report.dataset_results if dataset_result.dataset == dataset
    ]
    return {row.metric: row.value for row in dataset_result.rows}


def test_a_looser_reading_stands_beside_the_score(tmp_path: Path) -> None:
    """Two of four replies only word their answer: summary, results, page and gates have both figures, and a note says
    how many replies make the difference."""
    problems = built(find("mmlu"), SIZE).problems
    worded = [problem.choices["ABCD".index(problem.references[0])] for problem in problems]
    replies = {
        problem.messages[-1].content: f"ANSWER: {problem.references[0]}"
        if place < 2
        else f"I would go for {text} here."
        for place, (problem, text) in enumerate(zip(problems, worded, strict=True))
    }
    with FaultServer(lambda request: replies.get(request["messages"][-1]["content"], "ready")) as server:
        report = evaluate(server.url, "mmlu", tmp_path, gate="mmlu: accuracy,flexible-extract >= 30")
    found = figures(report, "mmlu")
    assert (found["accuracy"], found["accuracy,flexible-extract"]) == (50, 100)
    (gate,) = report.gates
    assert gate.value == 100
    folder = command.only_run(tmp_path)
    (results,) = (folder / "results").rglob("mmlu.json")
    written_results = msgspec.json.decode(results.read_bytes())
    assert written_results["readings"] == [
        {
            "pipeline": "flexible-extract", "answers": 2, "more": 2, "fewer": 0, "different": 0,
            "metric": "accuracy,flexible-extract",
            "examples": [f"problem {one.id} as nothing or '{one.references[0]}'" for one in problems[2:]],
        }
    ]  # fmt: skip
    by_problem = [detail["figures"]["accuracy,flexible-extract"] for detail in written_results["details"]]
    assert by_problem == [100, 100, 100, 100]
    note = (
        "The first reading finds an answer in 2 replies; 'flexible-extract' finds one in 2 more and 0 fewer, and a "
        "different one in 0: accuracy is 50.00, accuracy,flexible-extract is 100.00."
    )
    assert any(one.startswith(note) for one in written_results["notes"])
    assert "flexible-extract" in (folder / "report.html").read_text()
    assert "&#39;flexible-extract&#39; finds one in 2 more" in (folder / "report.html").read_text()


def known(problem: Problem, *, right: bool) -> str:
    """The text of a right ending behind its context, or of a wrong one."""
    if not problem.choices:
        (only,) = problem.candidates
        return only.context + only.continuation if right else only.context + " No"
    place = problem.gold[0] if right else (problem.gold[0] + 1) % len(problem.choices)
    chosen = problem.candidates[place]
    return chosen.context + chosen.continuation


def test_n16_core_is_the_mean_of_what_lies_above_guessing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group row over its tasks: 100 where all is right, and the plain mean where one task is all wrong."""
    members = ["core_copa", "core_winograd"]
    papers = [built(find(name), SIZE) for name in members]
    texts = [known(problem, right=at == 0) for at, paper in enumerate(papers) for problem in paper.problems]
    monkeypatch.setitem(GROUPS, "core", msgspec.structs.replace(GROUPS["core"], members=tuple(members)))
    with LikelihoodServer(KnowingModel(texts), style=replace(VLLM, context=None)) as server:
        report = evaluate(server.url, "core", tmp_path, gate=["core: centred accuracy == 0"])
    assert figures(report, "core_copa")["centred accuracy"] == 100.0
    assert figures(report, "core_winograd")["centred accuracy"] == -100.0
    (row,) = [row for row in all_rows(report) if row.dataset == "core"]
    assert (row.metric, row.value) == ("centred accuracy", 0.0)
    assert report.outcome.conclusion == "passed"
    (table,) = tmp_path.glob("[0-9a-f]*/summary/*.csv")
    assert f"core,{row.version},centred accuracy," in table.read_text()


def test_n17_a_task_of_core_without_its_file_is_named(tmp_path: Path) -> None:
    """The whole of CORE cannot be run where a file is missing; the sentence says which."""
    with pytest.raises(Exception, match="core/hellaswag.jsonl"):
        evaluate("http://127.0.0.1:9", "core", tmp_path)
