"""The process of a task's Python: makes rows, or loads what is named and calls it when it is asked to."""

import importlib.util
import inspect
import os
import pickle
import random
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from model_accuracy_eval.records import JSONObject, Recipe, Transform
from model_accuracy_eval.trusted_python import stand_ins
from model_accuracy_eval.trusted_python.child_process import (
    LENGTH_BYTES,
    Call,
    ChildReply,
    Describe,
    Failed,
    FunctionSignature,
    MissingFile,
    RecordMembers,
    RowsMade,
    RowsWanted,
    pack_reply,
    plain,
    returned,
    rows_to_json,
    unsealed,
)
from model_accuracy_eval.trusted_python.stand_ins import (
    Dataset,
    DatasetLoader,
    MissingRows,
)
from model_accuracy_eval.trusted_python.task_imports import (
    Placeholder,
    check_placeholders,
    forget_placeholders,
    install,
    load_function,
    not_installed,
)

_TRANSFORM_COLUMNS = ("input", "output", "processed_output")


def main() -> None:
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the task prints must not get among the replies
    installed = False
    while length := requests.read(LENGTH_BYTES):
        request = pickle.loads(requests.read(int.from_bytes(length, "big")))  # noqa: S301 - from our own process
        if not installed:
            # What is installed among this process's imports reaches nobody else.
            rows = {"load_dataset": DatasetLoader(request.files)} if isinstance(request, RowsWanted) else {}
            install(sys.argv[2], **rows)
            installed = True
        replies.write(pack_reply(_reply(request)))
        replies.flush()


def _reply(request: RowsWanted | Describe | Call) -> ChildReply:
    try:
        if isinstance(request, RowsWanted):
            return _make_rows(request)
        return _describe(request.path) if isinstance(request, Describe) else _call(request)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, the other side raises it
        return Failed(f"{type(error).__name__}: {error}", traceback.format_exc())


def _describe(path: str) -> ChildReply:
    found = _load(path)
    if is_dataclass(found) and not isinstance(found, type):
        members = {field.name: getattr(found, field.name) for field in fields(found)}
        return RecordMembers(
            functions=[name for name, value in members.items() if callable(value)],
            values={name: plain(value) for name, value in members.items() if not callable(value)},
        )
    parameters = inspect.signature(found).parameters.values()
    return FunctionSignature(
        [(parameter.name, int(parameter.kind), parameter.default is parameter.empty) for parameter in parameters]
    )


def _call(request: Call) -> ChildReply:
    function = _load(request.path)
    forget_placeholders()
    reply = returned(
        function(
            *(unsealed(value) for value in request.args),
            **{name: unsealed(value) for name, value in request.kwargs.items()},
        )
    )
    check_placeholders()
    return reply


@cache
def _load(path: str) -> Any:
    """`file.py:function`, `package.module:function`, and of a record `file.py:record.member`.

    A class of filters is called as a function.
    """
    place, _, name = path.rpartition(":")
    first, *members = name.split(".")
    found = _load_name(place, first)
    random.seed(0)
    for member in members:
        found = getattr(found, member)
    if isinstance(found, Placeholder):
        raise ImportError(not_installed(place))  # noqa: TRY004 - it is no wrong type
    if isinstance(found, type) and hasattr(found, "apply"):
        return stand_ins.as_function(found)
    return found


def _load_name(place: str, name: str) -> Any:
    """What the module has under the name, else the filter that it registered."""
    if not place.endswith(".py"):
        return getattr(importlib.import_module(place), name)
    file = Path(place)
    try:
        return load_function(str(file.parent), f"{file.stem}.{name}")
    except AttributeError:
        if name not in stand_ins.REGISTERED:
            raise
        return stand_ins.REGISTERED[name]


def _make_rows(job: RowsWanted) -> ChildReply:
    try:
        rows = _changed_rows(_source_rows(job), job.recipe)
        made = rows_to_json(_with_columns(rows, job.recipe))
        check_placeholders()
    except MissingRows as missing:
        return MissingFile(missing.name)
    return RowsMade(made)


def _source_rows(job: RowsWanted) -> Iterable[JSONObject]:
    """The rows of the file, or those that a function of the task returns."""
    recipe = job.recipe
    if not recipe.loader:
        return Dataset(job.rows)
    rows = load_function(recipe.folder, recipe.loader)(**recipe.loader_args)
    return Dataset(rows if recipe.split is None else rows[recipe.split])


def _changed_rows(rows: Iterable[JSONObject], recipe: Recipe) -> Iterable[JSONObject]:
    """What the task's functions over all rows make of them."""
    if recipe.rows:
        rows = load_function(recipe.folder, recipe.rows)(rows)
    if recipe.transform:
        rows = _transformed_rows(rows, recipe.folder, recipe.transform)
    return rows


def _with_columns(rows: Iterable[JSONObject], recipe: Recipe) -> Iterator[JSONObject]:
    """Each row with its further columns."""
    functions = {column: load_function(recipe.folder, name) for column, name in recipe.columns.items()}
    for row in rows:
        columns = {column: function(dict(row)) for column, function in functions.items()}
        if isinstance(columns.get("doc_to_text"), int):
            raise TypeError(
                "doc_to_text gives a number, which stands for one of several contexts; that is not supported here"
            )
        yield {**row, **columns}


def _transformed_rows(rows: Iterable[JSONObject], folder: str, transform: Transform) -> Iterator[JSONObject]:
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
