"""The process that makes a task's rows: a job on standard input, the rows that the task's functions make on output.

This process is the task's alone: what is installed among its imports reaches nobody else.
"""

import os
import random
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from model_accuracy_eval.records import JSONObject, Recipe, Transform
from model_accuracy_eval.trusted_python import task_imports
from model_accuracy_eval.trusted_python.child_process import RowsJob, RowsResult
from model_accuracy_eval.trusted_python.stand_ins import Dataset, DatasetLoader, MissingRows
from model_accuracy_eval.trusted_python.task_imports import load_function

_TRANSFORM_COLUMNS = ("input", "output", "processed_output")


def main() -> None:
    job = RowsJob.from_json(sys.stdin.buffer.read())
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the task prints must not get among the rows
    task_imports.install(job.recipe.folder, job.stand_ins, load_dataset=DatasetLoader(job.files))
    try:
        rows = changed_rows(source_rows(job), job.recipe)
        result = RowsResult(rows=list(with_columns(rows, job.recipe)))
        task_imports.check_placeholders()
    except MissingRows as missing:
        result = RowsResult(missing_file=missing.name)
    output.write(result.to_json())
    output.close()


def source_rows(job: RowsJob) -> Iterable[JSONObject]:
    """The rows of the file, or those that a function of the task returns."""
    recipe = job.recipe
    if not recipe.loader:
        return Dataset(job.rows)
    rows = load_function(recipe.folder, recipe.loader)(**recipe.loader_args)
    return Dataset(rows if recipe.split is None else rows[recipe.split])


def changed_rows(rows: Iterable[JSONObject], recipe: Recipe) -> Iterable[JSONObject]:
    """What the task's functions over all rows make of them."""
    if recipe.rows:
        rows = load_function(recipe.folder, recipe.rows)(rows)
    if recipe.transform:
        rows = transformed_rows(rows, recipe.folder, recipe.transform)
    return rows


def with_columns(rows: Iterable[JSONObject], recipe: Recipe) -> Iterator[JSONObject]:
    """Each row with its further columns."""
    functions = {column: load_function(recipe.folder, name) for column, name in recipe.columns.items()}
    for row in rows:
        columns = {column: function(dict(row)) for column, function in functions.items()}
        if isinstance(columns.get("doc_to_text"), int):
            raise TypeError(
                "doc_to_text gives a number, which stands for one of several contexts; that is not supported here"
            )
        yield {**row, **columns}


def transformed_rows(rows: Iterable[JSONObject], folder: str, transform: Transform) -> Iterator[JSONObject]:
    """Calls UltraEval's transform once for each row; what it returns becomes columns.

    Every row has a random generator of its own, so that a slice gets the same questions as the whole dataset.
    """
    function = load_function(folder, transform.function)
    for index, row in enumerate(rows):
        generator = random.Random(transform.seed + index)  # noqa: S311 - an order of options, no secret
        columns = function(dict(row), transform.shots, generator, transform.task)
        missing = [name for name in _TRANSFORM_COLUMNS if name not in columns]
        if missing:
            raise KeyError(f"of row {index + 1}, the transform gives no '{missing[0]}'")
        answers = columns["processed_output"]
        yield {
            **row,
            "input": columns["input"],
            "output": _example_answer(columns["output"], transform.shots),
            "answers": [str(answer) for answer in answers] if isinstance(answers, list) else [str(answers)],
        }


def _example_answer(output: Any, shots: int) -> str:
    """The answer of a solved example: the first of several."""
    first = output[0] if isinstance(output, list) and output else output
    if shots and not isinstance(first, str):
        raise TypeError(f"the transform's output is {output!r}, but a solved example shows a text")
    return str(first)
