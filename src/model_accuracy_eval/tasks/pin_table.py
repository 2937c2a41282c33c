"""The table of rows that a release knows, written anew by a maintainer."""

from importlib import resources
from pathlib import Path

from model_accuracy_eval.benchmarks import known_rows
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import DataFile, RowsPin
from model_accuracy_eval.tasks.row_pins import Gathered, all_columns, pin, sums


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
