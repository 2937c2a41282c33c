"""A split by its name at a hub: the right files of one commit, in order, kept so in the lock file, and read as rows."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.servers.fake_hub import Blob, FakeHub
from tests.servers.file_host import FileHost

from model_accuracy_eval.errors import BadData, BadValue, Refused
from model_accuracy_eval.hubs.data_fetch import DATA, DataFetch
from model_accuracy_eval.hubs.file_hub import FileHub
from model_accuracy_eval.records import DataFile, DataRow, DataSource, Recipe, RowsPin
from model_accuracy_eval.tasks import rows

QUICK = replace(DATA, attempts=2, base=0.01, cap=0.02, longest_retry_after=0.1)
CARD = b"""---
license: mit
configs:
- config_name: main
  data_files:
  - split: train
    path: main/train-*
  - split: test
    path: main/test-*
- config_name: socratic
  data_files:
  - split: test
    path: socratic/test-*
---
# Sums
"""


def lines(start: int, count: int) -> bytes:
    return b"".join(b'{"question": "q%d", "answer": "%d"}\n' % (n, n) for n in range(start, start + count))


SHARDS: dict[str, Blob | bytes] = {
    "README.md": CARD,
    "main/train-00000-of-00001.jsonl": Blob(lines(900, 3), large=True),
    "main/test-00001-of-00003.jsonl": Blob(lines(2, 2), large=True),
    "main/test-00000-of-00003.jsonl": Blob(lines(0, 2), large=True),
    "main/test-00002-of-00003.jsonl": lines(4, 1),
    "socratic/test-00000-of-00001.jsonl": Blob(lines(500, 3), large=True),
}
FIELDS = ("question", "answer")


def hub(
    server: FakeHub,
    cache: Path,
    *,
    offline: bool = False,
    said: list[str] | None = None,
    update: bool = False,
    **more: str,
) -> FileHub:
    environment = {**server.environment, "MODEL_ACCURACY_EVAL_CACHE": str(cache), **more}
    say = (lambda _: None) if said is None else said.append
    fetch = None if offline else DataFetch(environment, retry=QUICK, say=say)
    return FileHub(environment, fetch=fetch, update=update)


def no_recipes(recipe: Recipe, rows: object, read: object) -> list[DataRow]:
    raise AssertionError(recipe)


def questions(hub: FileHub, source: DataSource, data_dir: str | None = None, count: int = 0) -> list[str]:
    file = DataFile(name="sums/test", source=source, pin=RowsPin(count=count) if count else None)
    return [row["question"] for row in rows.read(file, FIELDS, data_dir, hub, no_recipes)]


SUMS = DataSource(hf="org/sums")
MAIN = DataSource(hf="org/sums", config="main")


def test_a_split_in_parts_is_read_in_their_order(server: FakeHub, tmp_path: Path) -> None:
    """From large files and small ones, whose SHA-256 the hub does not know; the second time without the network."""
    commit = server.push("datasets/org/sums", SHARDS)
    assert questions(hub(server, tmp_path), MAIN) == ["q0", "q1", "q2", "q3", "q4"]
    asked = len(server.asked)
    assert questions(hub(server, tmp_path), MAIN) == ["q0", "q1", "q2", "q3", "q4"]
    assert questions(hub(server, tmp_path, offline=True), MAIN) == ["q0", "q1", "q2", "q3", "q4"]
    assert len(server.asked) == asked
    entry = json.loads((tmp_path / "data" / "accuracy-data.lock").read_bytes())["sources"]["hf:org/sums:main:test"]
    assert entry["files"][0]["at"] == f"hf:org/sums@{commit}/main/test-00000-of-00003.jsonl"
    assert len(entry["files"]) == 3


def test_a_branch_that_moves_does_not_change_the_question(server: FakeHub, tmp_path: Path) -> None:
    """What was read first stays; a file that is lost from the cache comes from the first commit again."""
    server.push("datasets/org/sums", SHARDS)
    first = questions(hub(server, tmp_path), MAIN)
    server.push("datasets/org/sums", {**SHARDS, "main/test-00000-of-00003.jsonl": Blob(lines(70, 2), large=True)})
    for path in tmp_path.rglob("test-00000-*.jsonl"):
        path.unlink()
    assert questions(hub(server, tmp_path), MAIN) == first
    assert questions(hub(server, tmp_path / "new"), MAIN)[:2] == ["q70", "q71"]


@pytest.mark.parametrize(
    ("files", "source", "expected"),
    [
        ({"test.jsonl": lines(0, 2), "train.jsonl": lines(9, 1)}, MAIN, None),
        ({"test.jsonl": lines(0, 2), "train.jsonl": lines(9, 1)}, SUMS, ["q0", "q1"]),
        ({"data/test-00000-of-00001.jsonl": lines(0, 1), "data/x.txt": b""}, SUMS, ["q0"]),
        ({"main/test.jsonl": lines(0, 1), "other/test.jsonl": lines(5, 1)}, MAIN, ["q0"]),
        ({"main/test/a.jsonl": lines(0, 1), "main/train/a.jsonl": lines(5, 1)}, MAIN, ["q0"]),
        ({"dev.jsonl": lines(0, 1), "test.jsonl": lines(5, 1)}, DataSource(hf="org/sums", split="validation"), ["q0"]),
        ({"dev.jsonl": lines(0, 1), "val.jsonl": lines(5, 1)}, DataSource(hf="org/sums", split="val"), ["q5"]),
        ({"all.jsonl": lines(0, 1)}, DataSource(hf="org/sums", split="train"), ["q0"]),
    ],
)
def test_files_are_found_by_their_names(
    server: FakeHub, tmp_path: Path, files: dict[str, Blob | bytes], source: DataSource, expected: list[str] | None
) -> None:
    """Where no card declares them."""
    server.push("datasets/org/sums", {"README.md": b"# Sums", **files})
    if expected is None:
        with pytest.raises(BadValue, match="hf:org/sums has no configuration 'main': default"):
            questions(hub(server, tmp_path), source)
    else:
        assert questions(hub(server, tmp_path), source) == expected


@pytest.mark.parametrize(
    ("files", "source", "sentence"),
    [
        (SHARDS, SUMS, r"has 2 configurations: main, socratic\. Name one, such as hf:org/sums:main:"),
        (SHARDS, DataSource(hf="org/sums", config="main", split="dev"), r"has no split 'dev': test, train\. Name one"),
        ({"all.jsonl": lines(0, 1)}, SUMS, r"has no split 'test': train\."),
        ({"test-00000-of-00002.jsonl": lines(0, 1)}, SUMS, r"has 1 of the 2 parts of the split 'test'"),
        ({"test.jsonl": lines(0, 1), "test.csv": b"question,answer\nq0,0\n"}, SUMS, r"in 2 formats \(\.csv, \.jsonl\)"),
        (
            {"dev.jsonl": lines(0, 1), "val.jsonl": lines(5, 1)},
            DataSource(hf="org/sums", split="validation"),
            r"has no split 'validation': dev, val\.",
        ),
        (
            {"test.jsonl": lines(0, 1), "test_socratic.jsonl": lines(5, 1)},
            SUMS,
            r"has 2 files in 1 folder for the split 'test', which may be different questions: test\.jsonl, test_s",
        ),
        ({"train/test.jsonl": lines(0, 1)}, SUMS, r"has no split 'test': train\."),
        (
            {"a/test-00000-of-00001.jsonl": lines(0, 1), "b/test-00000-of-00001.jsonl": lines(5, 1)},
            SUMS,
            r"has 2 configurations: a, b\.",
        ),
    ],
    ids=[
        *("several configurations", "no such split", "train alone", "half uploaded", "two formats", "dev and val"),
        *("two files", "a test file of the training split", "two folders"),
    ],
)
def test_no_split_is_guessed(
    server: FakeHub, tmp_path: Path, files: dict[str, Blob | bytes], source: DataSource, sentence: str
) -> None:
    """The sentence lists what there is; nothing is pinned."""
    server.push("datasets/org/sums", files)
    with pytest.raises(BadValue, match=sentence):
        questions(hub(server, tmp_path), source)
    assert not (tmp_path / "data" / "accuracy-data.lock").exists()


def test_rows_that_a_script_makes_come_from_what_the_hub_converted(server: FakeHub, tmp_path: Path) -> None:
    """In all their parts; the names of the script's files say nothing."""
    server.push("datasets/org/sums", {"sums.py": b"import datasets", "test.jsonl": lines(800, 5)})
    server.push(
        "datasets/org/sums",
        {f"main/test/000{n}.parquet": Blob(parquet(2 * n, 2), large=True) for n in range(2)},
        branch="refs/convert/parquet",
    )
    assert questions(hub(server, tmp_path), MAIN) == ["q0", "q1", "q2", "q3"]


