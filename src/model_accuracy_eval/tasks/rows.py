"""Whether rows are those that are known, or that were read first, whatever the format and the parts of their files."""

import codecs
import contextlib
import hashlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any, Literal

import msgspec

from model_accuracy_eval.benchmarks.folder_places import LAYOUTS
from model_accuracy_eval.errors import BadData, MissingData, Unfetched
from model_accuracy_eval.ports import DataHub, MakeRows, RowPins
from model_accuracy_eval.records import DataBytes, DataFile, DataRow, RowsPin, RowsSource, RowsStatus, TableFile
from model_accuracy_eval.records.problem import marked
from model_accuracy_eval.system import media_files, table_files
from model_accuracy_eval.tasks import row_formats

_Rows = Sequence[dict[str, Any]]


def pin(rows: _Rows, columns: tuple[str, ...]) -> RowsPin:
    """The pin of these rows."""
    whole = hashlib.sha256()
    for row in rows:
        whole.update(msgspec.json.encode([marked(row.get(column)) for column in columns], order="sorted"))
        whole.update(b"\n")
    return RowsPin(count=len(rows), columns=columns, sha256=whole.hexdigest())


def check(
    file: DataFile, rows: _Rows, fields: Sequence[str], places: tuple[str, ...], pins: RowPins, *, is_known: bool
) -> RowsSource:
    """Where the rows came from, after a comparison with what is known of them; others are refused.

    `is_known`: their bytes are the pinned ones, so that there is nothing to compare.
    """
    noted = file.rows or (pins.noted(file.split, fields) if file.split else None)
    # Where no pin has columns, all count: prompts and answers read more than those that every row has to have.
    columns = noted.columns if noted else tuple(sorted({name for row in rows for name in row}))
    if is_known:
        return RowsSource(file=file.name, places=places, count=len(rows), status="known")
    found, known, is_new = pin(rows, columns), file.rows, False
    if known is None and file.split:
        known, is_new = pins.pinned(file.split, found)
    status: RowsStatus = "known" if file.rows else "pinned now" if is_new else "as pinned" if known else "not compared"
    source = RowsSource(file=file.name, places=places, count=len(rows), rows=found, status=status)
    if known is None and file.split and file.split.count not in (None, source.count):
        raise BadData(
            f"{', '.join(places)} has {source.count:,} rows, but '{file.name}' stands for {file.split.count:,}. "
            f"Remove it to have them fetched; or evaluate it as questions of your own: --datasets {places[0]}."
        )
    if known is not None and found != known:
        raise BadData(_difference(source, rows, found, known, pins))
    return source


def _difference(source: RowsSource, rows: _Rows, found: RowsPin, known: RowsPin, pins: RowPins) -> str:
    missing = [column for column in known.columns if not any(column in row for row in rows)]
    lack = f" without the columns {', '.join(missing)}" if missing else ""
    return (
        f"{', '.join(source.places)} does not have the rows that '{source.file}' stands for: it has {found.count:,} "
        f"rows{lack} with the hash {found.sha256[:12]}…, known are {known.count:,} with {known.sha256[:12]}… "
        f"({', '.join(known.columns)}). {_cure(source, pins)}"
    )


def _cure(source: RowsSource, pins: RowPins) -> str:
    if source.status == "known":
        return (
            "Remove it, and `run` fetches the known rows if they have a source; or evaluate it as questions of your "
            f"own: --datasets {source.places[0]}."
        )
    return (
        f"{pins.lock} noted them at their first use. To go on with others, give the dataset's name to "
        "`model-accuracy-eval tasks prepare --update`."
    )


# Data files and their rows. Errors name the file, the line and the field.


_DECODER = msgspec.json.Decoder()

_INNER = ("examples", "example", "data", "rows")


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
        data = hub.read(DataFile(name=name), data_dir)
        return list(parse(data.place, data.content, ()))

    if file.recipe and file.recipe.loader:
        return make_rows(file.recipe, [], rows_of)
    if file.in_folders and data_dir and not hub.lies_in(file, data_dir) and hub.lies_in(file.in_folders, data_dir):
        return read(file.in_folders, fields, data_dir, hub, make_rows, note=note)
    try:
        own = () if file.recipe else [field for field in fields if field not in file.adds]
        places, rows, is_pinned = whole(file, () if file.layout else own, data_dir, hub)
    except (MissingData, Unfetched) as missing:
        if file.instead is None:
            raise
        return _read_instead(file, missing, lambda other: read(other, fields, data_dir, hub, make_rows, note=note))
    if file.layout:
        rows = LAYOUTS[file.layout](list(rows), places[0])
        rows = [_checked(f"{places[0]}, row {number}", row, own) for number, row in enumerate(rows, start=1)]
    note(check(file, rows, own, places, hub.pins, is_known=is_pinned))
    if file.recipe:
        rows = make_rows(file.recipe, list(rows), rows_of)
    if file.adds:
        rows = [{**row, **file.adds} for row in rows]
    for other in file.more:
        rows = [*rows, *read(other, fields, data_dir, hub, make_rows, note=note)]
    _check_total(file, places[0], len(rows))
    return rows


