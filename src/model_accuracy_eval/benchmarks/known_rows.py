"""The rows of datasets as this release knows them, so that a copy in another format or order of keys is theirs too.

`known_rows.txt` has a line for each data file: its name (and how many files follow it), how many rows it has, the hash
of their values, and below, its columns. Where nobody has read the rows for a release, a dash stands for the hash.
`row_sums.txt` has, for each hash, two characters a row, by which it is found which rows of another file differ.
`model-accuracy-eval tasks pin` writes both; their changes are reviewed like those of a lock file.
"""

from collections.abc import Mapping
from functools import cache
from importlib import resources

from msgspec import structs

from model_accuracy_eval.records import DataFile, RowsPin

PINS_FILE, SUMS_FILE = "known_rows.txt", "row_sums.txt"


def _text(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


def read(text: str) -> dict[str, RowsPin]:
    """Key of a data file → its pin."""
    pins: dict[str, RowsPin] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith(" "):
            pins[name] = structs.replace(pins[name], columns=tuple(line.strip().split(", ")))
        else:
            name, count, sha256 = line.rsplit(" ", 2)
            pins[name] = RowsPin(count=int(count), sha256=sha256.strip("-"))
    return pins


def written(pins: Mapping[str, RowsPin]) -> str:
    """The text of the table."""
    lines = []
    for name, pin in sorted(pins.items()):
        lines.append(f"{name} {pin.count} {pin.sha256 or '-'}")
        if pin.columns:
            lines.append(f"  {', '.join(pin.columns)}")
    return "\n".join(lines) + "\n"


KNOWN_ROWS = read(_text(PINS_FILE))


@cache
def row_sums() -> dict[str, str]:
    """Hash of rows → the sums of each. Read only where rows differ."""
    return dict(line.split(" ") for line in _text(SUMS_FILE).splitlines())


def key(file: DataFile) -> str:
    """What the table calls a data file with those that follow it."""
    return f"{file.name}+{len(file.more)}" if file.more else file.name


def pinned(file: DataFile) -> DataFile:
    """The file with its pin, and those in its place with theirs if they have one of their own."""
    return structs.replace(file, pin=KNOWN_ROWS.get(key(file)), instead=tuple(map(pinned, file.instead)))
