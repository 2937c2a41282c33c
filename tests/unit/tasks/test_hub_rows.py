"""Datasets whose rows a hub has in another file than the one that is pinned: the same questions, whichever is read."""

import csv
import gzip
import io
import json
import re
from pathlib import Path

import pytest
from msgspec import structs
from tests.one_of_each import without_large
from tests.real_data import real

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.errors import BadData, MissingData
from model_accuracy_eval.hubs.file_hub import FileHub
from model_accuracy_eval.records import DataFile, DataRow, PreparedDataset, Recipe, TaskSpec
from model_accuracy_eval.tasks import preparation, rows

NAMES = ("mmlu", "mmlu_choice", "mmlu_nanochat", "arc_easy", "arc_challenge_choice", "arc_challenge_nanochat")


def built(task: TaskSpec, folder: Path) -> PreparedDataset:
    """From the files in the folder."""

    def read(file: DataFile, fields: tuple[str, ...]) -> list[DataRow]:
        return list(rows.read(file, fields, str(folder), FileHub({"MODEL_ACCURACY_EVAL_CACHE": str(folder)}), None))  # type: ignore[arg-type]

    return preparation.assemble(task, read, first=300)


def put(folder: Path, name: str, data: bytes) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def parquet(content: list[DataRow]) -> bytes:
    """Several row groups, columns in another order."""
    pyarrow = pytest.importorskip("pyarrow")
    writer = pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    table = pyarrow.Table.from_pylist([dict(reversed(row.items())) for row in content])
    writer.write_table(table, file, row_group_size=1000)
    return file.getvalue()


@pytest.mark.parametrize("name", without_large(NAMES))
def test_rows_in_parquet_are_the_same_questions(tmp_path: Path, name: str) -> None:
    """Prompts, right answers and so the version of the dataset do not depend on the file's format."""
    task = find(name)
    put(tmp_path / "jsonl", task.data.name, real(task.data))
    put(
        tmp_path / "parquet",
        f"{task.data.name.removesuffix('.jsonl')}.parquet",
        parquet(list(rows.parse(task.data.name, real(task.data), ()))),
    )
    from_hub = built(task, tmp_path / "parquet")
    own = built(task, tmp_path / "jsonl")
    assert (from_hub.version, from_hub.questions) == (own.version, own.questions)
    assert from_hub.problems == own.problems


def put_as_opencompass(folder: Path, name: str, task: TaskSpec) -> None:
    """MMLU's CSV files without a header, one a subject; the Allen Institute's questions with a stem."""
    content = rows.parse(task.data.name, real(task.data), ())
    if name == "mmlu":
        texts: dict[str, io.StringIO] = {}
        for row in content:
            cells = [row["question"], *row["choices"], "ABCD"[row["answer"]]]
            csv.writer(texts.setdefault(row["subject"], io.StringIO())).writerow(cells)
        for subject, text in texts.items():
            put(folder, f"mmlu/test/{subject}_test.csv", text.getvalue().encode())
        return
    lines = []
    for row in content:
        options = zip(row["choices"]["text"], row["choices"]["label"], strict=True)
        stem = {"stem": row["question"], "choices": [{"text": text, "label": label} for text, label in options]}
        lines.append(json.dumps({"id": row["id"], "question": stem, "answerKey": row["answerKey"]}))
    put(folder, "ARC/ARC-c/ARC-Challenge-Test.jsonl", "\n".join(lines).encode())