def _check_total(file: DataFile, place: str, count: int) -> None:
    if file.total not in (None, count):
        others = f" and the {len(file.more)} files beside it have" if file.more else " has"
        raise BadData(
            f"{place}{others} {count:,} rows, but the dataset has {file.total:,}: some are missing, or it is another "
            "revision. Remove what is there to have the known rows fetched."
        )


def _read_instead(
    file: DataFile, missing: MissingData | Unfetched, read_file: Callable[[DataFile], Sequence[DataRow]]
) -> Sequence[DataRow]:
    """The same rows from another host; where that has none either, the file's own sentence comes first."""
    if file.instead is None:
        raise missing
    try:
        return read_file(file.instead)
    except (MissingData, Unfetched) as other:
        if file.hub is None:
            raise  # it is the other one that has a source
        if isinstance(missing, Unfetched) and isinstance(other, Unfetched):
            raise Unfetched(f"{missing.sentence} Nor elsewhere: {other.sentence}") from other
        raise missing from other


def whole(
    file: DataFile, fields: Sequence[str], data_dir: str | None, hub: DataHub
) -> tuple[tuple[str, ...], Sequence[DataRow], bool]:
    """All rows of the file, or of the files that its split has, where these are, and whether it is the pinned one."""
    is_pinned, places = False, []
    rows: Sequence[DataRow] = []
    for one in hub.shards(file, data_dir):
        data = hub.read(one, data_dir if one is file else None)
        places.append(data.source or data.place)
        more = _rows_of(file, data, fields)
        rows = [*rows, *more] if rows else more
        is_pinned = one is file and data.is_known and file.sha256 is not None
        del data  # before the next one is read: some files have a gigabyte
    return tuple(places), rows, is_pinned


def _rows_of(file: DataFile, data: DataBytes, fields: Sequence[str]) -> Sequence[DataRow]:
    """The rows, with references in the columns that name pictures; of a file that is read as one text the only one."""
    if file.as_text:
        if not isinstance(data.content, bytes):
            raise BadData(f"{data.place} is a table, but is to be read as one text.")
        return [{file.as_text: _text(data.place, data.content)}]
    rows = parse(data.place, data.content, fields)
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
    suffix = PurePath(name.removesuffix(".gz")).suffix.lower()
    entries: Iterator[tuple[str, Any]]
    if suffix in table_files.ENDINGS or isinstance(data, TableFile):
        entries = ((f"row {number}", row) for number, row in enumerate(table_files.rows(name, data), start=1))
    elif suffix in _READERS:
        entries = _READERS[suffix](name, data, fields)
    elif suffix in _SPREADSHEETS:
        raise BadData(f"{name}: spreadsheets are read as they export them: save it as `CSV UTF-8`.")
    else:
        raise BadData(
            f"{name}: rows are read from {', '.join((*_READERS, *table_files.ENDINGS[:-1]))} and "
            f"{table_files.ENDINGS[-1]} files (each also as .gz), not from '{suffix}'."
        )
    rows = [_checked(f"{name}, {place}", row, fields) for place, row in entries]
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


def _jsonl(name: str, data: bytes, _fields: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for line, source in enumerate(_lines(name, data), start=1):
        if source.strip():
            yield f"line {line}", _decode(f"{name}, line {line}", source)


def _json(name: str, data: bytes, fields: Sequence[str]) -> Iterator[tuple[str, Any]]:
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
    for line, source in enumerate(_lines(name, data), start=1):
        if source.strip():
            yield f"line {line}", {"text": source.removesuffix("\n").rstrip("\r")}


def _delimited(name: str, data: bytes, _fields: Sequence[str]) -> Iterator[tuple[str, Any]]:
    return row_formats.read(name, _lines(name, data, ends=""))


_SPREADSHEETS = (".xlsx", ".xls", ".ods")
_READERS = {".jsonl": _jsonl, ".json": _json, ".csv": _delimited, ".tsv": _delimited, ".txt": _txt}


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
