"""Python of a task's author: run in a process of its own, over stand-ins of what it imports."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy
import pytest

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Recipe
from model_accuracy_eval.trusted_python.trusted_functions import TrustedRows

ROWS = [{"q": f"{number}", "n": number} for number in range(8)]
RUN = TrustedRows({**os.environ, "SECRET_TOKEN": "marker-of-a-secret"})


def made(folder: Path, source: str, rows: str | None = "utils.process_docs", **columns: str) -> list[dict[str, object]]:
    (folder / "utils.py").write_text(source, encoding="utf-8")
    return RUN(Recipe(folder=str(folder), rows=rows, columns=columns), [dict(row) for row in ROWS], nothing)


def nothing(name: str) -> NoReturn:
    """There is no other file."""
    raise BadData(f"There are no rows for '{name}'.")


def test_rows_are_mapped_filtered_and_given_columns(tmp_path: Path) -> None:
    """What tasks do with `datasets.Dataset`, and columns made of each row that is left."""
    source = """
import datasets
def process_docs(dataset: datasets.Dataset) -> datasets.Dataset:
    print("noise on standard output")
    return dataset.filter(lambda row: row["n"] % 2).map(lambda row: {"twice": 2 * row["n"]}).select(range(2))
def text(row):
    return f"{row['twice']}?"
"""
    rows = made(tmp_path, source, doc_to_text="utils.text")
    assert [(row["n"], row["twice"], row["doc_to_text"]) for row in rows] == [(1, 2, "2?"), (3, 6, "6?")]


def test_a_seeded_shuffle_is_that_of_the_real_library(tmp_path: Path) -> None:
    """NumPy's generator draws the order."""
    rows = made(tmp_path, "def process_docs(rows):\n    return rows.shuffle(seed=42)\n")
    assert [row["n"] for row in rows] == numpy.random.default_rng(42).permutation(8).tolist()


def test_nothing_of_our_environment_is_known_inside(tmp_path: Path) -> None:
    """No variable but those that every program needs, an empty folder to stand in, and another process."""
    source = "import os\ndef process_docs(rows):\n    return [{'env': sorted(os.environ), 'pid': os.getpid(), 'files': os.listdir()}]\n"
    (row,) = made(tmp_path, source)
    assert set(row["env"]) <= {"PATH", "HOME", "TMPDIR", "LANG", "PYTHONUTF8", "LC_CTYPE"}  # type: ignore[call-overload]
    assert row["pid"] != os.getpid()
    assert row["files"] == []


def test_libraries_that_are_not_there_may_be_imported_but_not_used(tmp_path: Path) -> None:
    """A module that imports a scorer at its top still makes its rows; a row made of a placeholder is refused."""
    header = "import no_such_scorer\nfrom no_such_scorer.deep import thing\nSCORER = no_such_scorer.load('x')\nclass Own(thing): ...\n"
    assert len(made(tmp_path, header + "def process_docs(rows):\n    return rows\n")) == 8
    with pytest.raises(BadData, match=r"ImportError: no_such_scorer\.load\(\)\.run\(\) is not installed where"):
        made(
            tmp_path, header + "def process_docs(rows):\n    return rows.map(lambda row: {'x': str(SCORER.run(row))})\n"
        )


def test_installed_libraries_are_told_what_is_not_there(tmp_path: Path) -> None:
    """nltk looks for SciPy, and SciPy for Cython, whose version it then compares."""
    source = (
        "import nltk\nfrom scipy import special\n"
        "def process_docs(rows):\n    return rows.map(lambda row: {'x': float(special.comb(row['n'], 2))})\n"
    )
    assert [row["x"] for row in made(tmp_path, source)] == [n * (n - 1) / 2 for n in range(8)]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("def process_docs(rows):\n    return 1 / 0\n", "failed: ZeroDivisionError: division by zero"),
        ("def other(rows): ...\n", "failed: AttributeError"),
        ("def process_docs(rows):\n    return rows.map(len, batched=True)\n", "batched=True"),
        ("def process_docs(rows):\n    return [{'x': object()}]\n", "which is no plain data"),
        ("import sys\ndef process_docs(rows):\n    sys.exit('enough')\n", "failed: SystemExit: enough"),
    ],
)
def test_python_that_fails_is_told_with_its_last_line(tmp_path: Path, source: str, sentence: str) -> None:
    """The folder, what was raised, and the traceback as detail."""
    with pytest.raises(BadData) as error:
        made(tmp_path, source)
    assert sentence in error.value.sentence
    assert str(tmp_path) in error.value.sentence


