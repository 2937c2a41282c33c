"""What goes through the pipe between us and the process that runs a task's Python.

It is told anything that can be pickled. What it tells is read without ever calling anything: numbers, texts, and
tuples, lists and mappings of them; programs and questions come as their fields. Whatever else a function gives stays
sealed, and goes back as it came.
"""

import io
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.records.judge import Question

_ASKS: dict[str, type[Question | Program]] = {"Question": Question, "Program": Program}

LENGTH = 8
"""Bytes in front of each message that say how long it is."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A value that only the process that made it can open."""

    data: bytes


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"the task's Python told of {module}.{name}, which is no plain value")


def framed(message: object) -> bytes:
    data = pickle.dumps(message)
    return len(data).to_bytes(LENGTH, "big") + data


def read(data: bytes) -> Any:
    """A message of the other process, of plain values alone."""
    return _Reader(io.BytesIO(data)).load()


def told(value: Any) -> tuple[str, Any]:
    """What a function gave, as it can be told: asks by their fields, plain values as they are, all else sealed."""
    several = value if isinstance(value, tuple) else (value,)
    if several and all(isinstance(one, Question | Program) for one in several):
        return "asks", [(type(one).__name__, msgspec.to_builtins(one)) for one in several]
    try:
        return "plain", plain(value)
    except TypeError:
        return "sealed", pickle.dumps(value)


def asks(path: str, value: list[tuple[str, Any]]) -> tuple[Question | Program, ...]:
    """What the function wants to be found out, made here of plain values."""
    try:
        return tuple(msgspec.convert(fields, _ASKS[kind]) for kind, fields in value)
    except msgspec.ValidationError as error:
        raise BadData(f"The task's Python {path} asks for something malformed: {error}.") from error


def plain(value: Any) -> Any:
    """The same of Python's own kinds; numbers of NumPy are numbers."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {plain(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        kind = list if isinstance(value, list) else tuple
        return kind(map(plain, value))
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return plain(value.item())
    raise TypeError(type(value))


def opened(value: Any) -> Any:
    """The same with everything that was sealed as it was before."""
    if isinstance(value, Sealed):
        return pickle.loads(value.data)  # noqa: S301 - its own pickle, back in the process that made it
    if isinstance(value, list | tuple):
        return type(value)(map(opened, value)) if not hasattr(value, "_fields") else value
    return value
