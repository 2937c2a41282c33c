"""Replies in gzip, zip archives and folders, and in the parts of one dataset, on a real disk."""

import gzip
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.rescoring import saved_files
from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.reply_files import open_replies
from model_accuracy_eval.system.local_files import PackedFile

R = SavedReply
LINES = b'{"id": 1, "prediction": "a"}\n{"id": 2, "prediction": "b"}\n'
REPLIES = [R(problem="1", text="a"), R(problem="2", text="b")]
SAMPLE = {"id": "q", "input": "?", "target": "x", "output": {"choices": [{"message": {"content": "x"}}]}}


def read(path: Path) -> list[SavedReply]:
    return list(open_replies(PackedFile(path, path.name)).replies())


def archive(path: Path, members: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return path


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl"])
def test_gzip_is_recognised_by_its_content(tmp_path: Path, name: str) -> None:
    """Whatever the file is called."""
    (tmp_path / name).write_bytes(gzip.compress(LINES))
    assert read(tmp_path / name) == REPLIES


def test_an_archive_of_one_file_is_that_file(tmp_path: Path) -> None:
    """MMLU-Pro publishes its outputs so; macOS adds entries of its own."""
    members = {"outputs.json": LINES, "__MACOSX/._outputs.json": b"\x00\x05", "notes.txt": b"x"}
    assert read(archive(tmp_path / "a.zip", members)) == REPLIES


@pytest.mark.parametrize("head", ["header.json", "_journal/start.json"], ids=["finished", "stopped"])
def test_a_log_of_inspect_is_an_archive_of_samples(tmp_path: Path, head: str) -> None:
    """A log of an evaluation that was stopped has only the beginning of its header."""
    samples = {f"samples/q_epoch_{epoch}.json": {**SAMPLE, "epoch": epoch} for epoch in (1, 2)}
    path = archive(tmp_path / "log.eval", {**samples, head: {"eval": {"task": "sums"}}, "summaries.json": []})
    assert read(path) == [
        R(problem="q", index=index, question="?", gold=("x",), dataset="sums", text="x") for index in (0, 1)
    ]


def test_a_folder_of_solutions_is_read_as_evalplus_reads_it(tmp_path: Path) -> None:
    """The folder is the problem, the file's name the number of the sample."""
    for name, text in {"HumanEval_0/10.py": "ten", "HumanEval_0/2.py": "two", "Mbpp_11/0.py": "ü\r\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "notes.md").write_text("x")
    assert read(tmp_path) == [
        R(problem="HumanEval/0", dataset="HumanEval", index=2, text="two"),
        R(problem="HumanEval/0", dataset="HumanEval", index=10, text="ten"),
        R(problem="Mbpp/11", dataset="mbpp_plus", index=0, text="ü\r\n"),
    ]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\x28\xb5\x2f\xfd\x00", r"a\.jsonl is packed by Zstandard: unpack it first, with `zstd -d`"),
        (gzip.compress(LINES)[:-9], r"a\.jsonl cannot be read: "),
        (gzip.compress(LINES)[:20] + b"\x00" * 9, r"a\.jsonl cannot be read: "),
        (b"PK\x03\x04 and no more", r"a\.jsonl cannot be read: File is not a zip file"),
    ],
    ids=["zstd", "gzip that breaks off", "broken gzip", "broken zip"],
)
def test_what_cannot_be_unpacked_is_one_sentence(tmp_path: Path, data: bytes, sentence: str) -> None:
    """With the file's name."""
    (tmp_path / "a.jsonl").write_bytes(data)
    with pytest.raises(BadData, match=sentence):
        read(tmp_path / "a.jsonl")


def test_a_packing_that_python_does_not_know_is_one_sentence(tmp_path: Path) -> None:
    """Newer logs of inspect are packed by Zstandard within the archive."""
    path = archive(tmp_path / "log.eval", {"samples/q_epoch_1.json": {**SAMPLE, "epoch": 1}})
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        data[data.index(mark) + place] = 93
    path.write_bytes(data)
    with pytest.raises(BadData, match="becomes readable by `inspect log convert --to json"):
        read(path)


@pytest.mark.parametrize("names", [["a.json", "b.json"], ["a.txt"]])
def test_a_folder_or_archive_of_other_files_is_refused(tmp_path: Path, names: list[str]) -> None:
    """With how many there are, and what can be read."""
    path = archive(tmp_path / "a.zip", dict.fromkeys(names, LINES))
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in names:
        (folder / name).write_bytes(LINES)
    for place in (path, folder):
        with pytest.raises(BadData, match=f"holds {len(names)} files, {len(names) // 2 * 2} of them JSON"):
            read(place)


def test_a_missing_file_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    """In one sentence each."""
    with pytest.raises(BadData, match=r"a\.jsonl cannot be read: No such file"):
        read(tmp_path / "a.jsonl")
    with pytest.raises(BadData, match="has no files in it or in the folders in it"):
        read(tmp_path)


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    """It can be read only once, and would be empty the second time."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadData, match="pipe is a pipe or a device, .* save them to a file"):
        read(tmp_path / "pipe")


def parts(folder: Path, *sizes: int) -> list[str]:
    paths = [folder / f"sums_{number}.json" for number in range(len(sizes))]
    for path, size in zip(paths, sizes, strict=True):
        path.write_text(json.dumps({str(problem): {"prediction": f"{path.stem} {problem}"} for problem in range(size)}))
    return [str(path) for path in paths]


def problems(path: str) -> dict[str, str]:
    return {reply.problem: reply.text for reply in saved_files.replies(path, {})[1]()}


def test_the_parts_of_a_dataset_are_counted_through(tmp_path: Path) -> None:
    """OpenCompass begins at 0 in every part."""
    paths = parts(tmp_path, 2, 3, 1)
    assert problems(paths[0]) == {
        "0": "sums_0 0", "1": "sums_0 1", "2": "sums_1 0", "3": "sums_1 1", "4": "sums_1 2", "5": "sums_2 0",
    }  # fmt: skip
    assert saved_files.replies(paths[0], {})[0] == "sums"
    assert saved_files.without_later_parts(paths) == paths[:1]
    assert saved_files.without_later_parts(paths[1:]) == paths[1:]
    with pytest.raises(BadData, match=r"sums_1\.json is a part of 3: give .*sums_0\.json"):
        problems(paths[1])


def test_a_part_with_a_gap_is_refused(tmp_path: Path) -> None:
    """Where the next part begins is not known then."""
    first, _ = parts(tmp_path, 2, 2)
    Path(first).write_text('{"0": {"prediction": "a"}, "2": {"prediction": "b"}}')
    with pytest.raises(BadData, match="lacks some of the problems from 0 to 2"):
        problems(first)


def test_names_that_only_look_like_parts_are_files_of_their_own(tmp_path: Path) -> None:
    """A single one, one that lies beside the whole, and those of other shapes."""
    alone, _ = parts(tmp_path, 1, 1)
    (tmp_path / "sums.json").write_bytes(b"{}")
    assert problems(alone) == {"0": "sums_0 0"}
    (tmp_path / "sums.json").unlink()
    (tmp_path / "sums_1.json").unlink()
    assert problems(alone) == {"0": "sums_0 0"}
    for number in (0, 1):
        (tmp_path / f"lines_{number}.json").write_bytes(LINES)
    assert problems(str(tmp_path / "lines_1.json")) == {"1": "a", "2": "b"}
