"""Rows stay what they were when they were first read; where they do not, the difference is found and told."""

import json
import os
from pathlib import Path

import pytest
from tests.integration.data_files.test_hub_splits import FIELDS, MAIN, QUICK, SHARDS, hub, lines, no_recipes
from tests.servers.fake_hub import Blob, FakeHub

from model_accuracy_eval.errors import BadData, EvalError
from model_accuracy_eval.hubs.data_fetch import DataFetch
from model_accuracy_eval.hubs.file_hub import FileHub
from model_accuracy_eval.records import DataFile, DataSource, RowsSource
from model_accuracy_eval.tasks import row_pins, rows

FILE = DataFile(name="sums/test.jsonl", source=MAIN)


@pytest.fixture
def server(server: FakeHub) -> FakeHub:
    server.push("datasets/org/sums", SHARDS)
    return server


def source(hub: FileHub, file: DataFile = FILE, data_dir: Path | None = None) -> RowsSource:
    """Where the rows came from; raises if they are others."""
    found: list[RowsSource] = []
    rows.read(file, FIELDS, str(data_dir) if data_dir else None, hub, no_recipes, note=found.append)
    (one,) = found
    return one


def own(folder: Path, content: bytes, name: str = "sums/test.jsonl") -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return folder


def test_first_use_is_told_and_later_ones_are_compared(server: FakeHub, tmp_path: Path) -> None:
    """Each place names the commit."""
    first = source(hub(server, tmp_path))
    commit = server.models["datasets/org/sums"].branches["main"]
    assert (first.status, first.count) == ("pinned now", 5)
    assert first.places[0] == f"hf:org/sums@{commit}/main/test-00000-of-00003.jsonl"
    again = source(hub(server, tmp_path, offline=True))
    assert (again.status, again.rows) == ("as pinned", first.rows)


def test_the_form_of_rows_does_not_matter(server: FakeHub, tmp_path: Path) -> None:
    """One file instead of three, keys in another order, a further column, CSV."""
    first = source(hub(server, tmp_path))
    turned = [
        json.dumps({"more": n, **dict(reversed(json.loads(line).items()))})
        for n, line in enumerate(lines(0, 5).splitlines())
    ]
    as_csv = b"answer,question\n" + b"".join(b"%d,q%d\n" % (n, n) for n in range(5))
    for name, content in (("sums/test.jsonl", "\n".join(turned).encode()), ("sums/test.csv", as_csv)):
        found = source(hub(server, tmp_path), DataFile(name=name, source=MAIN), own(tmp_path / "own", content, name))
        assert (found.status, found.rows) == ("as pinned", first.rows)


@pytest.mark.parametrize(
    ("content", "difference"),
    [
        (lines(0, 4), "it has 4 rows .*, known are 5 .* Missing is row 5 of the known ones"),
        (lines(3, 2), "it has 2 rows .*, known are 5 .* Missing are 3 rows, 1 to 3 of the known ones"),
        (lines(0, 6), "it has 6 rows .*, known are 5 .* Added is row 6"),
        (lines(7, 1) + lines(1, 3), "it has 4 rows .*, known are 5 .* The first that differs is row 1; the last 0 are"),
        (lines(0, 2) + lines(3, 1) + lines(2, 1) + lines(4, 1), "it has 5 rows .*, known are 5 .* Rows 3, 4 differ"),
        (lines(7, 5), "it has 5 rows .*, known are 5 .* Rows 1, 2, 3 and 2 more differ"),
        (lines(0, 5).replace(b'"answer": "3"', b'"answer": "33"'), "known are 5 .* Row 4 differs"),
        (lines(0, 5).replace(b'"3"', b"3"), "known are 5 .* Row 4 differs"),
    ],
    ids=[
        "fewer",
        "without the first",
        "more",
        "others",
        "another order",
        "all others",
        "another answer",
        "another type",
    ],
)
def test_other_rows_are_refused_with_the_difference(
    server: FakeHub, tmp_path: Path, content: bytes, difference: str
) -> None:
    """Also under --data-dir, which is no way past the pin; the next step is named."""
    source(hub(server, tmp_path))
    with pytest.raises(BadData, match=rf"own/sums/test\.jsonl does not have the rows .*{difference}") as refused:
        source(hub(server, tmp_path), data_dir=own(tmp_path / "own", content))
    assert f"--datasets {tmp_path}/own/sums/test.jsonl" in refused.value.sentence


def test_columns_that_rows_may_lack_are_compared_too(server: FakeHub, tmp_path: Path) -> None:
    """A prompt or an answer may read more than the columns that every row has to have."""
    found: list[RowsSource] = []
    rows.read(FILE, ("question",), None, hub(server, tmp_path), no_recipes, note=found.append)
    folder = own(tmp_path / "own", lines(0, 5).replace(b'"answer": "3"', b'"answer": "33"'))
    with pytest.raises(BadData, match="does not have the rows"):
        rows.read(FILE, ("question",), str(folder), hub(server, tmp_path), no_recipes, note=found.append)
    assert [one.status for one in found] == ["pinned now"]


