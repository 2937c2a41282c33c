"""Data files from the user's folders, the package and the cache."""

import gzip
from hashlib import sha256
from pathlib import Path

import pytest

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.hubs.file_hub import FileHub
from model_accuracy_eval.hubs.hub_listings import place
from model_accuracy_eval.records import DataBytes, DataFile, DataSource
from model_accuracy_eval.tasks import rows

DATA = b'{"question": "1+1", "answer": "2"}\n'
HASH = sha256(DATA).hexdigest()
AT = "github:owner/name@0a1b2c/data/test.jsonl"
PINNED = DataFile(name="sums/test.jsonl", source=DataSource(url=AT, hash=HASH))


def hub(cache: Path, **environment: str) -> FileHub:
    return FileHub({"MODEL_ACCURACY_EVAL_CACHE": str(cache), **environment})


def read(hub: FileHub, file: DataFile, data_dir: Path | None = None) -> DataBytes:
    """Its only part."""
    (part,) = hub.parts(file, str(data_dir) if data_dir else None)
    return part


def test_a_bundled_file_comes_out_of_the_package(tmp_path: Path) -> None:
    """And out of nowhere else, whatever the data folder holds."""
    (tmp_path / "demo_gsm8k.jsonl").write_bytes(b"other")
    bundled = DataFile(name="demo_gsm8k.jsonl", source=DataSource(url="package:demo_gsm8k.jsonl"))
    data = read(hub(tmp_path), bundled, tmp_path)
    assert data.place.endswith("tasks/data/demo_gsm8k.jsonl")
    assert isinstance(data.content, bytes)
    assert data.content.startswith(b'{"question"')


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("layout", ["sums/test.jsonl", "test.jsonl"])
def test_the_data_folder_is_searched_first(tmp_path: Path, layout: str, *, zipped: bool) -> None:
    """In both layouts, with the file's folder and without it, as it is and as .gz."""
    path = tmp_path / "data" / (layout + ".gz" * zipped)
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress(DATA) if zipped else DATA)
    found = read(hub(tmp_path / "cache"), PINNED, tmp_path / "data")
    assert found == DataBytes(place=str(path), content=DATA, is_known=True)


@pytest.mark.parametrize("name", ["own.jsonl", "own.jsonl.gz"])
def test_an_own_file_is_read_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """By its path, relative or not; naming it without .gz finds it as well."""
    (tmp_path / name).write_bytes(gzip.compress(DATA) if name.endswith(".gz") else DATA)
    monkeypatch.chdir(tmp_path)
    for spelled in ("own.jsonl", f"./{name}", str(tmp_path / name)):
        assert read(hub(tmp_path / "cache"), DataFile(name=spelled)).content == DATA


def test_a_pinned_file_is_not_looked_for_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever lies there was not put there for this."""
    (tmp_path / "sums").mkdir()
    (tmp_path / "sums" / "test.jsonl").write_bytes(DATA)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadData, match="are not on this machine"):
        read(hub(tmp_path / "cache"), PINNED)


def test_a_file_with_another_hash_is_refused(tmp_path: Path) -> None:
    """The sentence names it, and what to do."""
    (tmp_path / "test.jsonl").write_bytes(DATA + b"\n")
    assert not read(hub(tmp_path), PINNED, tmp_path).is_known
    with pytest.raises(BadData) as error:
        rows.read(PINNED, (), str(tmp_path), hub(tmp_path), None)  # type: ignore[arg-type]
    assert error.value.sentence == (
        f"{tmp_path}/test.jsonl is not the file that 'sums/test.jsonl' stands for: its bytes have another hash than "
        "the pinned one. Remove it, and that one is fetched; or evaluate it as questions of your own: --datasets "
        f"{tmp_path}/test.jsonl."
    )


@pytest.mark.parametrize(
    "data",
    [b"", b"plain", gzip.compress(DATA)[:-9], gzip.compress(DATA)[:12] + b"\xff" * 20],
    ids=["empty", "plain", "cut", "corrupt"],
)
def test_a_broken_gz_file_is_refused(tmp_path: Path, data: bytes) -> None:
    """Empty, not zipped at all, torn, or damaged in the middle."""
    (tmp_path / "own.jsonl.gz").write_bytes(data)
    with pytest.raises(BadData, match=r"own\.jsonl\.gz(: there is not a single row in it| cannot be read)"):
        rows.read(DataFile(name=str(tmp_path / "own.jsonl.gz")), (), None, hub(tmp_path), None)  # type: ignore[arg-type]


def test_what_is_not_there_is_told_with_the_next_step(tmp_path: Path) -> None:
    """Where one looked and what to type; reading never goes out to fetch."""
    with pytest.raises(BadData) as error:
        read(hub(tmp_path / "cache"), PINNED, tmp_path / "data")
    assert "model-accuracy-eval tasks prepare" in error.value.sentence
    assert f"{tmp_path}/cache/data/{HASH}/test.jsonl" in error.value.sentence
    with pytest.raises(BadData, match=r"There is no data file 'nowhere\.jsonl': it is looked for"):
        read(hub(tmp_path), DataFile(name="nowhere.jsonl"))
    with pytest.raises(BadData, match="There are no rows for .x."):
        read(hub(tmp_path), DataFile(name="x"))


def test_the_cache_lies_where_caches_lie() -> None:
    """MODEL_ACCURACY_EVAL_CACHE, else XDG_CACHE_HOME, else ~/.cache."""
    for environment, base in (
        ({"MODEL_ACCURACY_EVAL_CACHE": "/c", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/c/data/"),
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/model-accuracy-eval/data/"),
        ({"HOME": "/h"}, "/h/.cache/model-accuracy-eval/data/"),
    ):
        with pytest.raises(BadData, match=f"Looked at: {base}{HASH}/test.jsonl"):
            read(FileHub(environment), PINNED)


def test_places_become_addresses() -> None:
    """Of the three hubs, and of mirrors that the environment names."""

    def url(text: str, **environment: str) -> str:
        return place(text, environment)[2]

    assert url("github:o/n@c/a/b.jsonl") == "https://raw.githubusercontent.com/o/n/c/a/b.jsonl"
    assert url("hf:o/n@main/b.jsonl") == "https://huggingface.co/datasets/o/n/resolve/main/b.jsonl"
    assert url("ms:o/n@v1/b.jsonl") == (
        "https://www.modelscope.cn/api/v1/datasets/o/n/repo?Revision=v1&FilePath=b.jsonl"
    )
    assert url("hf:o/n@main/b", HF_ENDPOINT="http://m/") == "http://m/datasets/o/n/resolve/main/b"


@pytest.mark.parametrize("text", ["", "github:o/n", "ftp:o/n@c/a", "ftp://x/y", "github:o@c/a", "hf:o/n@main/"])
def test_what_is_no_place_is_refused(text: str) -> None:
    """With the form that places have."""
    with pytest.raises(
        BadData, match="is not a source of a file: write scheme:owner/name@revision/path with github, hf, ms"
    ):
        place(text, {})
