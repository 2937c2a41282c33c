"""Task files as lm-evaluation-harness ships them: the same prompts to the byte, the same scores to nine digits.

The other side is the real program, in an environment of its own; `make parity` brings both together.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.parity import sides
from tests.parity.conftest import PYTHON
from tests.parity.families import REAL_TASKS, TASKS, TRUSTED_TASKS

from model_accuracy_eval.records import Exam
from model_accuracy_eval.rim.python_tasks.functions import TrustedFunctions
from model_accuracy_eval.scoring import paths
from model_accuracy_eval.scoring.metrics import metric
from model_accuracy_eval.scoring.scorecard import Scorecard
from model_accuracy_eval.scoring.scorers import measures
from model_accuracy_eval.tasks.lm_eval.reading import Fields


@dataclass(frozen=True)
class Compared:
    """Both sides of every task, by its name."""

    ours: dict[str, Exam]
    theirs: Mapping[str, Any]
    replies: dict[str, list[str]]


def _compare(
    folder: Path,
    data: Path,
    names: list[str],
    *,
    trusted: bool = False,
    examples: int | None = None,
    limit: int = sides.LIMIT,
) -> Compared:
    found: dict[str, tuple[Path, Fields]] = sides.task_fields(folder, names)
    for name, (path, fields) in found.items():
        sides.write_rows(data, fields)
        found[name] = (path, fields if examples is None else sides.with_examples(fields, examples))
    if limit == sides.REAL_LIMIT:
        sides.write_real_rows(data)
    ours = {name: sides.ours(fields, data, trusted=trusted, limit=limit) for name, (_, fields) in found.items()}
    told = {prompt: texts for exam in ours.values() for prompt, texts in sides.replies(exam).items()}
    paths = {name: path for name, (path, _) in found.items()}
    return Compared(ours, sides.ask_lm_eval(PYTHON, paths, data, told, examples=examples, limit=limit), told)


@pytest.fixture(scope="module")
def compared(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    return _compare(folder, tmp_path_factory.mktemp("rows"), TASKS)


@pytest.fixture(scope="module")
def compared_with_python(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    paths.LOADER.set(TrustedFunctions(os.environ))
    return _compare(folder, tmp_path_factory.mktemp("rows"), TRUSTED_TASKS, trusted=True)


def _check_prompts(found: Compared) -> None:
    for name, exam in found.ours.items():
        assert len(exam.problems) >= sides.LIMIT, name
        for ours, theirs in zip(sides.asked(exam), found.theirs[name]["asked"], strict=True):
            assert ours == theirs, name


def _check_scores(found: Compared) -> None:
    for name, exam in found.ours.items():
        card = Scorecard(exam.task, exam.task.repeats or 1, (1,))
        for problem in exam.problems:
            card.take(problem, sides.attempts(exam, problem, found.replies))
        ours = {row.metric: row.value for row in card.rows("000000")}
        assert ours == pytest.approx(_scores(found.theirs[name]["scores"], exam), abs=1e-9, rel=1e-9), name


def _scores(theirs: Mapping[str, float], exam: Exam) -> dict[str, float]:
    """lm-eval's figures under our names; shares are shown times 100 here."""
    shares = {measure.label or measure.name: metric(measure.name).share for measure in measures(exam.task)}
    told = {}
    for key, value in theirs.items():
        name, _, pipeline = key.partition(",")
        if name in shares:
            told[name if pipeline == "none" else key] = 100 * value if shares[name] else value
    assert told
    return told


def test_prompts_are_the_same_to_the_byte(compared: Compared) -> None:
    """L36, L37, L39, L41: what is sent, few-shot examples, descriptions, prefixes and options, for every task file."""
    assert len(compared.ours) >= 40
    assert len({name.split("/")[0] for name in TASKS}) >= 12
    _check_prompts(compared)


def test_scores_are_the_same(compared: Compared) -> None:
    """L1, L6 to L12, L20 to L28, L33: the same replies and likelihoods give the same figures, pipeline by pipeline."""
    _check_scores(compared)


def test_l37_examples_are_the_same_for_every_task(folder: Path, tmp_path: Path) -> None:
    """As `--num_fewshot 2` asks for them: the splits they fall back to, the draws, and a question that is drawn itself."""
    found = _compare(folder, tmp_path, TASKS, examples=2)
    _check_prompts(found)
    _check_scores(found)


def test_real_rows_give_the_same(folder: Path, tmp_path: Path) -> None:
    """Sixty rows of each benchmark file that lies beside the checkout."""
    if not sides.BENCHMARKS.is_dir():
        pytest.skip(f"There are no benchmark files at {sides.BENCHMARKS}.")
    found = _compare(folder, tmp_path, REAL_TASKS, limit=sides.REAL_LIMIT)
    assert all(len(exam.problems) == sides.REAL_LIMIT for exam in found.ours.values())
    _check_prompts(found)
    _check_scores(found)


def test_prompts_made_by_python_are_the_same(compared_with_python: Compared) -> None:
    """process_docs and doc_to_* of the tasks' authors, run in a process of their own over our stand-ins."""
    _check_prompts(compared_with_python)


def test_scores_over_rows_made_by_python_are_the_same(compared_with_python: Compared) -> None:
    """The rows that Python makes carry the right answers too; L31: process_results judges as it does there."""
    _check_scores(compared_with_python)


def test_sampling_and_stops_are_the_same(compared: Compared) -> None:
    """L39: until, temperature and the longest reply, as lm-eval passes them to an API."""
    for name, exam in compared.ours.items():
        if exam.task.kind == "generate":
            given = compared.theirs[name]["generation"]
            assert exam.task.stop == tuple(given["until"]), name
            assert exam.task.max_tokens == given.get("max_gen_toks", 256), name
            assert exam.task.temperature == given.get("temperature", 0), name
