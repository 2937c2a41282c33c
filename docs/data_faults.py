"""The page of faults of data: each is made, and what is said is written down."""

import gzip
import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.servers.fake_hub import Blob, FakeHub
from tests.servers.file_host import FileHost

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.hubs.data_fetch import DATA, DataFetch
from model_accuracy_eval.hubs.file_hub import FileHub
from model_accuracy_eval.records import DataFile, DataSource, RowsPin
from model_accuracy_eval.tasks import rows

_ABOUT = """\
What a run says, and how it ends, when the place of its data is at fault. Each row was made with a hub and a host of
files of our own. *Bytes kept*: of data files, in the cache, afterwards; the file as it is stored has {size}."""
_QUICK = replace(DATA, attempts=2, base=0.01, cap=0.02, longest_retry_after=0.1)
_BOUND = "100kB"


def _lines(*numbers: int) -> bytes:
    return b"".join(b'{"question": "q%d", "answer": "%d"}\n' % (n, n) for n in numbers)


ROWS = _lines(*range(1, 41))
_NAME = "test.jsonl"
_SPLIT = DataFile(name="sums/test", source=DataSource(hf="org/sums"))
_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 12345678\n" % (b"0" * 64)


@dataclass
class Place:
    """A hub with one dataset, a host of files, a folder of data and a cache."""

    hub: FakeHub
    host: FileHost
    folder: Path
    file: DataFile = _SPLIT
    environment: dict[str, str] = field(default_factory=dict)
    offline: bool = False
    data_dir: str | None = None

    def push(self, content: Blob | bytes, name: str = _NAME) -> None:
        self.hub.push("datasets/org/sums", {name: content})

    def of_url(self, name: str, content: bytes) -> None:
        self.host.files[f"/{name}"] = content
        self.file = DataFile(name=name, source=DataSource(url=f"{self.host.url}/{name}"))

    def read(self) -> None:
        environment = {
            **self.hub.environment,
            "MODEL_ACCURACY_EVAL_CACHE": str(self.folder / "cache"),
            "MODEL_ACCURACY_EVAL_MAX_DATA": _BOUND,
            **self.environment,
        }
        fetch = None if self.offline else DataFetch(environment, retry=_QUICK)
        rows.read(self.file, (), self.data_dir, FileHub(environment, fetch=fetch), _no_python)

    def kept(self) -> int:
        paths = (path for path in (self.folder / "cache").rglob("*") if path.is_file())
        return sum(path.stat().st_size for path in paths if "accuracy-data" not in path.name)

    def change_lock(self, **entry: str) -> None:
        path = self.folder / "cache" / "data" / "accuracy-data.lock"
        entries = json.loads(path.read_bytes())
        entries["sources"]["hf:org/sums::test"]["files"][0].update(entry)
        path.write_text(json.dumps(entries))

    def own(self, content: bytes) -> None:
        path = self.folder / "data" / "sums" / _NAME
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        self.data_dir = str(self.folder / "data")


def _no_python(*_: object) -> list[dict[str, object]]:
    raise AssertionError


Fault = Callable[[Place], None]
FAULTS: dict[str, Fault] = {}
"""What is at fault → how it is made; the data is asked for afterwards."""


def _fault(text: str) -> Callable[[Fault], Fault]:
    def add(make: Fault) -> Fault:
        FAULTS[text] = make
        return make

    return add


@_fault("nothing")
def _nothing(place: Place) -> None:
    pass


@_fault("the connection breaks off once")
def _cut(place: Place) -> None:
    place.hub.cut = {_NAME: 100}


@_fault("a first request is answered with 429, one to the storage with 403")
def _busy(place: Place) -> None:
    place.push(Blob(ROWS, large=True))
    place.hub.trouble = lambda exchange: (429, {"retry-after": "0"}) if exchange.number == 0 else None
    place.hub.storage_trouble = lambda exchange: (403, {}) if exchange.number == 0 else None


@_fault("an earlier run left a damaged part")
def _damaged_part(place: Place) -> None:
    place.read()
    (kept,) = (place.folder / "cache").rglob(_NAME)
    kept.with_name(f".{_NAME}.partial").write_bytes(b"x" * 50)
    kept.unlink()


@_fault("the hub cannot be reached")
def _closed(place: Place) -> None:
    place.environment = {"HF_ENDPOINT": "http://127.0.0.1:9"}


@_fault("the hub answers 503 to everything")
def _down(place: Place) -> None:
    place.hub.trouble = lambda _: (503, {})


@_fault("there is no such dataset")
def _none(place: Place) -> None:
    place.file = DataFile(name="sums/test", source=DataSource(hf="org/none"))


@_fault("the dataset is gated, and no token is given")
def _gated(place: Place) -> None:
    place.hub.models.clear()
    place.hub.push("datasets/org/sums", {_NAME: ROWS}, token="hf_0", gated=True)  # noqa: S106 - it opens nothing


@_fault("the storage has other bytes than the hub lists")
def _other_bytes(place: Place) -> None:
    place.push(Blob(ROWS, large=True, served=_lines(7)))