def parquet(start: int, count: int) -> bytes:
    pyarrow, writer = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    buffer = io.BytesIO()
    table = pyarrow.Table.from_pylist([json.loads(line) for line in lines(start, count).splitlines()])
    writer.write_table(table, buffer)
    return buffer.getvalue()


def test_model_scope_is_asked_where_hugging_face_has_none(server: FakeHub, tmp_path: Path) -> None:
    """Or where its variable says so; the files are listed page by page."""
    many: dict[str, Blob | bytes] = {f"extra/{n}.bin": b"x" for n in range(450)}
    server.push("ms/team/sums", {"README.md": CARD, **many, **SHARDS})
    both = DataSource(hf="org/sums", ms="team/sums", config="main", revision="0" * 40)
    assert questions(hub(server, tmp_path), both) == ["q0", "q1", "q2", "q3", "q4"]
    assert server.asked[0].startswith("GET /api/datasets/org/sums/")
    before = len(server.asked)
    other = hub(server, tmp_path / "other", MODEL_ACCURACY_EVAL_HUB="ms")
    assert questions(other, both) == ["q0", "q1", "q2", "q3", "q4"]
    assert not [path for path in server.asked[before:] if "org/sums" in path]


def test_a_gated_dataset_is_told_with_the_page_and_the_variable(server: FakeHub, tmp_path: Path) -> None:
    """And read with the token, which the storage never sees; ModelScope is no way around the terms."""
    server.push("datasets/org/sums", SHARDS, token="hf_MARKER", gated=True)
    server.push("ms/team/sums", SHARDS)
    gated = DataSource(hf="org/sums", ms="team/sums", config="main")
    with pytest.raises(Refused, match=rf"is gated: .*HF_TOKEN.* has to accept its terms at {server.hub.url}/datasets/"):
        questions(hub(server, tmp_path), gated)
    assert len(questions(hub(server, tmp_path, HF_TOKEN="hf_MARKER"), gated)) == 5
    assert not [request for request in server.storage.requests if "authorization" in request.headers]


