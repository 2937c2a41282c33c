"""Data files come over real HTTP whole and right, whatever happens on the way, and once only."""

import gzip
import random
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from tests.servers.file_host import FileHost

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.hubs.data_fetch import DATA, DataFetch
from model_accuracy_eval.hubs.file_hub import FileHub
from model_accuracy_eval.records import DataBytes, DataFile, DataSource

QUICK = replace(DATA, attempts=3, base=0.01, cap=0.02, longest_retry_after=0.1)
ROWS = b"".join(b'{"question": "%d", "answer": "%d"}\n' % (i, random.Random(i).random() * 1e9) for i in range(5000))
HASH = sha256(ROWS).hexdigest()
PACKED = gzip.compress(ROWS, mtime=0)
AT = "github:owner/name@0a1b2c/data/test.jsonl"
PINNED = DataFile(name="sums/test.jsonl", source=DataSource(url=AT, hash=HASH))
ZIPPED = DataFile(name="sums/test.jsonl", source=DataSource(url=f"{AT}.gz", hash=sha256(PACKED).hexdigest()))
PATH = "/owner/name/0a1b2c/data/test.jsonl"


@pytest.fixture
def host() -> Iterator[FileHost]:
    with FileHost({PATH: ROWS, f"{PATH}.gz": PACKED}) as host:
        yield host


def hub(host: FileHost, cache: Path, **more: object) -> FileHub:
    environment = {"MODEL_ACCURACY_EVAL_CACHE": str(cache), "GITHUB_RAW_ENDPOINT": host.url}
    return FileHub(environment, fetch=DataFetch(environment, retry=QUICK, **more))  # type: ignore[arg-type]


def read(hub: FileHub, file: DataFile) -> DataBytes:
    """Its only part."""
    (part,) = hub.parts(file, None)
    return part


def kept(cache: Path) -> dict[str, bytes]:
    """Everything in the cache but locks, which are empty."""
    paths = [path for path in cache.rglob("*") if path.is_file() and not path.name.endswith(".lock")]
    return {path.relative_to(cache).as_posix(): path.read_bytes() for path in paths}


PLACE = f"data/{HASH}/test.jsonl"


@pytest.mark.parametrize("file", [PINNED, ZIPPED], ids=["plain", "gz"])
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
def test_what_is_missing_is_fetched_once_and_then_read(
    host: FileHost, tmp_path: Path, file: DataFile, *, chunked: bool
) -> None:
    """By reading it; the next one asks nobody, and nothing else is left in the cache. What was changed there is fetched
    anew."""
    host.chunked = chunked
    said: list[str] = []
    assert file.source
    data = read(hub(host, tmp_path, say=said.append), file)
    place, stored = (PLACE, ROWS) if file is PINNED else (f"data/{file.source.hash}/test.jsonl.gz", PACKED)
    assert data == DataBytes(place=f"{tmp_path}/{place}", source=file.source.url, content=ROWS, is_known=True)
    assert kept(tmp_path) == {place: stored}
    assert said == ["Fetching sums/test.jsonl from github:owner/name@0a1b2c."]
    asked = len(host.requests)
    assert read(hub(host, tmp_path), file) == data
    assert len(host.requests) == asked == 1
    (tmp_path / place).write_bytes(stored.replace(stored[-20:], b"of who may write it!"))
    assert read(hub(host, tmp_path), file) == data
    assert len(host.requests) == 2


@pytest.mark.parametrize(
    ("file", "body", "sentence"),
    [
        (PINNED, None, "data/test.jsonl is not there any more, or never was \\(HTTP 404\\)."),
        (PINNED, ROWS + b"\n", f"is not the expected file: its hash is {'.' * 64}, but {HASH} is pinned"),
        (PINNED, b"", r"\(0 bytes came\); it is not kept"),
        (ZIPPED, b"<html>", "is not the expected file"),
    ],
    ids=["moved", "another", "empty", "no gzip"],
)
def test_another_file_is_refused_and_not_kept(
    host: FileHost, tmp_path: Path, file: DataFile, body: bytes | None, sentence: str
) -> None:
    """The sentence names the address; nothing of it stays."""
    address = PATH + ".gz" * (file is ZIPPED)
    host.files = {} if body is None else {address: body}
    with pytest.raises(Refused, match=sentence) as error:
        read(hub(host, tmp_path), file)
    assert f"{host.url}{address} is not " in error.value.sentence
    assert error.value.exit_code == 3
    assert kept(tmp_path) == {}


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "nonsense", "http://[", "ftp://x"])
def test_a_mirror_that_cannot_be_reached_is_told(tmp_path: Path, address: str, host: FileHost) -> None:
    """Also one whose address is none."""
    environment = {"MODEL_ACCURACY_EVAL_CACHE": str(tmp_path), "GITHUB_RAW_ENDPOINT": address}
    with pytest.raises(Refused, match=r"The rows of 'sums/test\.jsonl' cannot be fetched: "):
        read(FileHub(environment, fetch=DataFetch(environment, retry=QUICK)), PINNED)


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, host: FileHost) -> None:
    """With the way around it."""
    (tmp_path / "data").write_text("a file in the way")
    with pytest.raises(
        Refused, match=r"cannot be kept in .*: (Not a directory|File exists).*MODEL_ACCURACY_EVAL_CACHE"
    ):
        read(hub(host, tmp_path), PINNED)
