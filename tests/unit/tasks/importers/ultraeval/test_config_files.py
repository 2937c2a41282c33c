"""UltraEval's JSON: what is a task file, what its tasks are called, and what is wrong with it."""

from typing import Any

import msgspec
import pytest

from model_accuracy_eval.errors import BadData, UnknownName
from model_accuracy_eval.tasks.importers import ultraeval_replies

FIELDS: dict[str, Any] = {
    "task_name": "tydiqa",
    "path": "datasets/tydiqa/data/tydiqa.jsonl",
    "description": "",
    "transform": "datasets/tydiqa/transform_gen_v0.py",
    "fewshot": 0,
    "generate": {"method": "generate", "params": ""},
    "postprocess": "exact_match_post",
    "metric": {
        "f1_score": {"evaluation": {"type": "f1_score"}},
        "accuracy": {"evaluation": {"type": "exact_match"}},
    },
}


def parse(file: str, *entries: Any) -> list[ultraeval_replies.Config]:
    return ultraeval_replies.parse(file, msgspec.json.encode(entries[0] if len(entries) == 1 else entries))


def test_u1_one_task_or_a_list_of_them() -> None:
    """The example of UltraEval's documentation has two metrics, no aggregation and no parameters."""
    (one,) = parse("datasets/tydiqa/config/tydiqa_gen.json", FIELDS)
    assert list(one.fields.metric) == ["f1_score", "accuracy"]
    assert [metric.aggregation for metric in one.fields.metric.values()] == [None, None]
    assert one.fields.generate.params == ""
    assert len(parse("run.json", FIELDS, FIELDS)) == 2


@pytest.mark.parametrize(
    ("file", "task", "path", "method", "name", "dataset"),
    [
        (
            "u/datasets/ARC-c/config/arc_gen.json",
            "arc_c",
            "d/ARC-c/data/x.jsonl",
            "generate",
            "arc-c_arc-c_gen",
            "arc-c",
        ),
        ("datasets/mmlu/config/x_ppl.json", "law", "", "loglikelihood", "mmlu_law_ppl", "mmlu"),
        ("run.json", "mmlu_law_ppl", "datasets/other/data/x.jsonl", "loglikelihood", "mmlu_law_ppl", "mmlu"),
        ("run.json", "law", "datasets/MMLU/data/law.jsonl", "generate", "mmlu_law_gen", "mmlu"),
        ("run.json", "law", "law.jsonl", "generate", "law_law_gen", "law"),
        ("run.json", "a b/c", "law.jsonl", "generate", "a_b_c_a_b_c_gen", "a b/c"),
    ],
)
def test_u2_names_are_made_of_dataset_task_and_method(
    file: str, task: str, path: str, method: str, name: str, dataset: str
) -> None:
    """A name that has all three is kept, and a report can always be a file of that name."""
    (one,) = parse(file, FIELDS | {"task_name": task, "path": path, "generate": {"method": method}})
    assert (one.name, one.dataset) == (name, dataset)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (msgspec.json.encode(FIELDS), True),
        (msgspec.json.encode([FIELDS, {"task_name": "x", "metric": {}}]), True),
        (b'[{"question": "1+1?", "answer": "2"}]', False),
        (b"[]", False),
        (b"{", False),
        (b"7", False),
    ],
)
def test_task_files_are_told_from_data_files(data: bytes, found: bool) -> None:
    """Rows of questions in a .json file are no tasks."""
    assert ultraeval_replies.is_config(data) is found


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        (
            {"transfrom": "x"},
            UnknownName,
            "There is no field called 'transfrom' in run.json, task 1; did you mean transform",
        ),
        ({"generate": {"metod": "x"}}, UnknownName, "There is no field called 'metod'"),
        ({"fewshot": "five"}, BadData, "run.json, task 1: expected 'int', got 'str', in $.fewshot."),
        ({"metric": {"a": {}}}, BadData, "object missing required field 'evaluation'"),
    ],
)
def test_a_field_that_cannot_be_meant_is_named(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    """With the file, the number of the task in it, and the nearest known field."""
    with pytest.raises(error) as raised:
        parse("run.json", FIELDS | change)
    assert sentence in str(raised.value)


def test_what_is_no_json_is_said_with_its_file() -> None:
    """And with what is wrong."""
    with pytest.raises(BadData, match=r"run.json is no JSON that could be read: .+"):
        ultraeval_replies.parse("run.json", b"{")
