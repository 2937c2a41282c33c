"""What a data file is, wherever it comes from: packed or not, bounded, named by its hash, and never another's."""

import gzip
import json
import tracemalloc
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from tests.integration.data_files.test_hub_splits import FIELDS, SUMS, hub, lines, no_recipes, questions
from tests.servers.fake_hub import Blob, FakeHub
from tests.servers.file_host import FileHost

from model_accuracy_eval.errors import BadData, EvalError, Refused
from model_accuracy_eval.records import DataFile, DataSource
from model_accuracy_eval.tasks import rows

ROWS = lines(0, 3)
PACKED = gzip.compress(ROWS, mtime=0)
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 12345678\n" % (b"a" * 64)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with FakeHub() as server:
        yield server


def held(cache: Path) -> int:
    """Bytes of data files that stay in the cache."""
    found = (path for path in cache.rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in found if not path.name.startswith(("accuracy", ".accuracy")))


@pytest.mark.parametrize("large", [True, False], ids=["SHA-256", "git's id"])
@pytest.mark.parametrize("source", ["hf", "ms"])
def test_a_packed_file_of_a_hub_is_evaluated(server: FakeHub, tmp_path: Path, source: str, *, large: bool) -> None:
    """The hub's hash is that of the packed bytes; rows are read from the unpacked ones, the second time offline."""
    server.push("datasets/org/sums" if source == "hf" else "ms/org/sums", {"test.jsonl.gz": Blob(PACKED, large=large)})
    named = DataSource(hf="org/sums") if source == "hf" else DataSource(ms="org/sums")
    assert questions(hub(server, tmp_path), named) == ["q0", "q1", "q2"]
    assert questions(hub(server, tmp_path, offline=True), named) == ["q0", "q1", "q2"]
    assert held(tmp_path) == len(PACKED)


def test_a_packed_file_of_a_url_is_evaluated(server: FakeHub, tmp_path: Path) -> None:
    """Its packed bytes are noted, and kept."""
    with FileHost({"/a.jsonl.gz": PACKED}) as host:
        source = DataSource(url=f"{host.url}/a.jsonl.gz")
        assert questions(hub(server, tmp_path), source) == ["q0", "q1", "q2"]
    assert questions(hub(server, tmp_path, offline=True), source) == ["q0", "q1", "q2"]
    entry = json.loads((tmp_path / "data" / "accuracy-data.lock").read_bytes())["sources"][source.url]
    assert entry["files"] == [{"at": source.url, "hash": sha256(PACKED).hexdigest()}]


@pytest.mark.parametrize("copy", [ROWS, PACKED, gzip.compress(ROWS, 1, mtime=5)], ids=["unpacked", "same", "repacked"])
@pytest.mark.parametrize("pinned", [ROWS, PACKED], ids=["pinned unpacked", "pinned packed"])
def test_a_copy_may_be_packed_in_another_way(tmp_path: Path, server: FakeHub, copy: bytes, pinned: bytes) -> None:
    """Only an unpacked copy of what is pinned by its packed bytes cannot be told by bytes alone."""
    name = "sums.jsonl" + ".gz" * (copy is not ROWS)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / name).write_bytes(copy)
    source = DataSource(url="github:o/n@c/sums.jsonl", hash=sha256(pinned).hexdigest())
    (part,) = hub(server, tmp_path, offline=True).parts(DataFile(name="sums.jsonl", source=source), f"{tmp_path}/own")
    assert part.content == ROWS
    assert part.is_known == (pinned is ROWS or copy is PACKED)


BOMB = gzip.compress(b'{"question": "q", "answer": "a"}\n' * 400_000)


@pytest.mark.parametrize("place", ["hub", "url", "folder", "two files"])
def test_what_unpacks_to_too_much_is_refused_and_never_held(server: FakeHub, tmp_path: Path, place: str) -> None:
    """13 MB of 40 kB, where 6 MB are allowed: in one file, and in the files of a split together."""
    (tmp_path / "own").mkdir()
    data_dir, source = None, SUMS
    with FileHost({"/a.jsonl.gz": BOMB}) as host:
        match place:
            case "hub":
                server.push("datasets/org/sums", {"test.jsonl.gz": Blob(BOMB, large=True)})
            case "two files":
                half = gzip.compress(b'{"question": "q", "answer": "a"}\n' * 120_000)
                parts = {f"test-0000{n}-of-00002.jsonl.gz": Blob(half, large=True) for n in range(2)}
                server.push("datasets/org/sums", parts)
            case "url":
                source = DataSource(url=f"{host.url}/a.jsonl.gz")
            case "folder":
                (tmp_path / "own" / "sums").mkdir()
                (tmp_path / "own" / "sums" / "test.jsonl.gz").write_bytes(BOMB)
                data_dir = str(tmp_path / "own")
        bounded = hub(server, tmp_path, MODEL_ACCURACY_EVAL_MAX_DATA="6MB")
        parts_read = bounded.parts(DataFile(name="sums/test", source=source), data_dir)
        if place == "two files":
            next(parts_read)
        tracemalloc.start()
        with pytest.raises(
            BadData, match=r"more bytes unpacked \(.* kB as it lies here\) than .*: [26].* MB\. MODEL_ACC"
        ):
            next(parts_read)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 5_000_000