def test_a_renamed_dataset_is_followed_and_told(server: FakeHub, tmp_path: Path) -> None:
    """By the redirects of its hub; the files are pinned under its new name."""
    server.push("datasets/org/sums", SHARDS)
    server.renamed["org/old"] = "sums"
    said: list[str] = []
    assert questions(hub(server, tmp_path, said=said), DataSource(hf="org/old", config="main"))[:1] == ["q0"]
    assert said[0] == f"hf:org/old is called org/sums at {server.hub.url} now."


def test_what_was_converted_in_part_is_not_the_split(server: FakeHub, tmp_path: Path) -> None:
    """The hub converts only the first gigabytes of large datasets, under another name."""
    server.push("datasets/org/sums", {"sums.py": b""})
    first = {"main/partial-test/0000.parquet": Blob(b"PAR1", large=True)}
    server.push("datasets/org/sums", first, branch="refs/convert/parquet")
    with pytest.raises(BadValue, match=r"no split 'test': partial-test\. Its hub converted only the first part of it"):
        questions(hub(server, tmp_path), MAIN)


def test_another_count_than_the_publisher_s_is_refused_until_it_is_accepted(server: FakeHub, tmp_path: Path) -> None:
    """A revised dataset is another question; so is half of one under --data-dir."""
    server.push("datasets/org/sums", SHARDS)
    with pytest.raises(
        BadData, match=r"it has 5 rows, its publisher says 6\. It has been revised, .* prepare --update"
    ):
        questions(hub(server, tmp_path), MAIN, count=6)
    assert len(questions(hub(server, tmp_path, update=True), MAIN, count=6)) == 5
    assert len(questions(hub(server, tmp_path), MAIN, count=6)) == 5
    (tmp_path / "own" / "sums").mkdir(parents=True)
    (tmp_path / "own" / "sums" / "test.jsonl").write_bytes(lines(0, 3))
    with pytest.raises(BadData, match=r"sums/test\.jsonl does not .*: it has 3 rows, its publisher says 6\. Remove it"):
        questions(hub(server, tmp_path / "new"), MAIN, str(tmp_path / "own"), count=6)