@_fault("the hub has other bytes of a small file than it lists")
def _other_small(place: Place) -> None:
    place.push(Blob(ROWS, served=_lines(7)))


@_fault("the hub lists a path as the hash")
def _listed_path(place: Place) -> None:
    place.push(Blob(ROWS, large=True, told="../../../../x"))


@_fault("a URL leads in circles")
def _circle(place: Place) -> None:
    place.of_url("a.jsonl", ROWS)
    place.host.moved["/a.jsonl"] = "/a.jsonl"


@_fault("a URL never ends")
def _endless(place: Place) -> None:
    place.of_url("a.jsonl", ROWS * 1000)
    place.host.chunked = True


@_fault("a URL of a table never ends")
def _endless_table(place: Place) -> None:
    place.of_url("a.parquet", ROWS * 1000)
    place.host.chunked = True


@_fault("the content of a URL has changed, and its copy is lost")
def _moved_url(place: Place) -> None:
    place.of_url("a.jsonl", ROWS)
    place.read()
    place.host.files["/a.jsonl"] = _lines(7)
    next((place.folder / "cache").rglob("a.jsonl")).unlink()


@_fault("a packed file is cut short, and listed so")
def _cut_pack(place: Place) -> None:
    place.push(Blob(gzip.compress(ROWS, mtime=0)[:-9], large=True), f"{_NAME}.gz")


@_fault("a packed file has too much in it")
def _bomb(place: Place) -> None:
    place.push(Blob(gzip.compress(ROWS * 1000, mtime=0), large=True), f"{_NAME}.gz")


@_fault("a Git LFS pointer lies in the place of the file")
def _pointer(place: Place) -> None:
    place.push(_POINTER)


@_fault("the dataset has fewer rows than its publisher says")
def _fewer(place: Place) -> None:
    place.file = replace_pin(place.file, RowsPin(count=50))


@_fault("three rows of a user's copy are not those that were noted")
def _changed_rows(place: Place) -> None:
    place.read()  # which notes what they are
    place.own(ROWS.replace(b'"5"', b'"55"').replace(b'"9"', b'"8"').replace(b"q31", b"q13"))


@_fault("a row of a user's copy is missing")
def _missing_row(place: Place) -> None:
    place.read()
    place.own(_lines(*range(1, 12), *range(13, 41)))


@_fault("a file of the cache was changed")
def _changed(place: Place) -> None:
    place.read()
    next((place.folder / "cache").rglob(_NAME)).write_bytes(_lines(7))


@_fault("a file of the cache was changed, and --offline is given")
def _changed_offline(place: Place) -> None:
    _changed(place)
    place.offline = True


@_fault("nothing is in the cache, and --offline is given")
def _offline(place: Place) -> None:
    place.offline = True


@_fault("the lock file names another dataset for this one")
def _other_dataset(place: Place) -> None:
    place.read()
    place.change_lock(at=f"hf:evil/easy@{'0' * 40}/{_NAME}")


@_fault("the lock file leads out of the dataset")
def _out_of_dataset(place: Place) -> None:
    place.read()
    place.change_lock(at=f"hf:org/sums@{'0' * 40}/../../../evil/easy/resolve/main/{_NAME}")


@_fault("the lock file has a path as a hash")
def _locked_path(place: Place) -> None:
    place.read()
    place.change_lock(hash="../../../../x")


@_fault("the lock file is none")
def _no_lock(place: Place) -> None:
    place.read()
    (place.folder / "cache" / "data" / "accuracy-data.lock").write_text("<<<<<<< HEAD")


def replace_pin(file: DataFile, pin: RowsPin) -> DataFile:
    return DataFile(name=file.name, source=file.source, pin=pin)


def told(make: Fault) -> tuple[str, int, int]:
    """What is said of a fault, the exit code, and the bytes that are kept."""
    hub, host = FakeHub(), FileHost({})
    with tempfile.TemporaryDirectory() as folder, hub, host:
        place = Place(hub, host, Path(folder))
        place.push(ROWS)
        make(place)
        try:
            place.read()
            return "", 0, place.kept()
        except EvalError as error:
            return _plain(error.sentence, place), error.exit_code, place.kept()


def _plain(sentence: str, place: Place) -> str:
    """Without what differs from one time to the next."""
    for found, shown in (
        (place.hub.hub.url, "https://hub"),
        (place.hub.storage.url, "https://storage"),
        (place.host.url, "https://host"),
        (str(place.folder), "…"),
    ):
        sentence = sentence.replace(found, shown)
    return re.sub(r"\b([0-9a-f]{12})[0-9a-f]{28,}\b", r"\1…", sentence)


def page(note: str) -> str:
    lines = []
    for text, make in FAULTS.items():
        sentence, code, kept = told(make)
        said = sentence.replace("|", "\\|") or "nothing: the rows are read"
        lines.append(f"| {text} | {said} | {code} | {kept:,} |")
    head = "| fault | what is said | exit code | bytes kept |"
    parts = [
        "# Faults of data",
        note,
        _ABOUT.format(size=f"{len(ROWS):,}"),
        "\n".join([head, "|---" * 4 + "|", *lines]),
    ]
    return "\n\n".join(parts) + "\n"
