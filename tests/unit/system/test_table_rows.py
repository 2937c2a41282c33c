"""Rows of Parquet and Arrow files: what another reader reads in them, and a sentence for every damaged one."""

import datetime
import decimal
import hashlib
import io
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Media, MediaPlace, TableFile
from model_accuracy_eval.system import media_files, table_files

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
ipc = pytest.importorskip("pyarrow.ipc")

ROWS = 70
"""More than two batches."""
PNG = b"\x89PNG\r\n\x1a\n and so on"


DAY = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - a column without a zone
KINDS: dict[str, tuple[Any, Callable[[random.Random], Any]]] = {
    "truth": (pyarrow.bool_(), lambda chance: chance.random() < 0.5),
    "small": (pyarrow.int8(), lambda chance: chance.randrange(-128, 128)),
    "large": (pyarrow.uint64(), lambda chance: chance.randrange(2**64)),
    "half": (pyarrow.float32(), lambda chance: chance.randrange(1000) / 8),
    "double": (pyarrow.float64(), random.Random.random),
    "text": (
        pyarrow.string(),
        lambda chance: "".join(chance.choices("ab\u00e9\u6f22\U0001f600\n\0", k=chance.randrange(20))),
    ),
    "word": (pyarrow.dictionary(pyarrow.int32(), pyarrow.string()), lambda chance: chance.choice(["one", "two", ""])),
    "bytes": (pyarrow.binary(), lambda chance: b"no media" + chance.randbytes(5)),
    "time": (pyarrow.timestamp("us"), lambda chance: DAY + datetime.timedelta(microseconds=chance.randrange(10**15))),
    "zoned": (pyarrow.timestamp("ms", "UTC"), lambda chance: DAY + datetime.timedelta(seconds=chance.randrange(10**9))),
    "day": (pyarrow.date32(), lambda chance: DAY.date() + datetime.timedelta(days=chance.randrange(10**4))),
    "decimal": (pyarrow.decimal128(20, 4), lambda chance: decimal.Decimal(chance.randrange(10**9)).scaleb(-4)),
    "nothing": (pyarrow.null(), lambda _: None),
}


def table(seed: int) -> Any:
    """A column of every kind, and one of lists of structs of all; a tenth of the values is missing."""
    chance = random.Random(seed)

    def row() -> dict[str, Any]:
        return {name: None if chance.random() < 0.1 else make(chance) for name, (_, make) in KINDS.items()}

    rows = [{**row(), "nested": [row() for _ in range(chance.randrange(3))]} for _ in range(ROWS)]
    flat = [(name, kind) for name, (kind, _) in KINDS.items()]
    return pyarrow.Table.from_pylist(rows, pyarrow.schema([*flat, ("nested", pyarrow.list_(pyarrow.struct(flat)))]))


def plain(value: Any) -> Any:
    """The words that rows have for what JSON lacks."""
    match value:
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case list():
            return list(map(plain, value))
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case decimal.Decimal():
            return str(value)
    return value


