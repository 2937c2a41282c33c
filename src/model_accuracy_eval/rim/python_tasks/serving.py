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

from model_accuracy_eval.rim.python_tasks import child, filters, placeholders, stand_ins, wire


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
        return "record", {name: _member(one) for name, one in members.items()}
    parameters = inspect.signature(found).parameters.values()
    return "function", [(one.name, int(one.kind), one.default is one.empty) for one in parameters]


def _member(value: Any) -> tuple[str, Any]:
    return ("function", None) if callable(value) else ("plain", wire.plain(value))


def _called(path: str, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[str, Any]:
    function = _found(path)
    placeholders.LOOKED_AT.clear()
    told = wire.told(function(*wire.opened(args), **{name: wire.opened(one) for name, one in named.items()}))
    placeholders.check()
    return told


@cache
def _found(path: str) -> Callable[..., Any]:
    """`file.py:function`, `package.module:function`, and of a record `file.py:record.member`.

    A class of filters is called as a function.
    """
    place, _, name = path.rpartition(":")
    first, *further = name.split(".")
    found = _named(place, first)
    random.seed(0)
    for member in further:
        found = getattr(found, member)
    if isinstance(found, placeholders.Placeholder):
        raise ImportError(f"{place} is not installed where the task's Python runs")  # noqa: TRY004 - that is what it is
    return filters.called(found) if isinstance(found, type) and hasattr(found, "apply") else found


def _named(place: str, name: str) -> Any:
    """What the module has under the name, else the filter that it registered."""
    if not place.endswith(".py"):
        return getattr(importlib.import_module(place), name)
    file = Path(place)
    try:
        return child.function(str(file.parent), f"{file.stem}.{name}")
    except AttributeError:
        if name not in filters.REGISTERED:
            raise
        return filters.REGISTERED[name]
