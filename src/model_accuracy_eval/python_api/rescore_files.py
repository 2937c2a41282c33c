"""Judges saved replies."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from model_accuracy_eval.python_api.progress import OnProgress, display_of
from model_accuracy_eval.rescoring.rescoring_result import Rescored
from model_accuracy_eval.rescoring.saved_files import RescoreOptions, rescored
from model_accuracy_eval.run import setting_values
from model_accuracy_eval.system.clock import SignalClock

PathLike = str | os.PathLike[str]


def rescore(
    files: PathLike | Iterable[PathLike],
    *,
    task: str | None = None,
    claimed: PathLike | None = None,
    subset: bool = False,
    diff: PathLike | None = None,
    unverified: bool = False,
    fields: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    progress: OnProgress = None,
    **values: Any,
) -> list[Rescored]:
    """Judges saved replies as `evaluate` would: of runs of this program (folders or files in them), AISBench, lm-eval …

    Returns one result for every dataset of a run, for every other file (without a dataset, for every filter of a file
    of lm-eval), and for every group of datasets.

    `task`: the dataset, task file or group that was asked; None takes what the file says. `claimed`: a results file to
    compare with; None takes the one that lies beside the replies. `subset`: judge only the problems that a file holds,
    and count none as missing. `fields`: the fields of a file of no known shape, such as {"id": "task_id", "prediction":
    "response"}; docs/reference/saved-replies.md lists the shapes and the names. `diff`: a file (.jsonl, .csv or .md)
    for every sample that has another value in its file than here. `unverified`: judges a run of this program whose
    files are not as it left them, and says so in the notes. `values`: settings of docs/reference/settings.md
    about data, judging and the sandbox: `data_dir`, `limit`, `first`, `k`, `tasks_path`, `trust_python`, `sandbox`,
    `engine` and `judge_endpoint`.
    """
    environ = os.environ if environ is None else environ
    paths = [files] if isinstance(files, (str, os.PathLike)) else files
    given = RescoreOptions(
        settings=setting_values.read(values, "the arguments"),
        task=task,
        claimed=None if claimed is None else os.fspath(claimed),
        diff=None if diff is None else os.fspath(diff),
        subset=subset,
        unverified=unverified,
        fields=fields or {},
    )
    return rescored([os.fspath(path) for path in paths], given, environ, SignalClock(), display_of(progress))
