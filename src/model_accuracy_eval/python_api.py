"""The Python interface: evaluate a service or an adapter, compare two runs, judge replies that another tool saved.

Nothing here prints, ends the process or installs signal handlers unless it is asked to. Every failure is an
`errors.EvalError` with a sentence and the exit code that the command line would end with.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Literal

import msgspec

from model_accuracy_eval.ports import Activity, ProgressDisplay, Sink
from model_accuracy_eval.records import Comparison, Counts, Report, Settings
from model_accuracy_eval.rescoring.rescoring_result import Rescored
from model_accuracy_eval.rescoring.saved_files import RescoreOptions, rescored
from model_accuracy_eval.run import engines, pipeline, plan_parts, setting_values
from model_accuracy_eval.run.previous_run import compare as compare_runs
from model_accuracy_eval.run_folder import kept_run
from model_accuracy_eval.run_folder.run_archive import open_archive
from model_accuracy_eval.sinks import FILES
from model_accuracy_eval.system.clock import SignalClock

PathLike = str | os.PathLike[str]


class ProgressEvent(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is. `stage` is always set; the other fields depend on `kind`."""

    kind: Literal["stage", "message", "dataset"]
    stage: str
    message: str = ""
    dataset: str = ""
    counts: Counts | None = None
    """The samples of the dataset so far: planned, answered, rejected, failed and so on."""


OnProgress = Callable[[ProgressEvent], object]


def evaluate(
    settings: Settings | Mapping[str, Any] | None = None,
    /,
    *,
    progress: OnProgress | Literal["terminal"] | None = None,
    environ: Mapping[str, str] | None = None,
    handle_signals: bool = False,
    sinks: Iterable[Sink] = (),
    **values: Any,
) -> Report:
    """Runs one evaluation as `model-accuracy-eval run` does, writes its run folder and returns its report.

    Settings are those of docs/reference/settings.md, given as a `Settings` record, as a mapping, or by keyword, which
    wins; `config` names a YAML file that lies under all of them. In a `Settings` record, fields left at their default
    count as not given.

    `progress`: called with a `ProgressEvent` for every change; "terminal" shows what the command shows; None is silent.
    `environ`: the environment variables to use instead of this process's (API keys, hub tokens, proxies).
    `handle_signals`: SIGINT, SIGTERM and SIGHUP end the run with a partial report, as in the command; main thread only.
    `sinks`: places of your own to publish the report to, after the files of the run folder.
    """
    environ = os.environ if environ is None else environ
    clock = SignalClock()
    with clock.listening() if handle_signals else contextlib.nullcontext():
        say = partial(print, file=sys.stderr) if progress == "terminal" else _ignore
        with clock.interruptible():
            plan = plan_parts.plan({**_given(settings), **values}, environ, check=clock.check, say=say)
        output = sys.stdout if plan.settings.debug else sys.stderr
        ports = engines.ports(plan, environ, clock, output, wrap_display=_display_of(progress))
        try:
            return pipeline.run(plan, ports, [*FILES, *sinks])
        finally:
            ports.progress.close()


def compare(base: PathLike, new: PathLike, *, unverified: bool = False) -> Comparison:
    """Compares two runs, each a folder or a zip of one: differences with intervals, and which problems flipped.

    `unverified`: goes on with a run whose files are not as it left them, and says so in the notes.
    """
    kept = (kept_run.opened(open_archive(os.fspath(place)), unverified=unverified) for place in (base, new))
    return compare_runs(*kept)


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
    return rescored([os.fspath(path) for path in paths], given, environ, SignalClock(), _display_of(progress))


def _display_of(progress: OnProgress | Literal["terminal"] | None) -> Callable[[ProgressDisplay], ProgressDisplay]:
    """Puts what the caller wants to hear before the display of a run."""
    return (lambda own: own) if progress == "terminal" else lambda _: _Callbacks(progress)


def _given(settings: Settings | Mapping[str, Any] | None) -> Mapping[str, Any]:
    if not isinstance(settings, Settings):
        return settings or {}
    defaults = msgspec.structs.asdict(Settings())
    return {name: value for name, value in msgspec.structs.asdict(settings).items() if value != defaults[name]}


def _ignore(*_: object) -> None:
    pass


class _Callbacks(ProgressDisplay):
    """Turns what a progress display is shown into events."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress or (lambda _: None)
        self._stage = "prepare"

    def enter(self, stage: str) -> None:
        self._stage = stage
        self._on_progress(ProgressEvent(kind="stage", stage=stage))

    def say(self, sentence: str) -> None:
        self._on_progress(ProgressEvent(kind="message", stage=self._stage, message=sentence))

    def begin(self, dataset: str, counts: Counts, activity: Activity | None = None) -> None:
        self.update(dataset, counts)

    def update(self, dataset: str, counts: Counts) -> None:
        self._on_progress(ProgressEvent(kind="dataset", stage=self._stage, dataset=dataset, counts=counts))

    def end(self, dataset: str, counts: Counts) -> None:
        self.update(dataset, counts)
