"""Data files and their rows. Errors name the file, the line and the field."""

import codecs
import contextlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, Literal

import msgspec

from model_accuracy_eval.benchmarks import folder_places
from model_accuracy_eval.benchmarks.folder_places import OF_TEXTS, RowsForm
from model_accuracy_eval.errors import BadData, MissingData, Unfetched
from model_accuracy_eval.ports import DataHub, MakeRows
from model_accuracy_eval.records import DataBytes, DataFile, DataRow, RowsSource, TableFile
from model_accuracy_eval.system import media_files, table_files
from model_accuracy_eval.tasks import row_formats, row_pins, spreadsheets
from model_accuracy_eval.tasks.row_pins import Gathered

_DECODER = msgspec.json.Decoder()

_INNER = ("examples", "example", "data", "rows")


MOST_ROWS = 2_000_000
"""Each takes hundreds of bytes, however short it is."""


def read(
    file: DataFile,
    fields: Sequence[str],
    data_dir: str | None,
    hub: DataHub,
    make_rows: MakeRows,
    *,
    note: Callable[[RowsSource], object] = lambda _: None,
) -> Sequence[DataRow]:
    """The rows of a data file, changed by its recipe and limited to its listing, if it has these.

    Rows that a recipe changes need not have the fields beforehand. `note` gets where the rows of each file came from.
    """

    def rows_of(name: str) -> list[DataRow]:
        return gathered(DataFile(name=name), (), data_dir, hub).rows

    if file.recipe and file.recipe.loader:
        return make_rows(file.recipe, [], rows_of)
    own = () if file.recipe else fields
    found = gathered_first(file, own, data_dir, hub)
    note(row_pins.check(file, found, hub.pins))
    return make_rows(file.recipe, found.rows, rows_of) if file.recipe else found.rows


def gathered_first(file: DataFile, fields: Sequence[str], data_dir: str | None, hub: DataHub) -> Gathered:
    """From --data-dir, else from the first place that can be had; where none can, the sentences of those that have a
    source."""
    places = (file, *file.instead)
    there = [one for one in places if data_dir and hub.lies_in(one, data_dir)]
    others = [one for one in places if one is file or one.source]
    failures: list[MissingData | Unfetched] = []
    for place in there[:1] or others:
        try:
            return gathered(place, fields, data_dir, hub, stands_in=place is not file)
        except (MissingData, Unfetched) as failure:  # noqa: PERF203 - a loop of hosts
            if there:
                raise
            if place.source or len(others) == 1:
                failures.append(failure)
    first = failures[0]
    if len(failures) > 1 and all(isinstance(one, Unfetched) for one in failures):
        raise Unfetched(" Nor elsewhere: ".join(one.sentence for one in failures)) from first
    raise first


def gathered(
    place: DataFile, fields: Sequence[str], data_dir: str | None, hub: DataHub, *, stands_in: bool = False
) -> Gathered:
    """From this one place. `stands_in`: in place of another, whose form its rows get."""
    rows: list[DataRow] = []
    places: list[str] = []
    is_known = from_hub = True
    strange = ""
    for file in (place, *place.more):
        own = [field for field in fields if field not in file.adds]
        layout = folder_places.layout(file.name) if stands_in else None
        for data in hub.parts(file, data_dir):
            places.append(data.source or data.place)
            is_known, from_hub = is_known and data.is_known, from_hub and bool(data.source)
            found = _rows_of(file, data, own, layout)
            rows += [{**row, **file.adds} for row in found] if file.adds else found
            if file.source and file.source.hash and not data.is_known:
                strange = strange or data.place
            del data  # before the next one is read: some files have a gigabyte
    return Gathered(place, tuple(places), rows, is_known, from_hub, strange)


def _rows_of(file: DataFile, data: DataBytes, fields: Sequence[str], layout: RowsForm | None) -> Sequence[DataRow]:
    """The rows, with references in the columns that name pictures."""
    if layout in OF_TEXTS and isinstance(data.content, bytes):
        rows: Sequence[DataRow] = [{"value": _text(data.place, data.content)}]
    else:
        rows = parse(data.place, data.content, () if layout else fields)
    if layout:
        rows = layout(list(rows), data.place)
        rows = [_checked(f"{data.place}, row {number}", row, fields) for number, row in enumerate(rows, start=1)]
    if not file.pictures:
        return rows
    folder = Path(data.place).parent
    return [
        media_files.with_pictures(f"{data.place}, row {number}", row, file.pictures, folder)
        for number, row in enumerate(rows, start=1)
    ]


def parse(name: str, data: bytes | TableFile, fields: Sequence[str]) -> Sequence[DataRow]:
    """The rows of a data file (`.gz` already opened); each has all `fields`.

    What is no object becomes one: a line of a `.txt` file is {"text": …}, a list of messages {"messages": …}, and if
    the fields are `key` and `value`, each entry of a `.json` object is a row.
    """
    suffix = PurePath(spreadsheets.file_of(name).removesuffix(".gz")).suffix.lower()
    entries: Iterator[tuple[str, Any]]
    if suffix in table_files.ENDINGS or isinstance(data, TableFile):
        entries = ((f"row {number}", row) for number, row in enumerate(table_files.rows(name, data), start=1))
    elif suffix in _READERS:
        entries = _READERS[suffix](name, data, fields)
    elif suffix in _SPREADSHEETS:
        raise BadData(f"{name}: of spreadsheets, .xlsx files are read: save it as one, or as `CSV UTF-8`.")
    else:
        raise BadData(
            f"{name}: rows are read from {', '.join((*_READERS, *table_files.ENDINGS[:-1]))} and "
            f"{table_files.ENDINGS[-1]} files (each also as .gz), not from '{suffix}'."
        )
    rows = [_checked(f"{name}, {place}", row, fields) for place, row in islice(entries, MOST_ROWS + 1)]
    if len(rows) > MOST_ROWS:
        raise BadData(f"{name} has more than {MOST_ROWS:,} rows, which is more than fits beside a run.")
    if isinstance(data, bytes) and b";base64," in data:
        numbered = enumerate(rows, start=1)
        rows = [media_files.with_data_uris(f"{name}, row {number}", row) for number, row in numbered]
    if not rows:
        raise BadData(f"{name}: there is not a single row in it.")
    return rows


