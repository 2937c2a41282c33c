"""Prompts that are longer than the model's context: every command goes on, and the report says what was lost."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from msgspec import structs
from tests.e2e import command
from tests.servers.hash_model import HashModel
from tests.servers.likelihood_server import VLLM, LikelihoodServer, Style
from tests.small_task import small_task

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import DataFile, TaskSpec

JSON = dict[str, Any]
CONTEXT = 2048
LONGEST = CONTEXT - 1
"""The model generates one token behind each prompt."""
PROBLEMS, LONG = 14, 6
LIKE = {"long_options": "core_hellaswag", "long_endings": "core_squad"}
"""Tasks of these tests, asked like those of CORE, whose rows are pinned."""
TASKS = tuple(LIKE)
"""Ten examples before each question: one weighs options, the other asks for the greedy ending."""
BY_IDS = replace(VLLM, context=CONTEXT)
CROPPED = (
    f"{LONG} contexts were longer than the {LONGEST:,} tokens that the model reads at once, and lost their beginning."
)


class ShortMemory(HashModel):
    """Remembers sixteen tokens, so that two thousand cost little."""

    def _compute(self, ids: tuple[int, ...]) -> npt.NDArray[np.float64]:
        return super()._compute(ids[-16:])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Rows of five lengths, so that some prompts fit and others do not."""
    folder = tmp_path / "data"
    folder.mkdir()
    texts = [
        f"Question {number}: " + "the cat is a mat Paris London" * (13 * (number % 5)) for number in range(PROBLEMS)
    ]
    options: list[JSON] = [
        {"query": text, "choices": ["Rome", "Paris York", "a"], "gold": number % 3} for number, text in enumerate(texts)
    ]
    endings: list[JSON] = [{"context": f"{text}\nAnswer:", "continuation": "Rome"} for text in texts]
    for (name, like), rows in zip(LIKE.items(), (options, endings), strict=True):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        task = structs.replace(find(like), name=name, data=DataFile(name=f"{name}.jsonl"), aliases=())
        (folder / f"{name}.yaml").write_bytes(msgspec.json.encode(_without_defaults(task)))
    return folder


def _without_defaults(task: TaskSpec) -> JSON:
    """The fields of a task file: what differs from a task that says nothing."""
    silent = small_task("")
    values = {name: getattr(task, name) for name in TaskSpec.__struct_fields__}
    return {name: value for name, value in values.items() if value != getattr(silent, name)}


def evaluate(style: Style, data: Path, out: Path, *more: object, code: int = 0) -> Path:
    tasks = ",".join(f"{data}/{name}.yaml" for name in TASKS)
    with LikelihoodServer(ShortMemory(), style=style) as server:
        done = command.run("run", "--endpoint", server.url, "--datasets", tasks, "-n", 1, "--out", out, *more)
    assert done.code == code, done.err
    return command.only_run(out)


def dataset(folder: Path, task: str) -> JSON:
    """What the report says about a dataset, without what a clock says."""
    entry = command.facts(folder)["datasets"][task]
    return {name: value for name, value in entry.items() if name != "speed"}


def crops(folder: Path, task: str) -> list[int]:
    """Of each sample with an answer: to how many tokens a prompt of it was cropped, or 0."""
    view = json.loads((folder / f"predictions/{command.LABEL}/{task}.json").read_text())
    return [max(entry.get("cropped_to", 0) for entry in problem["loglikelihoods"]) for problem in view.values()]


def test_a_cropped_prompt_goes_through_every_command(data: Path, tmp_path: Path) -> None:
    """Run, report again, resume, compare, shards and merge: the same counts everywhere."""
    single = evaluate(BY_IDS, data, tmp_path / "single")
    for task in TASKS:
        assert sorted(crops(single, task)) == [0] * (PROBLEMS - LONG) + [LONGEST] * LONG
        said = dataset(single, task)
        assert (said["counts"]["answered"], said["counts"]["cropped"]) == (PROBLEMS, LONG)
        assert CROPPED in said["notes"]
        assert CROPPED in (single / "report.html").read_text()
        assert task in next((single / "summary").glob("*.csv")).read_text()
    files = {path: path.read_bytes() for path in single.rglob("*.csv")}
    (single / "report.html").unlink()
    again = command.run("report", single)
    assert (again.code, CROPPED in (single / "report.html").read_text()) == (0, True), again.err
    assert {path: path.read_bytes() for path in files} == files

    stopped = tmp_path / "stopped" / single.name
    shutil.copytree(single, stopped)
    for task in TASKS:
        journal = stopped / f"predictions/{command.LABEL}/{task}.jsonl"
        journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[: PROBLEMS // 2]))
    (stopped / "manifest.sha256").unlink()  # a run that was stopped has none
    facts = stopped / "run.json"
    facts.write_bytes(facts.read_bytes().replace(b'"status": "complete"', b'"status": "running"'))
    evaluate(BY_IDS, data, stopped.parent, "--reuse", stopped)
    parts = [evaluate(BY_IDS, data, tmp_path / f"s{index}", "--shard", f"{index}/2") for index in range(2)]
    merged = command.run("merge", *parts, "--out", tmp_path / "merged")
    assert merged.code == 0, merged.err
    for folder in (stopped, command.only_run(tmp_path / "merged")):
        assert [dataset(folder, task) for task in TASKS] == [dataset(single, task) for task in TASKS]

    longer = evaluate(replace(BY_IDS, context=2 * CONTEXT), data, tmp_path / "longer")
    assert [crops(longer, task) for task in TASKS] == [[0] * PROBLEMS] * len(TASKS)
    compared = command.run("compare", single, longer)
    assert (compared.code, compared.out.count(f"{LONG} → 0 with a cropped context")) == (0, len(TASKS)), compared
