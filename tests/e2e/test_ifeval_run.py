"""IFEval from the command's settings to the report's four figures, over real rows and real HTTP."""

from pathlib import Path
from typing import Any

import pytest
from tests import following
from tests.e2e import command
from tests.real_data import REAL, rows
from tests.servers.fault_server import FaultServer

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import Report

SIZE = 30
INTRODUCTION = "Sure, here it is:\n"
SPOILT = {
    "punctuation:no_comma",
    "combination:repeat_prompt",
    "startend:quotation",
    "change_case:english_lowercase",
    "change_case:english_capital",
    "detectable_format:json_format",
}
"""Instructions that a reply cannot follow strictly once it has that first line."""


def evaluate(url: str, out: Path) -> Report:
    values = {
        "endpoint": url, "datasets": "ifeval", "out": str(out), "data-dir": str(REAL), "first": SIZE,
        "num-return-sequences": 1, "gate": "ifeval: inst_level_strict_acc >= 30", "gate-on": "point",
    }  # fmt: skip
    return command.evaluate(values)


def reply(row: dict[str, Any], number: int) -> str:
    """In turn one that follows everything, one with an introduction, and nothing at all."""
    return (following.reply(row), INTRODUCTION + following.reply(row), "")[number % 3]


def test_a_run_tells_the_four_figures(tmp_path: Path) -> None:
    """Prompts and instructions, strict and loose, as counted by another hand; a gate may ask for any of them."""
    asked = [row["instruction_id_list"] for row in rows(find("ifeval"))[:SIZE]]
    replies = {row["prompt"]: reply(row, number) for number, row in enumerate(rows(find("ifeval"))[:SIZE])}
    with FaultServer(lambda request: replies.get(request["messages"][-1]["content"], "ready")) as server:
        report = evaluate(server.url, tmp_path)
    whole, introduced = asked[::3], asked[1::3]
    kept = [[name for name in names if name not in SPOILT] for names in introduced]
    instructions = sum(map(len, asked))
    (dataset_result,) = report.dataset_results
    assert {row.metric: row.value for row in dataset_result.rows} == {
        "prompt_level_strict_acc": pytest.approx(100 * (len(whole) + _same(kept, introduced)) / SIZE),
        "inst_level_strict_acc": pytest.approx(100 * sum(map(len, whole + kept)) / instructions),
        "prompt_level_loose_acc": pytest.approx(100 * len(whole + introduced) / SIZE),
        "inst_level_loose_acc": pytest.approx(100 * sum(map(len, whole + introduced)) / instructions),
    }
    assert not any(row.stderr for row in dataset_result.rows), "the first problems say nothing of others"
    assert dataset_result.counts.empty == SIZE // 3
    assert report.outcome.sentence.startswith("ifeval: inst_level_strict_acc >= 30 passed")


def _same(one: list[list[str]], other: list[list[str]]) -> int:
    return sum(names == others for names, others in zip(one, other, strict=True))
