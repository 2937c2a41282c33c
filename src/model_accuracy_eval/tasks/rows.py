"""Bytes of a data file → rows. What is wrong with a file is said with its name, line and field."""

import contextlib
import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.tasks import conversations, parquet

Row = dict[str, Any]

_DECODER = msgspec.json.Decoder()

_INNER = ("examples", "data", "rows")


def parse(name: str, data: bytes, fields: Sequence[str]) -> list[Row]:
    """Rows of a data file (`.gz` already opened), each with all `fields`. What is no object becomes one:

    a line of a `.txt` file is {"text": …}, a list of messages {"messages": …}, and where `key` and `value` are wanted,
    an entry of a `.json` object is both.
    """
    suffix = PurePath(name.removesuffix(".gz")).suffix.lower()
    if suffix == ".parquet":
        return [
            _checked(f"{name}, row {number}", row, fields) for number, row in enumerate(parquet.read(name, data), 1)
        ]
    if suffix not in _READERS:
        raise BadData(
            f"{name}: rows are read from {', '.join(_READERS)} and .parquet files (each also as .gz), "
            f"not from '{suffix}'."
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        read = error.object  # without the mark that some editors put in front
        line = read.count(b"\n", 0, error.start) + 1
        raise BadData(f"{name}, line {line}: byte {read[error.start]:#04x} is not UTF-8.") from error
    rows = [_checked(f"{name}, {place}", row, fields) for place, row in _READERS[suffix](name, text, fields)]
    if not rows:
        raise BadData(f"{name}: there is not a single row in it.")
    return rows


def _jsonl(name: str, text: str, _fields: Sequence[str]) -> Iterator[tuple[str, Any]]:
    # Only \n ends a line: JSON strings may hold U+2028 and its like, which str.splitlines would cut at.
    for line, source in enumerate(text.split("\n"), start=1):
        if source.strip():
            yield f"line {line}", _decode(f"{name}, line {line}", source)


def _json(name: str, text: str, fields: Sequence[str]) -> Iterator[tuple[str, Any]]:
    whole = _decode(name, text)
    if isinstance(whole, dict) and set(fields) == {"key", "value"}:
        for key, value in whole.items():
            yield f"field '{key}'", {"key": key, "value": value}
        return
    if isinstance(whole, dict):
        whole = next((whole[field] for field in _INNER if isinstance(whole.get(field), list)), whole)
    if not isinstance(whole, list):
        raise BadData(
            f"{name}: a .json data file holds a list of objects, or one in its field {' or '.join(_INNER)}, "
            f"but this one holds {_kind(whole)}."
        )
    for number, row in enumerate(whole, start=1):
        yield f"row {number}", row


def _txt(name: str, text: str, _fields: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for line, source in enumerate(text.split("\n"), start=1):
        if source.strip():
            yield f"line {line}", {"text": source.rstrip("\r")}


def _csv(name: str, text: str, _fields: Sequence[str]) -> Iterator[tuple[str, Any]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            if None in row or None in row.values():
                raise BadData(
                    f"{name}, line {reader.line_num}: the header names {len(reader.fieldnames or ())} columns, "
                    "but this row has another number of them."
                )
            yield f"line {reader.line_num}", row
    except csv.Error as error:
        raise BadData(f"{name}, line {reader.reader.line_num}: {error}.") from error


_READERS = {".jsonl": _jsonl, ".json": _json, ".csv": _csv, ".txt": _txt}


def _decode(where: str, source: str) -> Any:
    try:
        return _DECODER.decode(source)
    except msgspec.DecodeError as error:
        if "Infinity" in source or "NaN" in source:  # no JSON, but what Python writes; some inputs of MBPP+ are such
            with contextlib.suppress(ValueError):
                return json.loads(source)
        raise BadData(f"{where}: this is no JSON: {error}.") from error


def _checked(where: str, row: Any, fields: Sequence[str]) -> Row:
    if isinstance(row, list) and all(isinstance(one, dict) for one in row):
        row = {"messages": row}
    if not isinstance(row, dict):
        raise BadData(f"{where}: a row is an object, but this one is {_kind(row)}.")
    if "messages" in fields and "messages" in row:
        conversations.check(where, row["messages"])
    for field in fields:
        if field not in row:
            raise BadData(f"{where}: the field '{field}' is missing; there are: {', '.join(map(str, row))}.")
        if row[field] is None or not str(row[field]).strip():
            raise BadData(f"{where}: the field '{field}' is empty.")
    return row


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
