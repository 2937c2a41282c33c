"""Whether rows are those that are known, or that were read first, whatever the format and the parts of their files."""

import hashlib
import string
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import structs

from model_accuracy_eval.benchmarks import known_rows
from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.ports import RowPins
from model_accuracy_eval.records import DataFile, DataRow, RowsPin, RowsSource
from model_accuracy_eval.records.problem import marked

_Rows = Sequence[dict[str, Any]]
_SIGNS = string.ascii_letters + string.digits + "-_"
_MOST_SUMS = 40_000
"""Of longer files nothing is kept to find single rows by."""
_SHOWN = 3


class Gathered(NamedTuple):
    """The rows of a data file and of those that follow it, before anybody has compared them."""

    place: DataFile
    """The file itself, or the one in its place that was read."""
    places: tuple[str, ...]
    rows: list[DataRow]
    is_known: bool
    """All bytes are those that a release pins."""
    from_hub: bool
    strange: str = ""
    """The first file whose bytes a release pins, and which has others."""

    @property
    def shown_places(self) -> str:
        more = f" and {len(self.places) - _SHOWN} more" if len(self.places) > _SHOWN else ""
        return f"{', '.join(self.places[:_SHOWN])}{more}"


def pin(rows: _Rows, columns: tuple[str, ...]) -> RowsPin:
    """The pin of these rows."""
    whole = hashlib.sha256()
    for line in _lines_of(rows, columns):
        whole.update(line)
    return RowsPin(count=len(rows), columns=columns, sha256=whole.hexdigest())


def sums(rows: _Rows, columns: tuple[str, ...]) -> str:
    """Two characters for each row: one in 4,096 other rows has the same."""
    if len(rows) > _MOST_SUMS:
        return ""
    digests = (hashlib.sha256(line).digest() for line in _lines_of(rows, columns))
    return "".join(_SIGNS[digest[0] % 64] + _SIGNS[digest[1] % 64] for digest in digests)


def _lines_of(rows: _Rows, columns: tuple[str, ...]) -> Iterator[bytes]:
    for row in rows:
        yield msgspec.json.encode([marked(row.get(column)) for column in columns], order="sorted") + b"\n"


def all_columns(rows: _Rows) -> tuple[str, ...]:
    """Prompts and answers read more columns than those that every row has to have."""
    return tuple(sorted({name for row in rows for name in row}))


def is_pinned(file: DataFile) -> bool:
    """Whether the release says what its rows are, or all bytes of one place that has them."""
    if file.pin and file.pin.sha256:
        return True
    sources = ([one.source for one in (place, *place.more)] for place in (file, *file.instead))
    return any(all(one and (one.hash or one.url.startswith("package:")) for one in each) for each in sources)


def check(file: DataFile, gathered: Gathered, pins: RowPins) -> RowsSource:
    """Where the rows came from, after a comparison with what is known of them; others are refused."""
    place, rows = gathered.place, gathered.rows
    release = place.pin or file.pin
    # The one whose source a lock file can name: what rows of other places are compared with.
    noted = next((one for one in (place, file, *file.instead) if one.source and not one.source.hash), None)
    source = RowsSource(file=file.name, places=gathered.places, count=len(rows), status="known")
    if gathered.is_known:
        return source
    hashed = release if release and release.sha256 else None
    if gathered.strange and not hashed:
        raise BadData(
            f"{gathered.strange} is not the file that '{file.name}' stands for: its bytes have another hash than the "
            "pinned one. Remove it, and that one is fetched; or evaluate it as questions of your own: "
            f"--datasets {gathered.strange}."
        )
    first = pins.noted(noted) if noted else None
    found = pin(rows, (hashed or first or RowsPin(count=0)).columns or all_columns(rows))
    source = structs.replace(source, rows=found)
    if found == hashed:
        return source
    source = structs.replace(source, status="not compared" if release or noted else "own")
    if release and not (noted and pins.accepted(noted)):
        only_counted = place is not file and place.source is None  # nobody publishes what those folders have
        has_columns = all(any(column in row for row in rows) for column in release.columns)
        if (hashed and not only_counted) or release.count != found.count or not has_columns:
            raise _difference(gathered, file, found, release, known_rows.row_sums().get(release.sha256, ""))
    if noted:
        known, is_new = pins.note(noted, found, sums(rows, found.columns) if first is None else "")
        if known not in (None, found):
            raise _difference(gathered, file, found, known, pins.sums(noted), lock=pins.lock)
        if known:
            source = structs.replace(source, status="pinned now" if is_new else "as pinned")
    return source


class OtherRows(BadData):
    """Rows that are not those that a dataset's name stands for. `task`, where it is known, is named in what to type."""

    def __init__(self, sentence: str, *, is_local: bool) -> None:
        super().__init__(sentence)
        self.is_local = is_local