def as_parquet(content: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    parquet.write_table(content, file, row_group_size=30, **options)
    return file.getvalue()


def as_arrow(content: Any, make: Callable[..., Any]) -> bytes:
    file = io.BytesIO()
    with make(file, content.schema) as writer:
        writer.write_table(content, max_chunksize=30)
    return file.getvalue()


WRITERS: dict[str, Callable[[Any], bytes]] = {
    "snappy": as_parquet,
    "zstd": lambda content: as_parquet(content, compression="zstd", data_page_version="2.0"),
    "no compression": lambda content: as_parquet(content, compression="none"),
    "Arrow file": lambda content: as_arrow(content, ipc.new_file),
    "Arrow stream": lambda content: as_arrow(content, ipc.new_stream),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_rows_are_those_of_another_reader(kind: str) -> None:
    """For random types, nested ones included, with missing values and several groups of rows."""
    seed = list(WRITERS).index(kind)
    content = WRITERS[kind](table(seed))
    read = parquet.read_table(io.BytesIO(content)) if "Arrow" not in kind else table(seed)
    wanted = plain(read.to_pylist())
    assert len(wanted) == ROWS
    assert list(table_files.rows("a.parquet", content)) == wanted


def damaged(content: bytes, seed: int) -> bytes:
    """Some bytes changed, in the file or in its table of contents, or cut out, or all behind a place."""
    chance, data = random.Random(seed), bytearray(content)
    footer = int.from_bytes(content[-8:-4], "little") + 8
    match seed % 4:
        case 0:
            for _ in range(3):
                data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
        case 1:
            del data[chance.randrange(4, len(data)) :]
        case 2:
            for _ in range(3):
                data[len(data) - 1 - chance.randrange(footer)] ^= chance.randrange(1, 256)
        case 3:
            start = chance.randrange(4, len(data) - 60)
            del data[start : start + chance.randrange(1, 50)]
    return bytes(data)


@pytest.mark.parametrize("seed", range(16))
def test_a_damaged_file_is_a_sentence(seed: int) -> None:
    """Whether the library raises an error or panics. Some damage cannot be seen."""
    content = list(WRITERS.values())[seed // 4 % 3](table(100 + seed))
    reason = said(damaged(content, seed))
    assert reason == f"{ROWS} rows" or not reason.endswith(" rows")


def said(content: bytes) -> str:
    """What is said of a file with damage, if it is seen; otherwise how many rows it has."""
    try:
        found = list(table_files.rows("a.parquet", content))
    except BadData as error:
        return re.fullmatch(
            r"a\.parquet is no Parquet or Arrow file that could be read: ((?!.*unwrap\(\)).{1,300})\.", error.sentence
        )[1]  # type: ignore[index]
    return f"{len(found)} rows"


def test_pictures_stay_in_the_file(tmp_path: Path) -> None:
    """A row has what they are and where they lie: the hubs' struct, a column of bytes, and lists of them."""
    rows = [
        {
            "image": {"bytes": PNG, "path": "a.png"},
            "more": [{"bytes": b"\xff\xd8\xff" + bytes([place]), "path": None}],
            "raw": PNG + bytes([place]),
            "other": b"no picture",
            "odd": {"bytes": b"II*\0", "path": "a.tiff"},
            "none": {"bytes": None, "path": None},
        }
        for place in range(ROWS)
    ]
    path = tmp_path / "a.parquet"
    path.write_bytes(as_parquet(pyarrow.Table.from_pylist(rows)))
    found = list(table_files.rows("a", TableFile(path=str(path))))[40]
    place = MediaPlace(file=str(path), row=40, path=("image", "bytes"))
    digest = hashlib.sha256(PNG).hexdigest()
    assert found["image"] == Media(kind="image", format="png", sha256=digest, size=len(PNG), name="a.png", place=place)
    assert (found["more"][0].format, found["more"][0].place.path) == ("jpeg", ("more", 0, "bytes"))
    assert found["raw"].sha256 == hashlib.sha256(PNG + b"\x28").hexdigest()
    assert found["other"] == b"no picture"
    assert (found["odd"].format, found["odd"].name) == ("", "a.tiff")
    assert found["none"] is None


def test_rows_are_bounded_however_well_they_are_packed(tmp_path: Path) -> None:
    """A thousand equal rows take no room in the file; pictures stay there, so that they do not count."""
    rows = [{"text": ["x" * 1000], "image": {"bytes": PNG + b"x" * 10_000, "path": None}}] * 1000
    path = tmp_path / "a.parquet"
    path.write_bytes(as_parquet(pyarrow.Table.from_pylist(rows)))
    assert path.stat().st_size < 250_000
    assert len(list(table_files.rows("a", TableFile(path=str(path), most=1_100_000)))) == 1000
    read = table_files.rows("a", TableFile(path=str(path), most=500_000))
    with pytest.raises(BadData, match="a has rows of more than 500 kB, .*MODEL_ACCURACY_EVAL_MAX_DATA names another"):
        sum(1 for _ in read)


def test_pictures_in_any_order_are_the_right_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that may stop early asks in an order by chance: the file is read once for a column."""
    chance = random.Random(3)
    rows: list[dict[str, Any]] = [
        {"image": {"bytes": PNG + chance.randbytes(9), "path": None}, "more": [PNG + bytes([n, 1]), PNG + bytes([n])]}
        for n in range(ROWS)
    ]
    path = tmp_path / "a.parquet"
    path.write_bytes(as_parquet(pyarrow.Table.from_pylist(rows)))
    found = [(n, row) for n, row in enumerate(table_files.rows("a", TableFile(path=str(path))))]
    chance.shuffle(found)
    read: list[str] = []

    batches = table_files.batches
    monkeypatch.setattr(media_files, "batches", lambda one: read.append(one) or batches(one))  # type: ignore[func-returns-value]
    files = media_files.MediaFiles()
    for number, row in found:
        assert files.read(row["image"]) == rows[number]["image"]["bytes"]
        assert files.read(row["more"][1]) == rows[number]["more"][1]
    assert len(read) == 2


MEASURED = """
import resource, sys
from model_accuracy_eval.records import TableFile
from model_accuracy_eval.system import media_files, table_files
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
files = media_files.MediaFiles()
references = [row["image"] for row in table_files.rows("a", TableFile(path=sys.argv[1]))]
sizes = sum(len(files.read(media)) for media in references)
print(sizes // 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_set_is_never_in_memory(tmp_path: Path) -> None:
    """Neither when it is prepared nor when each picture is asked about."""
    chance = random.Random(1)
    rows = [{"image": {"bytes": PNG + chance.randbytes(200_000), "path": None}} for _ in range(500)]
    path = tmp_path / "a.parquet"
    path.write_bytes(as_parquet(pyarrow.Table.from_pylist(rows)))
    done = subprocess.run([sys.executable, "-c", MEASURED, path], capture_output=True, text=True, check=True)
    read, grown = map(int, done.stdout.split())
    assert read > 97_000
    assert grown < 60_000, f"{grown} KiB more for {read} KiB of pictures"