@pytest.mark.parametrize(
    "root", ["org/sums", "sums", "datasets--org--sums/snapshots/0a1b", "hub/datasets--org--sums/snapshots/0a1b"]
)
def test_copies_that_hubs_tools_leave_are_found(server: FakeHub, tmp_path: Path, root: str) -> None:
    """With their card and without; the network is not used."""
    for name, blob in SHARDS.items():
        place = tmp_path / "own" / root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(blob.data if isinstance(blob, Blob) else blob)
    for _ in range(2):
        assert questions(hub(server, tmp_path), MAIN, str(tmp_path / "own")) == ["q0", "q1", "q2", "q3", "q4"]
        (tmp_path / "own" / root / "README.md").unlink(missing_ok=True)
    assert server.asked == []
    (tmp_path / "own" / root / "main" / "test-00001-of-00003.jsonl").unlink()
    with pytest.raises(BadValue, match="has 2 of the 3 parts of the split 'test'"):
        questions(hub(server, tmp_path), MAIN, str(tmp_path / "own"))


def test_two_versions_in_one_folder_are_not_chosen_from(server: FakeHub, tmp_path: Path) -> None:
    """The newest by its hash would be one at random."""
    for commit in ("0a1b", "1b2c"):
        place = tmp_path / "datasets--org--sums" / "snapshots" / commit / "test.jsonl"
        place.parent.mkdir(parents=True)
        place.write_bytes(lines(0, 2))
    with pytest.raises(BadValue, match="has 2 versions of org/sums, and nothing says which is meant"):
        questions(hub(server, tmp_path / "cache"), SUMS, str(tmp_path))


def test_a_revision_of_model_scope_is_that_one(server: FakeHub, tmp_path: Path) -> None:
    """Not the newest, which is what comes without one."""
    old = server.push("ms/team/sums", {"test.jsonl": lines(0, 2)})
    server.push("ms/team/sums", {"test.jsonl": lines(50, 2)})
    assert questions(hub(server, tmp_path), DataSource(ms="team/sums", revision=old)) == ["q0", "q1"]
    assert questions(hub(server, tmp_path), DataSource(ms="team/sums")) == ["q50", "q51"]


def test_a_file_that_changes_while_it_comes_is_no_mixture(server: FakeHub, tmp_path: Path) -> None:
    """The rest is asked for only if it is still the rest of the same."""
    with FileHost({"/a.jsonl": lines(1000, 90)}) as host:
        host.cut["/a.jsonl"] = [500]
        host.then["/a.jsonl"] = {"/a.jsonl": lines(2000, 90)}
        found = questions(hub(server, tmp_path), DataSource(url=f"{host.url}/a.jsonl"))
    assert found == [f"q{n}" for n in range(2000, 2090)]
    assert [request.headers.get("range") for request in host.requests] == [None, "bytes=500-"]