def _difference(
    gathered: Gathered, file: DataFile, found: RowsPin, known: RowsPin, known_sums: str, *, lock: str = ""
) -> OtherRows:
    missing = [column for column in known.columns if not any(column in row for row in gathered.rows)]
    lack = f" without the columns {', '.join(missing)}" if missing else ""
    hashes = f" with the hash {found.sha256[:12]}…, known are {known.count:,} with {known.sha256[:12]}…"
    counted = f" {found.count:,} rows{lack}{hashes if known.sha256 else f', its publisher says {known.count:,}'}"
    where = "" if missing else _where(sums(gathered.rows, known.columns or found.columns), known_sums)
    noted = f" Known is what {lock} noted at first use." if lock else ""
    is_local = not gathered.from_hub
    fetched = "Remove it, and those are fetched; or e" if any(one.source for one in (file, *file.instead)) else "E"
    cure = (
        f"{fetched}valuate it as questions of your own: --datasets {gathered.places[0]}."
        if is_local
        else "It has been revised, or is incomplete. To evaluate it as it is now, and to have that said in the report: "
        "`model-accuracy-eval tasks prepare --update` with the dataset's name."
    )
    return OtherRows(
        f"{gathered.shown_places} does not have the rows that '{file.name}' stands for: it has{counted}.{where}{noted} "
        f"{cure}",
        is_local=is_local,
    )


def _where(found: str, known: str) -> str:
    """Which rows differ, by the sums of each."""
    if not known or not found:
        return ""
    here, there = _pairs(found), _pairs(known)
    if len(here) == len(there):
        return f" {_numbered([at for at, (one, other) in enumerate(zip(here, there, strict=True), 1) if one != other])}"
    least = min(len(here), len(there))
    start = next((at for at in range(least) if here[at] != there[at]), least)
    end = next((at for at in range(least - start) if here[-1 - at] != there[-1 - at]), least - start)
    more, fewer = len(here) - start - end, len(there) - start - end
    if not more:
        return f" {_span('Missing', start, fewer)} of the known ones."
    if not fewer:
        return f" {_span('Added', start, more)}."
    return f" The first that differs is row {start + 1:,}; the last {end:,} are equal."


def _pairs(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(0, len(text), 2)]


def _numbered(places: list[int]) -> str:
    if not places:
        return "By their short sums no row differs."
    more = f" and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else ""
    verb = "Row" if len(places) == 1 else "Rows"
    return (
        f"{verb} {', '.join(f'{at:,}' for at in places[:_SHOWN])}{more} {'differs' if len(places) == 1 else 'differ'}."
    )


def _span(verb: str, start: int, count: int) -> str:
    if count == 1:
        return f"{verb} is row {start + 1:,}"
    return f"{verb} are {count:,} rows, {start + 1:,} to {start + count:,}"


# The table of rows that a release knows, written anew by a maintainer.


class PinTable:
    """`folder`: where its two files are written; None: where this program has them."""

    def __init__(self, folder: str | None) -> None:
        self._folder = Path(folder or str(resources.files(known_rows.__package__ or "")))
        self._pins = dict(known_rows.KNOWN_ROWS)
        self._sums = dict(known_rows.row_sums())
        self._told = {"new": 0, "changed": 0, "as it was": 0}

    def take(self, file: DataFile, gathered: Gathered) -> str:
        """Takes the rows of a data file; says how they differ from what the table had, if they do."""
        own = gathered.place if gathered.place.pin else file
        key = known_rows.key(own)
        known = self._pins.get(key)
        columns = known.columns if known and known.sha256 else all_columns(gathered.rows)
        found = pin(gathered.rows, columns)
        self._pins[key], self._sums[found.sha256] = found, sums(gathered.rows, columns)
        kind = "as it was" if found == known else "changed" if known and known.sha256 else "new"
        if known and known.count != found.count:
            kind = "changed"
        self._told[kind] += 1
        return "" if kind == "as it was" else f"{key}: {kind}: {_shown(known)}{_shown(found)} from {gathered.places[0]}"

    def write(self) -> None:
        kept = {one.sha256 for one in self._pins.values()}
        lines = [f"{sha256} {signs}" for sha256, signs in sorted(self._sums.items()) if signs and sha256 in kept]
        try:
            (self._folder / known_rows.PINS_FILE).write_text(known_rows.written(self._pins), encoding="utf-8")
            (self._folder / known_rows.SUMS_FILE).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        except OSError as error:
            raise BadValue(
                f"The table cannot be written in {self._folder}: {error.strerror or error}. Name a folder with --out."
            ) from error

    def summary(self) -> str:
        told = ", ".join(f"{count:,} {kind}" for kind, count in self._told.items())
        return f"{self._folder / known_rows.PINS_FILE}: {told}. Review what changed as in a lock file."


def _shown(pin: RowsPin | None) -> str:
    if pin is None:
        return ""
    return f"{pin.count:,} rows {pin.sha256[:12] or 'without a hash'} "
