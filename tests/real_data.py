"""Benchmark files as they lie beside the repository on machines that have them; tests are skipped without."""

import gzip
from functools import cache
from pathlib import Path

import pytest

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import DataFile, DataRow, PreparedDataset, TaskSpec
from model_accuracy_eval.tasks import preparation
from model_accuracy_eval.tasks.rows import parse

REAL = Path(__file__).parents[2] / "shared" / "data"


def real(file: DataFile) -> bytes:
    """The uncompressed bytes."""
    path = REAL / f"{file.name}.gz"
    if not path.is_file():
        pytest.skip(f"the real {file.name} is not on this machine ({path.name} is looked for in ../shared/data)")
    return gzip.decompress(path.read_bytes())


def filled(file: Path, task: TaskSpec) -> None:
    """A file of a few rows becomes one of as many as the dataset has: these again and again."""
    few = file.read_text(encoding="utf-8").splitlines(keepends=True)
    assert task.data.pin is not None
    count = task.data.pin.count
    file.write_text("".join((few * (count // len(few) + 1))[:count]), encoding="utf-8")


def rows(task: TaskSpec) -> list[DataRow]:
    """The questions' rows, before any view."""
    return [row for file in (task.data, *task.data.more) for row in parse(file.name, real(file), task.fields)]


def built(task: TaskSpec, first: int | None = None) -> PreparedDataset:
    """The task over its real rows."""
    shots = task.prompt.fewshot
    examples: list[DataRow] = []
    if shots and shots.data:
        examples = list(parse(shots.data.name, real(shots.data), shots.fields or task.fields))
    return preparation.build(task, rows(task), examples, None, first=first)


@cache
def paper(name: str, first: int | None = None) -> PreparedDataset:
    """The dataset of that name, rendered once for all tests."""
    return built(find(name), first)
