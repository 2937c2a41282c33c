"""The child's side of functions: loads what is named, and calls it as often as it is asked to, until its input ends."""

import importlib
import inspect
import os
import pickle
import random
import sys
import traceback
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from model_accuracy_eval.rim.python_tasks import child, stand_ins, wire


def main() -> None:
    asked, answer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the task prints is no answer
    stand_ins.install(sys.argv[2])
    while head := asked.read(wire.LENGTH):
        job = pickle.loads(asked.read(int.from_bytes(head, "big")))  # noqa: S301 - what our own process says
        answer.write(wire.framed(_done(*job)))
        answer.flush()


def _done(verb: str, *job: Any) -> tuple[str, Any, str]:
    """How it went, what came of it, and where it failed."""
    try:
        kind, value = _described(*job) if verb == "describe" else _called(*job)
    except Exception as error:  # noqa: BLE001 - whatever it is, the other side tells it
        return "failed", f"{type(error).__name__}: {error}", traceback.format_exc()
    return kind, value, ""


def _described(path: str) -> tuple[str, Any]:
    """The parameters of a function, or the members of a record."""
    found = _found(path)
    if is_dataclass(found) and not isinstance(found, type):
        members = {field.name: getattr(found, field.name) for field in fields(found)}
        return "record", {name: None if callable(one) else wire.plain(one) for name, one in members.items()}
    parameters = inspect.signature(found).parameters.values()
    return "function", [(one.name, int(one.kind), one.default is one.empty) for one in parameters]


def _called(path: str, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[str, Any]:
    return wire.told(_found(path)(*wire.opened(args), **{name: wire.opened(one) for name, one in named.items()}))


@cache
def _found(path: str) -> Callable[..., Any]:
    """`file.py:function`, `package.module:function`, and of a record `file.py:record.member`."""
    place, _, name = path.rpartition(":")
    first, *further = name.split(".")
    file = Path(place)
    if place.endswith(".py"):
        found = child.function(str(file.parent), f"{file.stem}.{first}")
    else:
        found = getattr(importlib.import_module(place), first)
    random.seed(0)
    for member in further:
        found = getattr(found, member)
    if isinstance(found, stand_ins.Placeholder):
        raise ImportError(f"{place} is not installed where the task's Python runs")  # noqa: TRY004 - that is what it is
    return found
