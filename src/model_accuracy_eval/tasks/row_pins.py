"""Whether rows are those that are known, or that were read first, whatever the format and the parts of their files."""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.ports import RowPins
from model_accuracy_eval.records import DataFile, RowsPin, RowsSource, RowsStatus
from model_accuracy_eval.records.media import marked

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
    columns = _columns(file, rows, fields, pins)
    if is_known:
        return RowsSource(file=file.name, places=places, count=len(rows), status="known")
    found, known, is_new = pin(rows, columns), file.rows, False
    if known is None and file.split:
        known, is_new = pins.pinned(file.split, found)
    status: RowsStatus = "known" if file.rows else "pinned now" if is_new else "as pinned" if known else "not compared"
    source = RowsSource(file=file.name, places=places, count=len(rows), rows=found, status=status)
    if known is None:
        _check_count(source, file)
        return source
    if found != known:
        raise BadData(_difference(source, rows, found, known, pins))
    return source


def _columns(file: DataFile, rows: _Rows, fields: Sequence[str], pins: RowPins) -> tuple[str, ...]:
    """Those that a pin has; where there is none, all: prompts and answers read more than the columns that every row has
    to have."""
    known = file.rows or (pins.noted(file.split, fields) if file.split else None)
    return known.columns if known else tuple(sorted({name for row in rows for name in row}))


def _check_count(source: RowsSource, file: DataFile) -> None:
    """Refuses part of a split as the whole, which is all that can be said where no row is known."""
    if file.split and file.split.count not in (None, source.count):
        raise BadData(
            f"{', '.join(source.places)} has {source.count:,} rows, but '{file.name}' stands for {file.split.count:,}. "
            f"Remove it to have them fetched; or evaluate it as questions of your own: --datasets {source.places[0]}."
        )


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