def test_a_download_without_an_end_is_broken_off(server: FakeHub, tmp_path: Path) -> None:
    """An address whose size nobody knows beforehand; nothing of it is kept."""
    with FileHost({"/a.jsonl": lines(0, 200_000)}) as host:
        host.chunked = True
        bounded = hub(server, tmp_path, MODEL_ACCURACY_EVAL_MAX_DATA="1MB")
        with pytest.raises(Refused, match=r"a\.jsonl has more than 1 MB, .* MODEL_ACCURACY_EVAL_MAX_DATA"):
            questions(bounded, DataSource(url=f"{host.url}/a.jsonl"))
    assert held(tmp_path) == 0


@pytest.mark.parametrize("place", ["hub", "url", "folder", "clone"])
def test_a_pointer_of_git_lfs_is_called_one(server: FakeHub, tmp_path: Path, place: str) -> None:
    """Wherever it stands in the place of a file; it is not kept, and not read as a row."""
    own, data_dir, source = tmp_path / "own", None, SUMS
    with FileHost({"/a.jsonl": POINTER}) as host:
        match place:
            case "hub":
                server.push("datasets/org/sums", {"test.jsonl": Blob(POINTER)})
            case "url":
                source = DataSource(url=f"{host.url}/a.jsonl")
            case "folder" | "clone":
                path = own / ("sums/test.jsonl" if place == "folder" else "org/sums/test-00000-of-00001.parquet")
                path.parent.mkdir(parents=True)
                path.write_bytes(POINTER)
                data_dir = str(own)
        with pytest.raises(
            EvalError, match=r"is a Git LFS pointer of \d+ bytes, not the file .* has 12\.3 MB: `git lfs"
        ):
            questions(hub(server, tmp_path), source, data_dir)
    assert held(tmp_path / "data") == 0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda file: file.update(hash="../../../../x"), r"'\.\./\.\./\.\./\.\./x', which stands there .*, is no hash"),
        (lambda file: file.update(hash="A" * 64), "is no hash"),
        (
            lambda file: file.update(at=f"hf:evil/easy@{'0' * 40}/test.jsonl"),
            "would be read from another place, hf:evil",
        ),
        (lambda file: file.update(at="hf:org/sums2@main/test.jsonl"), "would be read from another place, hf:org/sums2"),
        (lambda file: file.update(at="https://evil/test.jsonl"), "would be read from another place, https://evil"),
        (lambda file: file.update(more=1), "cannot be read"),
    ],
    ids=["a path", "capitals", "another dataset", "one that begins so", "a URL", "another form"],
)
def test_a_lock_file_names_no_more_than_was_asked_for(
    server: FakeHub, tmp_path: Path, change: Callable[[dict[str, object]], None], sentence: str
) -> None:
    """What could be anything is refused before it becomes a path or is fetched."""
    server.push("datasets/org/sums", {"test.jsonl": ROWS})
    questions(hub(server, tmp_path), SUMS)
    path = tmp_path / "data" / "accuracy-data.lock"
    entries = json.loads(path.read_bytes())
    change(entries["sources"]["hf:org/sums::test"]["files"][0])
    path.write_text(json.dumps(entries))
    before, asked = sorted(tmp_path.rglob("*")), len(server.asked)
    with pytest.raises(BadData, match=sentence):
        rows.read(DataFile(name="sums/test", source=SUMS), FIELDS, None, hub(server, tmp_path), no_recipes)
    assert sorted(tmp_path.rglob("*")) == before
    assert len(server.asked) == asked


def test_a_hub_that_lists_no_hash_is_refused(server: FakeHub, tmp_path: Path) -> None:
    """It would become a part of a path."""
    server.push("ms/org/sums", {"test.jsonl": Blob(ROWS, large=True, told="../../../x")})
    with pytest.raises(Refused, match=r"has 102 bytes and the hash '\.\./\.\./\.\./x'"):
        questions(hub(server, tmp_path), DataSource(ms="org/sums"))
