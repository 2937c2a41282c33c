"""The process of a task's functions: loads what is named, and calls it when it is asked to, until its input ends."""

import importlib
import inspect
import os
import pickle
import random
import sys
import traceback
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from model_accuracy_eval.trusted_python import stand_ins, task_imports
from model_accuracy_eval.trusted_python.child_process import (
    LENGTH_BYTES,
    Call,
    Describe,
    Failed,
    FunctionReply,
    FunctionSignature,
    RecordMembers,
    pack_reply,
    plain,
    returned,
    unsealed,
)


def main() -> None:
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the task prints must not get among the replies
    task_imports.install(sys.argv[2])
    while length := requests.read(LENGTH_BYTES):
        request = pickle.loads(requests.read(int.from_bytes(length, "big")))  # noqa: S301 - from our own process
        replies.write(pack_reply(_reply(request)))
        replies.flush()


def _reply(request: Describe | Call) -> FunctionReply:
    try:
        return _describe(request.path) if isinstance(request, Describe) else _call(request)
    except Exception as error:  # noqa: BLE001 - whatever it is, the other side raises it
        return Failed(f"{type(error).__name__}: {error}", traceback.format_exc())


def _describe(path: str) -> FunctionReply:
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


def _call(request: Call) -> FunctionReply:
    function = _load(request.path)
    task_imports.forget_placeholders()
    reply = returned(
        function(
            *(unsealed(value) for value in request.args),
            **{name: unsealed(value) for name, value in request.kwargs.items()},
        )
    )
    task_imports.check_placeholders()
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
    if isinstance(found, task_imports.Placeholder):
        raise ImportError(task_imports.not_installed(place))  # noqa: TRY004 - it is no wrong type
    if isinstance(found, type) and hasattr(found, "apply"):
        return stand_ins.as_function(found)
    return found


def _load_name(place: str, name: str) -> Any:
    """What the module has under the name, else the filter that it registered."""
    if not place.endswith(".py"):
        return getattr(importlib.import_module(place), name)
    file = Path(place)
    try:
        return task_imports.load_function(str(file.parent), f"{file.stem}.{name}")
    except AttributeError:
        if name not in stand_ins.REGISTERED:
            raise
        return stand_ins.REGISTERED[name]
