"""`formats`: the same prompts to the letter where options are weighed; what is said and counted where a reply is read.

Each is a file of its own, because two formats of one task overwrite each other in lm-eval's results.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.parity import sides
from tests.parity.conftest import Oracle

from model_accuracy_eval.records import Attempt, PreparedDataset
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.tasks.importers.lm_eval_formats import FORMATS

OWN = Path(__file__).parent / "own"
LETTERS = "ABCD"


@dataclass(frozen=True)
class Asked:
    """The same task in every format."""

    ours: dict[str, PreparedDataset]
    theirs: dict[str, Any]
    job: sides.Job


@pytest.fixture(scope="module")
def asked(next_oracle: Oracle, tmp_path_factory: pytest.TempPathFactory) -> Asked:
    data = tmp_path_factory.mktemp("rows")
    ((_, fields),) = sides.task_fields(OWN, ["plain"]).values()
    sides.write_rows(data, fields)
    ours = {form: sides.ours({**fields, "formats": form}, data, trusted=False, limit=sides.LIMIT) for form in FORMATS}
    job = sides.Job({f"own_{form}": OWN / "formats" for form in FORMATS}, data)
    theirs = sides.ask_lm_eval(next_oracle.python, job)
    return Asked(ours, {form: theirs[f"own_{form}"] for form in FORMATS}, job)


@pytest.mark.parametrize("form", ["cloze", "mcqa"])
def test_the_same_options_are_weighed(asked: Asked, form: str) -> None:
    """The texts before them, the endings, and which of them is right; for mcqa these are letters."""
    ours, theirs = asked.ours[form], asked.theirs[form]
    assert [list(map(list, row)) for row in sides.asked(ours)] == [list(map(list, row)) for row in theirs["asked"]]
    assert [problem.gold for problem in ours.problems] == [(right,) for right in theirs["right"]]


@pytest.mark.parametrize("form", ["generate", "cot"])
def test_one_reply_is_asked_for(asked: Asked, form: str) -> None:
    """One request a row, in the same words; theirs goes on with the beginning of the reply where there is one."""
    ours, theirs = sides.asked(asked.ours[form]), asked.theirs[form]["asked"]
    assert [len(row) for row in ours] == [len(row) for row in theirs] == [1] * sides.LIMIT
    begun = "\nThe best answer is" if form == "generate" else ""
    assert [row[0][0] + begun for row in ours] == [row[0][0] for row in theirs]


def test_the_same_letters_give_the_same_figure(next_oracle: Oracle, asked: Asked) -> None:
    """`generate`: theirs begins the reply and wants a letter behind it, ours reads the letter from the whole sentence."""
    ours, theirs = asked.ours["generate"], asked.theirs["generate"]
    assert [problem.references for problem in ours.problems] == [(right,) for right in theirs["right"]]
    said = [LETTERS[place % 4] for place in range(sides.LIMIT)]
    card = Scorecard(ours.task, 1, (1,))
    for problem, letter in zip(ours.problems, said, strict=True):
        card.judge(problem, [Attempt(problem=problem.id, index=0, text=f"The best answer is {letter}.")])
    told = {row[0][0]: [f" {letter}.\n"] for row, letter in zip(theirs["asked"], said, strict=True)}
    heard = sides.ask_lm_eval(next_oracle.python, replace(asked.job, replies=told))["own_generate"]["scores"]
    assert card.rows("000000")[0].value == pytest.approx(100 * heard["exact_match,none"], abs=1e-9)
    assert 0 < heard["exact_match,none"] < 1
