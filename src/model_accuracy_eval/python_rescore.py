"""The Python interface's `rescore`: judge replies that another tool saved. Runs start faster without its modules."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from model_accuracy_eval import wiring
from model_accuracy_eval.python_api import OnProgress, PathLike, display_of
from model_accuracy_eval.rescoring.rescored import Rescored
from model_accuracy_eval.wiring import rescore_parts


def rescore(
    files: PathLike | Iterable[PathLike],
    *,
    task: str | None = None,
    claimed: PathLike | None = None,
    subset: bool = False,
    diff: PathLike | None = None,
    fields: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    progress: OnProgress | Literal["terminal"] | None = None,
    **values: Any,
) -> list[Rescored]:
    """Judges saved replies as `evaluate` would: of runs of this program (folders or files in them), AISBench, lm-eval …

    Returns one result for every dataset of a run, for every other file (without a dataset, for every filter of a file
    of lm-eval), and for every group of datasets.

    `task`: the dataset, task file or group that was asked; None takes what the file says. `claimed`: a results file to
    compare with; None takes the one that lies beside the replies. `subset`: judge only the problems that a file holds,
    and count none as missing. `fields`: the fields of a file of no known shape, such as {"id": "task_id", "prediction":
    "response"}; docs/reference/saved-replies.md lists the shapes and the names. `diff`: a file (.jsonl, .csv or .md)
    for every sample that has another value in its file than here. `values`: settings of docs/reference/settings.md
    about data, judging and the sandbox: `data_dir`, `limit`, `k`, `tasks_path`, `trust_python`, `sandbox`,
    `engine` and `judge_endpoint`.
    """
    environ = os.environ if environ is None else environ
    paths = [files] if isinstance(files, (str, os.PathLike)) else files
    given = rescore_parts.options(
        values,
        task=task,
        claimed=None if claimed is None else os.fspath(claimed),
        diff=None if diff is None else os.fspath(diff),
        subset=subset,
        fields=fields,
    )
    return rescore_parts.rescored(
        [os.fspath(path) for path in paths],
        given,
        environ,
        wiring.signal_clock(),
        display_of(progress),
    )
