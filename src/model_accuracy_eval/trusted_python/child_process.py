"""The process of a task's Python: how it is started, and the messages that it gets and sends.

It starts in an empty folder, and of our environment it has only PATH. It gets anything that can be pickled, and what it
sends is read without ever calling anything: numbers, texts, and tuples, lists and mappings of them. Any other value
that a function returns stays sealed: only the process that made it opens it again.
"""

import io
import json
import os
import pickle
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import JSONObject, Media, Question, Recipe
from model_accuracy_eval.records.code import Program

_PACKAGE = str(Path(__file__).parents[3])

LENGTH_BYTES = 8
"""In front of each message of functions: how long it is."""


_CODE = """
import sys
sys.path.insert(0, sys.argv[1])
from model_accuracy_eval.trusted_python import child
child.main()
"""


def command(folder: str) -> list[str]:
    """Runs `child` in an interpreter that sees our package and the installed ones."""
    return [sys.executable, "-I", "-B", "-c", _CODE, _PACKAGE, folder]


def child_environment(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    path = environment.get("PATH", os.defpath)
    return {"PATH": path, "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8", "PYTHONUTF8": "1"}


_MEDIA = "model_accuracy_eval.records.Media"
"""The only key of an object that stands for a picture; functions may pass pictures on, and see nothing of them."""


def rows_to_json(rows: Iterable[JSONObject]) -> bytes:
    """By Python's own library, which knows NaN and 2**80."""
    return json.dumps(list(rows), default=_plain_data).encode()


def rows_from_json(data: bytes) -> list[JSONObject]:
    rows: list[JSONObject] = json.loads(data, object_hook=_with_media if _MEDIA.encode() in data else None)
    return rows


def _with_media(fields: JSONObject) -> object:
    return msgspec.convert(fields[_MEDIA], Media) if fields.keys() == {_MEDIA} else fields


def _plain_data(value: object) -> object:
    """What JSON cannot write by itself."""
    if isinstance(value, Media):
        return {_MEDIA: msgspec.to_builtins(value)}
    for method in ("tolist", "to_list", "isoformat"):
        if hasattr(value, method):
            return getattr(value, method)()
    raise TypeError(f"a row holds {value!r}, which is no plain data")


class RowsWanted(msgspec.Struct, frozen=True, kw_only=True):
    """To a process of its own: make the rows of this recipe."""

    recipe: Recipe
    rows: list[JSONObject]
    """Of the recipe's file."""
    files: dict[str, list[JSONObject]]
    """Rows of other files, which an earlier process asked for."""


class Describe(msgspec.Struct, frozen=True):
    """To the process of functions: what is there under this path?"""

    path: str


class Call(msgspec.Struct, frozen=True):
    """To the process of functions: call the function with these values, some of which it may have sealed itself."""

    path: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class _Reply(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """From the process."""


class Failed(_Reply, frozen=True):
    sentence: str
    traceback: str


class RowsMade(_Reply, frozen=True):
    data: bytes


class MissingFile(_Reply, frozen=True):
    """Its rows are needed first."""

    name: str


class FunctionSignature(_Reply, frozen=True):
    parameters: list[tuple[str, int, bool]]
    """Name, kind (as a number of `inspect`), and whether it must be given."""


class RecordMembers(_Reply, frozen=True):
    """Of a dataclass instance: the names of its functions, and its other members as they are."""

    functions: list[str]
    values: dict[str, Any]


class PlainValue(_Reply, frozen=True):
    value: Any


class Sealed(_Reply, frozen=True):
    """A value that only the process that made it can open."""

    data: bytes


class Asks(_Reply, frozen=True):
    """Programs to run and questions for a judge: the name of each record, and its fields."""

    records: list[tuple[str, JSONObject]]


ChildReply = Failed | RowsMade | MissingFile | FunctionSignature | RecordMembers | PlainValue | Sealed | Asks

_ASKS: dict[str, type[Question | Program]] = {"Question": Question, "Program": Program}


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it names {module}.{name}, which is no plain value")


def pack(message: object) -> bytes:
    data = pickle.dumps(message)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


def pack_reply(reply: ChildReply) -> bytes:
    """The reply as plain values: the name of its type, then its fields."""
    return pack((type(reply).__name__, *msgspec.structs.astuple(reply)))


def read_reply(path: str, data: bytes) -> ChildReply:
    try:
        reply: ChildReply = msgspec.convert(_PlainUnpickler(io.BytesIO(data)).load(), ChildReply)
    except (pickle.UnpicklingError, msgspec.ValidationError, EOFError, ValueError) as error:
        raise BadData(f"The process of the task's Python {path} sent what cannot be read: {error}.") from error
    return reply


def returned(value: object) -> ChildReply:
    """What a function returned: asks by their fields, plain values as they are, all else sealed."""
    asks = value if isinstance(value, tuple) else (value,)
    if asks and all(isinstance(ask, Question | Program) for ask in asks):
        return Asks([(type(ask).__name__, msgspec.to_builtins(ask)) for ask in asks])
    try:
        return PlainValue(plain(value))
    except TypeError:
        return Sealed(pickle.dumps(value))


def read_asks(path: str, asks: Asks) -> tuple[Question | Program, ...]:
    """The records that the function wants answered, made here of plain values."""
    try:
        return tuple(msgspec.convert(fields, _ASKS[kind]) for kind, fields in asks.records)
    except msgspec.ValidationError as error:
        raise BadData(f"The task's Python {path} asks for something malformed: {error}.") from error


def plain(value: object) -> object:
    """The same value of Python's own types; NumPy's numbers become numbers."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        kind = list if isinstance(value, list) else tuple
        return kind(map(plain, value))
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return plain(value.item())
    raise TypeError(type(value))


def unsealed(value: object) -> object:
    """The same value with everything that was sealed as it was before."""
    if isinstance(value, Sealed):
        return pickle.loads(value.data)  # noqa: S301 - its own pickle, back in the process that made it
    if isinstance(value, list | tuple):
        return type(value)(map(unsealed, value)) if not hasattr(value, "_fields") else value
    return value
