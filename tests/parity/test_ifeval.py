"""IFEval as lm-evaluation-harness judges it: the same verdict for every instruction of every reply, the same four figures."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.parity.conftest import STABLE, find
from tests.parity.ifeval_replies import PLANNED, replies
from tests.real_data import built, rows

from model_accuracy_eval.benchmarks import dataset_table as tasks
from model_accuracy_eval.records import Attempt, Problem
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.metrics.ifeval_instructions import CHECKERS, followed

TASK = tasks.find("ifeval")
BY_CHANCE = {1122: "#", 1129: "!"}
"""Rows that ask for a character which is no letter: the original draws a letter in its place, each time anew."""


@dataclass(frozen=True)
class Compared:
    """The rows on which both can agree, what each was told, and what the original says."""

    rows: list[dict[str, Any]]
    problems: list[Problem]
    replies: list[list[str]]
    theirs: dict[str, Any]


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    oracle = find(STABLE)
    pairs = zip(rows(TASK), built(TASK).problems, strict=True)
    kept = [(row, problem) for row, problem in pairs if row["key"] not in BY_CHANCE]
    told = [replies(row) for row, _ in kept]
    data = str(tmp_path_factory.mktemp("nltk"))
    kept_rows = [row for row, _ in kept]
    job = {"rows": kept_rows, "replies": told, "planned": PLANNED, "data": data}
    done = subprocess.run(
        [str(oracle.python), str(Path(__file__).with_name("ifeval_oracle.py"))],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return Compared(kept_rows, [problem for _, problem in kept], told, json.loads(done.stdout.splitlines()[-1]))


def test_every_verdict_is_the_same(compared: Compared) -> None:
    """Strict and loose; and every checker says yes as well as no somewhere, or nothing would be compared."""
    seen = set()
    for row, problem, told, theirs in zip(
        compared.rows, compared.problems, compared.replies, compared.theirs["verdicts"], strict=True
    ):
        for reply, expected in zip(told, theirs, strict=True):
            for kind in ("strict", "loose"):
                ours = followed(reply, problem.extras["instructions"], loose=kind == "loose")
                assert ours == expected[f"inst_level_{kind}_acc"], (row["key"], kind, reply)
                assert all(ours) == expected[f"prompt_level_{kind}_acc"]
                seen |= set(zip(row["instruction_id_list"], ours, strict=True))
    assert seen == {(name, verdict) for name in CHECKERS for verdict in (True, False)}


def test_the_four_figures_are_the_same(compared: Compared) -> None:
    """To nine digits, out of the scorecard that a run fills; the instruction's figures are no means of the prompts' own."""
    card = Scorecard(TASK, PLANNED, (1,))
    for problem, told in zip(compared.problems, compared.replies, strict=True):
        attempts = [Attempt(problem=problem.id, index=at, text=text) for at, text in enumerate(told[:PLANNED])]
        card.judge(problem, attempts)
    ours = {row.metric.removesuffix(f" ({PLANNED} runs average)"): row.value for row in card.rows("000000")}
    for name, value in compared.theirs["figures"].items():
        assert ours[name] == pytest.approx(100 * value, rel=1e-9), name
        assert 10 < 100 * value < 90


def test_rows_that_the_original_judges_by_chance_are_known() -> None:
    """No others ask for a character that is no letter; here it is what is counted."""
    odd = {
        row["key"]: arguments["letter"]
        for row in rows(TASK)
        for arguments in row["kwargs"]
        if not arguments.get("letter", "a").isalpha()
    }
    assert odd == BY_CHANCE