@pytest.mark.parametrize("name", without_large(["mmlu", "arc_challenge"]))
def test_folders_of_opencompass_are_the_same_questions(tmp_path: Path, name: str) -> None:
    """As AISBench's guides unpack them; a file by its own name comes first, and a subject that lacks is told."""
    task = find(name)
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    put_as_opencompass(theirs, name, task)
    put(ours, task.data.name, real(task.data))
    found, expected = built(task, theirs), built(task, ours)
    assert (found.version, found.questions, found.problems) == (expected.version, expected.questions, expected.problems)
    put(theirs, task.data.name, b"{}")
    with pytest.raises(BadData, match=re.escape(task.data.name)):
        built(task, theirs)
    (theirs / task.data.name).unlink()
    if name == "mmlu":
        put(theirs, "mmlu/test/anatomy_test.csv", b"What?,1,2,3,4,B\n")
        with pytest.raises(
            BadData, match=r"and 54 more does not have the rows that .*: it has 13,908 rows .* known are 14,042"
        ):
            built(task, theirs)
        put(theirs, "mmlu/test/anatomy_test.csv", b"What?,1,2,3,4\n")
        with pytest.raises(BadData, match=r"anatomy_test\.csv, row 1: a question, four options and one of the letters"):
            built(task, theirs)
        (theirs / "mmlu/test/anatomy_test.csv").unlink()
        with pytest.raises(MissingData, match=r"There is no data file 'mmlu/test/anatomy_test\.csv'"):
            built(task, theirs)


def test_a_file_that_is_another_is_not_passed_over(tmp_path: Path) -> None:
    """Whoever puts one under --data-dir means it: it is refused, and nothing else is read in its place."""
    put(tmp_path, "mmlu/test.jsonl.gz", gzip.compress(b'{"question": "?"}\n'))
    with pytest.raises(BadData, match=r"mmlu/test\.jsonl\.gz, line 1: the field 'subject' is missing"):
        built(find("mmlu"), tmp_path)


KNOWN = [task.data for task in map(find, ("gsm8k", "arc_easy", "arc_challenge"))] + [shots.data for task in map(find, ("gsm8k_4shot", "mmlu_choice_5shot")) if (shots := task.prompt.fewshot) and shots.data]  # fmt: skip


@pytest.mark.parametrize("file", KNOWN, ids=[file.name for file in KNOWN])
def test_known_rows_are_known_by_other_bytes(tmp_path: Path, file: DataFile) -> None:
    """Keys in another order and a further column do not matter; a row that lacks, or changed, or moved, does."""
    assert file.pin is not None
    right = list(rows.parse(file.name, real(file), ()))

    def read(content: list[DataRow]) -> list[DataRow]:
        lines = [json.dumps({"more": 1, **dict(reversed(row.items()))}) for row in content]
        put(tmp_path, file.name, "\r\n".join(lines).encode())
        hub = FileHub({"MODEL_ACCURACY_EVAL_CACHE": str(tmp_path)})
        return list(rows.read(file, file.pin.columns if file.pin else (), str(tmp_path), hub, None))  # type: ignore[arg-type]

    assert [{**row, "more": 1} for row in right] == read(right)
    changed = [{**right[0], "question": right[0]["question"] + " "}, *right[1:]]
    for other in (right[:-1], changed, [right[1], right[0], *right[2:]]):
        with pytest.raises(BadData) as error:
            read(other)
        assert f"does not have the rows that '{file.name}' stands for: it has {len(other):,} rows" in str(error.value)
        assert f"known are {len(right):,} with {file.pin.sha256[:12]}…" in error.value.sentence


def test_rows_that_python_makes_are_not_excused_from_the_pin(tmp_path: Path) -> None:
    """Nobody would compare them."""
    file = structs.replace(find("gsm8k").data, recipe=Recipe(folder="."))
    put(tmp_path, file.name, b'{"question": "?", "answer": "1"}')
    with pytest.raises(BadData, match="does not have the rows that 'gsm8k/test.jsonl' stands for"):
        rows.read(file, (), str(tmp_path), FileHub({"MODEL_ACCURACY_EVAL_CACHE": str(tmp_path)}), None)  # type: ignore[arg-type]


def test_where_neither_is_here_the_one_that_can_be_fetched_is_named(tmp_path: Path) -> None:
    """With how to get it."""
    with pytest.raises(
        MissingData, match="rows of 'mmlu/test.parquet' are not on this machine. `run` fetches them from hf:"
    ):
        built(find("mmlu"), tmp_path)
