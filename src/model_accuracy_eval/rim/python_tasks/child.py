"""The child's side: rows on standard input, what the task's functions make of them on standard output."""

import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from model_accuracy_eval.rim.python_tasks import placeholders, stand_ins
from model_accuracy_eval.rim.python_tasks.dataset import Dataset, Row
from model_accuracy_eval.rim.python_tasks.loading import Loading, Wanted
from model_accuracy_eval.rim.python_tasks.transforms import transformed

Job = Mapping[str, Any]


def main() -> None:
    job = json.load(sys.stdin)
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the task prints is no row
    stand_ins.install(job["folder"], load_dataset=Loading(job["files"]))
    sys.modules.update({name: importlib.import_module(ours) for name, ours in job["stand_ins"].items()})
    try:
        told: Any = {"rows": list(with_columns(changed(given(job), job), job))}
        placeholders.check()
    except Wanted as wanted:
        told = {"wants": wanted.name}
    json.dump(told, answer, default=_plain)
    answer.close()


def given(job: Job) -> Any:
    """The rows of the file, or those that a function gives."""
    if not job["made"]:
        return Dataset(job["data"])
    found = function(job["folder"], job["made"])(**job["given"])
    return Dataset(found if job["split"] is None else found[job["split"]])


def changed(rows: Any, job: Job) -> Any:
    """What the task's functions of all rows make of them."""
    if job["rows"]:
        rows = function(job["folder"], job["rows"])(rows)
    if job["transform"]:
        rows = transformed(rows, function(job["folder"], job["transform"]["function"]), job["transform"])
    return rows


def function(folder: str, name: str) -> Callable[..., Any]:
    """`module.function`, from the module's file in the folder."""
    path, _, attribute = name.rpartition(".")
    file = Path(folder, *path.split(".")).with_suffix(".py")
    known = stand_ins.module_name(file)
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{file} is no Python module")
        sys.modules[known] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        placeholders.LOOKED_AT.clear()  # a module may try what there is
    found: Callable[..., Any] = getattr(sys.modules[known], attribute)
    return found


def with_columns(rows: Any, job: Job) -> Iterator[Row]:
    """Each row with its further columns."""
    makers = {column: function(job["folder"], name) for column, name in job["columns"].items()}
    for row in rows:
        made = {column: maker(dict(row)) for column, maker in makers.items()}
        if isinstance(made.get("doc_to_text"), int):
            raise TypeError(
                "doc_to_text gives a number, which stands for one of several contexts; that is not done here"
            )
        yield {**row, **made}


def _plain(value: Any) -> Any:
    """What JSON cannot write by itself."""
    for method in ("tolist", "to_list", "isoformat"):
        if hasattr(value, method):
            return getattr(value, method)()
    raise TypeError(f"a row holds {value!r}, which is no plain data")
