"""The folder of a run, or a zip of one: both are read alike, and what is neither is refused in one sentence."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from model_accuracy_eval.errors import BadReuse, EvalError, PublishFailed
from model_accuracy_eval.run_folder import run_archive
from model_accuracy_eval.run_folder.run_archive import FolderArchive, open_archive
from model_accuracy_eval.run_folder.run_folder import RunFolder

FILES = {"run.json": b"{}", "results/a/demo.json": b'{"details": []}'}


def packed(path: Path, prefix: str = "") -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in FILES.items():
            target.writestr(prefix + name, data)
    return str(path)


@pytest.mark.parametrize("prefix", ["", "outputs/0123/"])
def test_a_zip_is_read_like_its_folder(tmp_path: Path, prefix: str) -> None:
    """Wherever in it the run lies."""
    for name, data in FILES.items():
        (tmp_path / "run" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "run" / name).write_bytes(data)
    folder, zipped = open_archive(str(tmp_path / "run")), open_archive(packed(tmp_path / "run.zip", prefix))
    for name in (*FILES, "results/a/other.json", "run.json/x"):
        assert folder.read(name) == zipped.read(name) == FILES.get(name)


def test_a_folder_is_named_without_a_slash_at_its_end(tmp_path: Path) -> None:
    """As shells complete it: what is said of its files has one slash."""
    assert open_archive(f"{tmp_path}/").root == str(tmp_path)


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    """With its path."""
    with pytest.raises(BadReuse, match=r"There is no run at '.*/none': neither a folder nor a zip of one"):
        open_archive(str(tmp_path / "none"))


def test_what_is_no_zip_is_refused(tmp_path: Path) -> None:
    """A text file, and a zip that lost its end or has a byte changed."""
    whole = Path(packed(tmp_path / "run.zip")).read_bytes()
    broken = {"text": b"no zip", "cut": whole[:-30], "flipped": whole.replace(b"PK\x03\x04", b"PK\x03\x05", 1)}
    for name, data in broken.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadReuse, match=f"/{name}' cannot be read as a zip of a run"):
            open_archive(str(tmp_path / name)).read("run.json")


def test_a_zip_of_several_runs_names_none(tmp_path: Path) -> None:
    """Which one is meant is not guessed."""
    path = packed(tmp_path / "run.zip", "a/")
    with zipfile.ZipFile(path, "a") as target:
        target.writestr("b/run.json", b"{}")
    with pytest.raises(BadReuse, match="holds 2 runs"):
        open_archive(path)


def test_a_file_that_would_unpack_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a byte of it is unpacked, with both sizes."""
    monkeypatch.setattr(run_archive, "_LARGEST", 10)
    found = open_archive(packed(tmp_path / "run.zip"))
    with pytest.raises(BadReuse, match=r"results/a/demo.json in '.*' is 15 bytes; 10 is the most"):
        found.read("results/a/demo.json")


@pytest.mark.parametrize(("opened", "error"), [(FolderArchive, BadReuse), (RunFolder, PublishFailed)])
def test_a_file_that_cannot_be_read_is_told(
    tmp_path: Path, opened: type[FolderArchive], error: type[EvalError]
) -> None:
    """Here a folder stands where it should be: it is not taken for a run without replies, nor for a defect."""
    (tmp_path / "replies.jsonl").mkdir()
    archive = opened(str(tmp_path))
    readers: list[Callable[[str], object]] = [
        archive.read,
        lambda name: list(archive.lines(name)),
        lambda name: list(archive.parts(name)),
    ]
    if isinstance(archive, RunFolder):
        readers.append(lambda name: list(archive.lines_at(name, [0])))
    for read in readers:
        with pytest.raises(error, match=r"replies\.jsonl cannot be read: Is a directory\."):
            read("replies.jsonl")


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_no_line_of_a_damaged_file_is_read(tmp_path: Path, packing: int) -> None:
    """Its first lines are whole; only its end says that it is damaged, and a reader would blame the line."""
    path, lines = tmp_path / "run.zip", [b"%d of these\n" % (number * 7919 % 1000) for number in range(20_000)]
    with zipfile.ZipFile(path, "w", packing) as archive:
        archive.writestr("run.json", b"{}")
        archive.writestr("lines", b"".join(lines))
        entry = archive.getinfo("lines")
    assert list(open_archive(str(path)).lines("lines")) == lines
    content = bytearray(path.read_bytes())
    content[entry.header_offset + 60 + entry.compress_size // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(BadReuse, match="It may have been cut off or damaged"):
        next(open_archive(str(path)).lines("lines"))
