"""Task files as lm-evaluation-harness ships them: the same prompts to the byte, the same scores to nine digits.

The other side is the real program in two versions, each in an environment of its own; `make parity` brings all together.
"""

import os
from pathlib import Path

import pytest
from tests.parity import next_manner, sides
from tests.parity.comparing import Compared, both, check_directions, check_prompts, check_scores, judged, unlike
from tests.parity.conftest import Oracle
from tests.parity.families import REAL_TASKS, TASKS, TRUSTED_TASKS

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.trusted_python.trusted_functions import TrustedFunctions


def _compare(
    oracle: Oracle,
    data: Path,
    names: list[str],
    *,
    trusted: bool = False,
    examples: int | None = None,
    limit: int = sides.LIMIT,
) -> Compared:
    left_out = next_manner.LEFT_OUT.keys() | next_manner.STOPS.keys() if oracle.is_next else set()
    found = sides.task_fields(oracle.folder, [name for name in names if name not in left_out])
    for name, (path, fields) in found.items():
        sides.write_rows(data, fields)
        found[name] = (path, fields if examples is None else sides.with_examples(fields, examples))
    if limit == sides.REAL_LIMIT:
        sides.write_real_rows(data)
    files = {name: path.parent for name, (path, _) in found.items()}
    fields_of = {name: fields for name, (_, fields) in found.items()}
    return both(oracle, fields_of, sides.Job(files, data, examples=examples, limit=limit), trusted=trusted)


@pytest.fixture(scope="module")
def compared(oracle: Oracle, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    return _compare(oracle, tmp_path_factory.mktemp("rows"), TASKS)


@pytest.fixture(scope="module")
def compared_with_examples(oracle: Oracle, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    return _compare(oracle, tmp_path_factory.mktemp("rows"), TASKS, examples=2)


@pytest.fixture(scope="module")
def compared_with_python(oracle: Oracle, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    user_functions.LOADER.set(TrustedFunctions(os.environ))
    names = TRUSTED_TASKS + (next_manner.READ_NOW if oracle.is_next else [])
    return _compare(oracle, tmp_path_factory.mktemp("rows"), names, trusted=True)


def test_prompts_are_the_same_to_the_byte(compared: Compared) -> None:
    """L36, L37, L39, L41: what is sent, few-shot examples, descriptions, prefixes and options, for every task file."""
    assert len(compared.ours) >= 40
    assert len({name.split("/")[0] for name in TASKS}) >= 12
    check_prompts(compared)


def test_scores_are_the_same(compared: Compared) -> None:
    """L1, L6 to L12, L20 to L28, L33: the same replies and likelihoods give the same figures, pipeline by pipeline."""
    check_scores(compared)
    check_directions(compared)


def test_l37_examples_are_the_same_for_every_task(compared_with_examples: Compared) -> None:
    """As `--num_fewshot 2` asks for them: the splits they fall back to, the draws, and a question that is drawn itself."""
    check_prompts(compared_with_examples)
    check_scores(compared_with_examples)


def test_real_rows_give_the_same(oracle: Oracle, tmp_path: Path) -> None:
    """Sixty rows of each benchmark file that lies beside the checkout."""
    if not sides.BENCHMARKS.is_dir():
        pytest.skip(f"There are no benchmark files at {sides.BENCHMARKS}.")
    found = _compare(oracle, tmp_path, REAL_TASKS, limit=sides.REAL_LIMIT)
    assert all(len(prepared.problems) == sides.REAL_LIMIT for prepared in found.ours.values())
    check_prompts(found)
    check_scores(found)


def test_prompts_made_by_python_are_the_same(compared_with_python: Compared) -> None:
    """process_docs and doc_to_* of the tasks' authors, run in a process of their own over our stand-ins."""
    check_prompts(compared_with_python)


def test_scores_over_rows_made_by_python_are_the_same(compared_with_python: Compared) -> None:
    """The rows that Python makes carry the right answers too; L31: process_results judges as it does there."""
    check_scores(compared_with_python)


def test_sampling_and_stops_are_the_same(compared: Compared) -> None:
    """L39: until, temperature and the longest reply, as lm-eval passes them to an API."""
    for name, prepared in compared.ours.items():
        if prepared.task.kind == "generate":
            given = compared.theirs[name]["generation"]
            assert prepared.task.stop == tuple(given["until"]), name
            assert prepared.task.max_tokens == given.get("max_gen_toks", 256), name
            assert prepared.task.temperature == given.get("temperature", 0), name


def test_no_other_task_is_unlike_in_the_next_version(
    oracle: Oracle, compared: Compared, compared_with_examples: Compared, compared_with_python: Compared
) -> None:
    """Which tasks 0.5.0.dev1 asks or judges otherwise is written down task by task, and 0.4.13 has none of them."""
    known = (next_manner.UNLIKE, next_manner.UNLIKE_WITH_EXAMPLES, next_manner.UNLIKE_WITH_PYTHON)
    for found, written in zip((compared, compared_with_examples, compared_with_python), known, strict=True):
        assert set(unlike(found)) == (written.keys() if oracle.is_next else set())


def test_what_is_left_out_of_the_next_version_stops_here_too(next_oracle: Oracle, tmp_path: Path) -> None:
    """Rows without options, and Python that wants a pair where it is given a number."""
    user_functions.LOADER.set(TrustedFunctions(os.environ))
    found = sides.task_fields(next_oracle.folder, ["bigbench/multiple_choice/causal_judgment", "wikitext/wikitext"])
    for _, fields in found.values():
        sides.write_rows(tmp_path, fields)
    options, texts = (fields for _, fields in found.values())
    with pytest.raises(BadData, match="is not in list"):
        sides.ours(options, tmp_path, trusted=True, limit=sides.LIMIT)
    prepared = sides.ours(texts, tmp_path, trusted=True, limit=sides.LIMIT)
    with pytest.raises(BadData, match="cannot unpack non-iterable float"):
        judged(prepared, Compared({}, {}, {}, {}))