def test_modules_of_one_name_in_two_folders_are_two_modules(tmp_path: Path) -> None:
    """Each column comes from the file that it names."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "utils.py").write_text(f"def text(row):\n    return '{folder}'\n")
    rows = made(tmp_path, "", rows=None, first="a.utils.text", second="b.utils.text")
    assert (rows[0]["first"], rows[0]["second"]) == ("a", "b")


def test_a_question_that_is_a_number_is_refused(tmp_path: Path) -> None:
    """lm-eval takes it for one of several contexts; weighing it as a text would be silently wrong."""
    with pytest.raises(BadData, match="doc_to_text gives a number"):
        made(tmp_path, "def text(row):\n    return row['n']\n", rows=None, doc_to_text="utils.text")


LOADS = """
import datasets
def load(place, **rest):
    whole = datasets.load_dataset(place, "small", token=None, trust_remote_code=True)
    try:
        more = datasets.load_dataset(place, data_files="more.jsonl", split="train")
    except Exception:
        more = []
    return {"a": whole["train"].filter(lambda row: row["n"] > 1), "b": [*whole["test"], *more, rest]}
def samples():
    return [{"n": 5}]
def text(row):
    return f"{row['n']}?"
"""


def loaded(folder: Path, read: Callable[[str], list[dict[str, object]]], **recipe: Any) -> list[dict[str, object]]:
    (folder / "utils.py").write_text(LOADS, encoding="utf-8")
    return RUN(Recipe(folder=str(folder), **recipe), [], read)


def test_rows_that_python_loads_are_read_here(tmp_path: Path) -> None:
    """By the name that each file has under --data-dir, once each; no `except` of the author's comes between."""
    files = {"own/x/small/train": [{"n": 1}, {"n": 2}], "own/x/small/test": [{"n": 3}], "own/x/more.jsonl": [{"n": 4}]}
    asked: list[str] = []

    def read(name: str) -> list[dict[str, object]]:
        asked.append(name)
        return [dict(row) for row in files[name]]

    first = loaded(
        tmp_path, read, loader="utils.load", loader_args={"place": "own/x"}, split="a", columns={"t": "utils.text"}
    )
    assert first == [{"n": 2, "t": "2?"}]
    assert sorted(asked) == sorted(files)
    second = loaded(tmp_path, read, loader="utils.load", loader_args={"place": "own/x", "n": 9}, split="b")
    assert second == [{"n": 3}, {"n": 4}, {"n": 9}]


def test_examples_that_python_writes_need_no_file(tmp_path: Path) -> None:
    """A function without arguments gives them, and their columns are made like those of any row."""
    assert loaded(tmp_path, nothing, loader="utils.samples", columns={"t": "utils.text"}) == [{"n": 5, "t": "5?"}]


@pytest.mark.parametrize(
    ("given", "split", "sentence"),
    [
        ({"place": "own/x"}, "a", "There are no rows for 'own/x/more.jsonl'"),
        ({"place": "own/x"}, "c", "failed: KeyError: 'c'"),
        ({"config": "x"}, "a", "failed: TypeError: load.. missing 1 required positional argument"),
    ],
)
def test_rows_that_cannot_be_loaded_are_told(tmp_path: Path, given: dict[str, str], split: str, sentence: str) -> None:
    """The file that is not here, the split that is not among them, the argument that the task's file does not give."""

    def read(name: str) -> list[dict[str, object]]:
        return [{"n": 1}] if name != "own/x/more.jsonl" or split == "c" else nothing(name)

    with pytest.raises(BadData, match=sentence):
        loaded(tmp_path, read, loader="utils.load", loader_args=given, split=split)


def test_our_process_imports_nothing_of_it(tmp_path: Path) -> None:
    """Neither the module nor the stand-ins are seen outside of the child."""
    made(tmp_path, "def process_docs(rows):\n    return rows\n")
    assert "datasets" not in sys.modules
    assert not any(name.startswith("task_python") for name in sys.modules)
