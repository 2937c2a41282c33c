"""The published schema of task files and their reader: what the one takes, the other takes, too."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.tasks import task_file

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/reference/task.schema.json").read_bytes())
TASK = {
    "name": "sums",
    "about": "Sums.",
    "data": {"name": "sums.jsonl"},
    "fields": ["question"],
    "prompt": {"question": "{{ question }}"},
    "reference": "{{ solution }}",
}
EXEC = {
    "tests": "{checks}",
    "solution": "{solution}",
    "entry_points": ["total"],
    "files": {"data/cities.csv": "name,people\n"},
    "mode": "shared",
    "seconds": 3.5,
    "filters": [{"name": "python_code"}],
}


def fits(task: dict[str, Any]) -> bool:
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(task)


def reads(task: dict[str, Any]) -> bool:
    try:
        task_file.from_fields("sums.yaml", task)
    except EvalError:
        return False
    return True


@pytest.mark.parametrize(
    ("more", "taken"),
    [
        ({}, True),
        ({"exec": EXEC}, True),
        ({"exec": {}}, True),
        ({"pipelines": [{"metrics": [{"name": "code"}]}]}, True),
        ({"exec": EXEC, "pipelines": []}, False),
        ({"exec": {**EXEC, "test": "x"}}, False),
        ({"exec": "assert f()"}, False),
        ({"exce": EXEC}, False),
    ],
)
def test_the_schema_takes_what_the_reader_takes(more: dict[str, Any], taken: bool) -> None:
    """`exec` replaces pipelines, with the fields of a program and no other."""
    assert (fits({**TASK, **more}), reads({**TASK, **more})) == (taken, taken)
