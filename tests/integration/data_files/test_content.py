"""What a data file is, wherever it comes from: packed or not, bounded, named by its hash, and never another's."""

import gzip
import json
import tracemalloc
from hashlib import sha256
from pathlib import Path

import pytest
from tests.integration.data_files.test_hub_splits import SUMS, hub, lines, questions
from tests.servers.fake_hub import Blob, FakeHub
from tests.servers.file_host import FileHost

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataFile, DataSource

ROWS = lines(0, 3)
PACKED = gzip.compress(ROWS, mtime=0)


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


def test_what_unpacks_to_too_much_is_refused_and_never_held(server: FakeHub, tmp_path: Path) -> None:
    """13 MB of 40 kB, where 6 MB are allowed."""
    server.push("datasets/org/sums", {"test.jsonl.gz": Blob(BOMB, large=True)})
    bounded = hub(server, tmp_path, MODEL_ACCURACY_EVAL_MAX_DATA="6MB")
    parts_read = bounded.parts(DataFile(name="sums/test", source=SUMS), None)
    tracemalloc.start()
    with pytest.raises(BadData, match=r"more bytes unpacked \(.* kB as it lies here\) than .*: 6.* MB\. MODEL_ACC"):
        next(parts_read)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000