_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _encoding(name: str, data: bytes) -> str:
    if data.startswith(_UTF16):
        return "utf-16"
    if b"\0" in data[:4]:
        raise BadData(
            f"{name}: it is neither UTF-8 nor UTF-16 with a mark at its beginning. Save the file as UTF-8; "
            "spreadsheets call it `CSV UTF-8`."
        )
    return "utf-8-sig"


def _text(name: str, data: bytes) -> str:
    try:
        return data.decode(_encoding(name, data))
    except UnicodeDecodeError as error:
        content = error.object  # without the mark that some editors put in front
        line = content.count(b"\n", 0, error.start) + 1
        raise BadData(
            f"{name}, line {line}: byte {content[error.start]:#04x} is not UTF-8. Save the file as UTF-8; "
            "spreadsheets call it `CSV UTF-8`."
        ) from error


def _lines(name: str, data: bytes, *, ends: Literal["", "\n"] = "\n") -> Iterator[str]:
    """Line by line, because the text of a large file, and the list of its lines, would each be as large again.

    `ends`: empty: a carriage return ends a line, too. Nothing else does: JSON strings may hold U+2028 and its like.
    """
    try:
        yield from io.TextIOWrapper(io.BytesIO(data), _encoding(name, data), newline=ends)
    except UnicodeDecodeError:
        _text(name, data)  # which knows where it is in the file
        raise


def _filled_lines(name: str, data: bytes) -> Iterator[tuple[str, str]]:
    for number, source in enumerate(_lines(name, data), start=1):
        if source.strip():
            yield f"line {number}", source


def _jsonl(name: str, data: bytes, _fields: Sequence[str]) -> Iterator[tuple[str, Any]]:
    return ((place, _decode(f"{name}, {place}", source)) for place, source in _filled_lines(name, data))


def _json(name: str, data: bytes, fields: Sequence[str]) -> Iterator[tuple[str, Any]]:
    try:
        content = _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):  # the text, which is as large again, only where it is needed
        content = _decode(name, _text(name, data))
    if isinstance(content, dict) and set(fields) == {"key", "value"}:
        for key, value in content.items():
            yield f"field '{key}'", {"key": key, "value": value}
        return
    if isinstance(content, dict):
        content = next((content[field] for field in _INNER if isinstance(content.get(field), list)), content)
    if not isinstance(content, list):
        raise BadData(
            f"{name}: a .json data file holds a list of objects, or one in its field {' or '.join(_INNER)}, "
            f"but this one holds {_kind(content)}."
        )
    for number, row in enumerate(content, start=1):
        yield f"row {number}", row


def _txt(name: str, data: bytes, _fields: Sequence[str]) -> Iterator[tuple[str, Any]]:
    return ((place, {"text": source.removesuffix("\n").rstrip("\r")}) for place, source in _filled_lines(name, data))


def _delimited(name: str, data: bytes, _fields: Sequence[str]) -> Iterator[tuple[str, Any]]:
    return row_formats.read(name, _lines(name, data, ends=""))


_SPREADSHEETS = (".xls", ".ods")
_READERS: dict[str, Callable[[str, bytes, Sequence[str]], Iterator[tuple[str, Any]]]] = {
    ".jsonl": _jsonl,
    ".json": _json,
    ".csv": _delimited,
    ".tsv": _delimited,
    ".txt": _txt,
    ".xlsx": lambda name, data, _: spreadsheets.rows(name, data),
}


def _decode(where: str, source: str) -> Any:
    try:
        return _DECODER.decode(source)
    except msgspec.DecodeError as error:
        if "Infinity" in source or "NaN" in source:  # no JSON, but what Python writes; some inputs of MBPP+ are such
            with contextlib.suppress(ValueError):
                return json.loads(source)
        raise BadData(f"{where}: this is no JSON: {error}.") from error


def _checked(where: str, row: Any, fields: Sequence[str]) -> DataRow:
    if isinstance(row, list) and all(isinstance(entry, dict) for entry in row):
        row = {"messages": row}
    if not isinstance(row, dict):
        raise BadData(f"{where}: a row is an object, but this one is {_kind(row)}.")
    found: DataRow = row_formats.with_messages(row) if "messages" in fields else row
    if "messages" in fields and "messages" in found:
        row_formats.check(where, found["messages"])
    for field in fields:
        if field not in found:
            raise BadData(f"{where}: the field '{field}' is missing; there are: {', '.join(map(str, found))}.")
        if found[field] is None or not str(found[field]).strip():
            raise BadData(f"{where}: the field '{field}' is empty.")
    return found


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