def test_rows_that_a_release_knows_are_named_with_a_way_on(tmp_path: Path) -> None:
    """For a user's file, whose earlier rows this machine may never have seen."""
    known = row_pins.pin([json.loads(line) for line in lines(0, 5).splitlines()], FIELDS)
    file = DataFile(
        name="sums/test.jsonl", source=DataSource(url="hf:org/sums@0a1b2c/x.jsonl", hash="0" * 64), pin=known
    )
    cache = FileHub({"MODEL_ACCURACY_EVAL_CACHE": str(tmp_path)})
    assert source(cache, file, own(tmp_path / "own", lines(0, 5))).status == "known"
    with pytest.raises(
        BadData, match=r"known are 5 .* Remove it, .*; or evaluate it .*: --datasets .*own/sums/test\.jsonl"
    ):
        source(cache, file, own(tmp_path / "own", lines(1, 5)))


def test_an_update_takes_what_the_hub_has_now(server: FakeHub, tmp_path: Path) -> None:
    """And nothing else does."""
    source(hub(server, tmp_path))
    server.push("datasets/org/sums", {**SHARDS, "main/test-00000-of-00003.jsonl": Blob(lines(70, 2), large=True)})
    assert source(hub(server, tmp_path)).status == "as pinned"
    source(hub(server, tmp_path, update=True))
    assert source(hub(server, tmp_path)).status == "as pinned"


@pytest.mark.skipif(os.geteuid() != 0, reason="files can be given to others by root alone")
def test_a_lock_file_in_a_cache_that_another_user_wrote_is_not_believed(server: FakeHub, tmp_path: Path) -> None:
    """It could name any commit of any dataset."""
    source(hub(server, tmp_path))
    os.chown(tmp_path / "data" / "accuracy-data.lock", 65534, 65534)
    assert source(hub(server, tmp_path)).status == "pinned now"


def test_a_user_s_file_without_anything_known_is_compared_with_nothing(server: FakeHub, tmp_path: Path) -> None:
    """And not noted either, because it is the user's to change."""
    split = DataFile(name="sums/test.jsonl", source=DataSource(hf="org/none"))
    assert source(hub(server, tmp_path), split, own(tmp_path / "own", lines(0, 5))).status == "not compared"
    assert source(hub(server, tmp_path), split, own(tmp_path / "own", lines(0, 4))).status == "not compared"
    assert server.asked == []


def test_where_others_share_the_home_its_lock_file_is_not_believed(server: FakeHub, tmp_path: Path) -> None:
    """As in the action, where an earlier step could have chosen the questions; within a run they stay the same."""
    old = server.models["datasets/org/sums"].branches["main"]
    source(hub(server, tmp_path))
    new = server.push("datasets/org/sums", {**SHARDS, "main/test-00002-of-00003.jsonl": lines(70, 2)})
    shared = FileHub(
        {**server.environment, "MODEL_ACCURACY_EVAL_CACHE": str(tmp_path)},
        fetch=DataFetch({**server.environment, "MODEL_ACCURACY_EVAL_CACHE": str(tmp_path)}, retry=QUICK),
        keep_lock=False,
    )
    first, again = source(shared), source(shared)
    assert (first.status, again.status) == ("pinned now", "as pinned")
    assert first.places == again.places == tuple(place.replace(old, new) for place in first.places)
    assert new in first.places[0]
    assert old in source(hub(server, tmp_path)).places[0]


@pytest.mark.parametrize("there", ["the same", "others", "nothing"])
def test_where_one_host_cannot_be_reached_another_has_the_same_rows(
    server: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    """Other rows than the pinned ones are refused; where none has them, the sentence has both hosts."""
    known = row_pins.pin([json.loads(line) for line in lines(0 if there == "the same" else 1, 5).splitlines()], FIELDS)
    split = DataSource(hf="org/none", config="main") if there == "nothing" else MAIN
    file = DataFile(
        name="sums/test.jsonl",
        source=DataSource(url="github:owner/name@0a1b2c/test.jsonl", hash="0" * 64),
        pin=known,
        instead=(DataFile(name="sums/hub_test", source=split),),
    )
    environment = {
        **server.environment, "MODEL_ACCURACY_EVAL_CACHE": str(tmp_path), "GITHUB_RAW_ENDPOINT": "http://127.0.0.1:9"
    }  # fmt: skip
    cache = FileHub(environment, fetch=DataFetch(environment, retry=QUICK))
    if there == "the same":
        assert (source(cache, file).status, source(cache, file).count) == ("known", 5)
        return
    with pytest.raises(EvalError) as refused:
        source(cache, file)
    sentence = refused.value.sentence
    if there == "others":
        assert "does not have the rows that 'sums/test.jsonl' stands for" in sentence
    else:
        assert sentence.startswith("The rows of 'sums/test.jsonl' cannot be fetched: ")
        assert "under --data-dir as sums/test.jsonl. Nor elsewhere: " in sentence
