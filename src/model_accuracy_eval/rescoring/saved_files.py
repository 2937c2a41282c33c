"""Saved replies of any tool, from their files to judged figures."""

import contextlib
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count, takewhile
from pathlib import Path, PurePath

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.benchmarks import dataset_table
from model_accuracy_eval.benchmarks.dataset_names import normal
from model_accuracy_eval.errors import BadData, BadReuse, BadValue
from model_accuracy_eval.ports import ProgressDisplay
from model_accuracy_eval.records import ClientLimits, DatasetResult, JSONObject, RunPlan, TaskGroup, TaskSpec
from model_accuracy_eval.rescoring import file_dataset, rescoring_result, saved_replies
from model_accuracy_eval.rescoring.disagreements import text_format
from model_accuracy_eval.rescoring.file_dataset import LmEvalResults
from model_accuracy_eval.rescoring.rescore import OnDisagreement, ReadReplies, ReplyFile, rescore
from model_accuracy_eval.rescoring.rescoring_result import Rescored, of_groups
from model_accuracy_eval.rescoring.saved_replies import ProblemName, SavedReply, name_of
from model_accuracy_eval.rescoring.shapes.reply_files import ShapedFile, open_replies
from model_accuracy_eval.run import engines, plan_parts, setting_values
from model_accuracy_eval.run.resolve import check_judging, sampling
from model_accuracy_eval.run.shared_sandbox import one_sandbox
from model_accuracy_eval.run_folder import journal, kept_run
from model_accuracy_eval.run_folder.run_archive import FolderArchive
from model_accuracy_eval.run_folder.runfile import RUN_FILE
from model_accuracy_eval.scoring.answers.own_answers import KINDS
from model_accuracy_eval.scoring.metrics.metric_table import pipelines
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.system.local_files import PackedFile, read_lines, read_whole
from model_accuracy_eval.tasks.library import NamedTasks


@dataclass(frozen=True, kw_only=True, slots=True)
class RescoreOptions:
    """What the user gave besides the files."""

    settings: JSONObject
    """Settings of a run, checked: those of data, judging and the sandbox."""
    task: str | None = None
    claimed: str | None = None
    diff: str | None = None
    subset: bool = False
    unverified: bool = False
    """Whether a run of this program is judged although its files are not as it left them; the notes say so."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """`--map`: the fields of files whose shape is not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Batch:
    """Files that are judged by one plan, and the groups that their datasets make up."""

    plan: RunPlan
    files: Sequence[ReplyFile]
    groups: Sequence[TaskGroup] = ()


def rescored(
    paths: Sequence[str],
    given: RescoreOptions,
    environment: Mapping[str, str],
    clock: SignalClock,
    wrap_display: Callable[[ProgressDisplay], ProgressDisplay],
) -> list[Rescored]:
    """One result for every file or filter of it, for every dataset of a run, and for every group of datasets."""
    results: list[Rescored] = []
    if given.diff:
        for source in [*paths, *([given.claimed] if given.claimed else [])]:
            if Path(given.diff).resolve() == Path(source).resolve():
                raise BadValue(f"--diff would write over {source}, which is read: name another file.")
    with (
        tempfile.TemporaryDirectory(prefix="rescore-") as folder,
        _diff_file(given.diff) if given.diff else contextlib.nullcontext() as on_disagreement,
    ):
        for place, batch in enumerate(_batches(paths, given, environment)):
            plan = batch.plan.with_settings(
                out=f"{folder}/{place}",
                mode="eval",
                debug=False,
                offline=True,
                # Where a run was judged says nothing about where this command is typed.
                engine=given.settings.get("engine", "local"),
            )
            ports = engines.ports(plan, environment, clock, wrap_display=wrap_display)
            judged: list[DatasetResult] = []
            try:
                with one_sandbox(ports) as ports_with_sandbox:
                    for number, file in enumerate(batch.files):
                        own = plan.with_settings(out=f"{plan.settings.out}/{number}")
                        for result, dataset_result in rescore(file, own, ports_with_sandbox, on_disagreement):
                            results.append(result)
                            judged.append(dataset_result)
            finally:
                ports.progress.close()
            results += of_groups(batch.groups, judged)
    return results


@contextmanager
def _diff_file(path: str) -> Iterator[OnDisagreement]:
    """Takes disagreements one by one; the file appears when all are there."""
    head, line = text_format(Path(path).suffix)
    partial = Path(f"{path}.{os.getpid()}.part")
    try:
        with partial.open("w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            stream.write(head)
            yield lambda disagreement: stream.write(line(disagreement))
        os.replace(partial, path)  # noqa: PTH105 - `path` stays as the user wrote it
    except OSError as error:
        raise BadValue(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        partial.unlink(missing_ok=True)


def _batches(paths: Sequence[str], given: RescoreOptions, environment: Mapping[str, str]) -> Iterator[_Batch]:
    """Runs of this program go by their own plans, all other files by the settings alone."""
    settings = setting_values.merge(given.settings)
    library = plan_parts.library(settings, environment)
    named = library.find(given.task) if given.task and given.task not in KINDS else NamedTasks(())
    for task in named.tasks:
        check_judging(settings, task)
    others: list[ReplyFile] = []
    for path in without_later_parts(paths):
        if (run := _own_run(path)) is not None:
            yield _of_run(run, path, named, given, environment)
        else:
            others.append(_other_file(path, named, given))
    if others:
        plan = RunPlan(
            run_id="",
            stamp="",
            settings=settings,
            tasks=named.tasks,
            k=tuple(sorted(set(settings.k))),
            sampling=sampling(settings),
            client_limits=msgspec.convert(settings, ClientLimits, from_attributes=True),
        )
        yield _Batch(plan=plan, files=others, groups=named.groups)


# Runs of this program.


def _own_run(path: str) -> Path | None:
    """The folder of the run that the path is, or belongs to."""
    place = Path(path).resolve()
    folder = place if place.is_dir() else next(iter(place.parents[2:3]), place)
    is_run = (folder / RUN_FILE).is_file() and any(folder.glob("configs/*.py"))
    return folder if is_run and (place.is_dir() or place.parents[1].name == "predictions") else None


def _of_run(
    folder: Path, path: str, named: NamedTasks, given: RescoreOptions, environment: Mapping[str, str]
) -> _Batch:
    """All datasets of the run, or the one that the path is a file of."""
    if fixed := sorted({"limit", "first", "num_return_sequences"} & given.settings.keys()):
        raise BadValue(
            f"The run {folder.name} has its own {fixed[0].replace('_', '-')}: leave --{fixed[0].replace('_', '-')} out."
        )
    plan = kept_run.opened(FolderArchive(str(folder)), unverified=given.unverified, cut_off=True).plan()
    if plan_parts.stopped_early(folder):
        raise BadReuse(
            f"The gates of the run '{folder}' were decided before everything was asked, so it has no figures of the "
            f"whole: run --mode eval --reuse {folder} judges it again, run --reuse {folder} asks for the rest."
        )
    settings = msgspec.structs.replace(plan.settings, **given.settings, baseline=None, mode="eval")
    plan_parts.refuse_untold(settings, given.settings, environment)
    k = tuple(sorted(set(settings.k))) if "k" in given.settings else plan.k
    plan = replace(plan, settings=settings, k=k)
    chosen = _chosen(plan, path, named)
    if k != plan.k or "k" in given.settings:
        for task in chosen:
            saved_replies.check_samples(task.name, task, plan.sampling.n, k)
    for task in chosen:
        check_judging(settings, task)
    files = [_run_file(folder, plan, task, named.tasks[0] if len(named.tasks) == 1 else task, given) for task in chosen]
    return _Batch(
        plan=plan, files=files, groups=plan.groups if Path(path).is_dir() and len(chosen) == len(plan.tasks) else ()
    )


def _chosen(plan: RunPlan, path: str, named: NamedTasks) -> tuple[TaskSpec, ...]:
    """The datasets of the run that the path and --task mean."""
    names = [task.name for task in plan.tasks]
    if not Path(path).is_dir():
        wanted = [_stem(path).removesuffix("_failed").removesuffix("_findings")]
    elif named.tasks and len(names) > 1:
        wanted = [task.name for task in named.tasks]
    else:
        wanted = names
    chosen = tuple(task for task in plan.tasks if task.name in wanted)
    if not chosen:
        raise BadReuse(
            f"The run of '{path}' has no replies to {', '.join(wanted)}, but to {', '.join(names)}: "
            f"give the file of one, such as predictions/{plan.settings.label}/{names[0]}.jsonl."
        )
    return chosen


def _run_file(folder: Path, plan: RunPlan, asked: TaskSpec, task: TaskSpec, given: RescoreOptions) -> ReplyFile:
    """`task`: the dataset by which the replies to `asked` are judged, its own or the one that --task names."""
    names = [make(plan.settings.label, asked.name) for make in (journal.file, journal.failures_file)]
    answers, failures = (folder / name for name in names)

    def read() -> Iterator[SavedReply]:
        lines = (read_lines(str(path)) if path.is_file() else iter(()) for path in (answers, failures))
        return saved_replies.own_replies(*lines)

    results = folder / "results" / plan.settings.label / f"{asked.name}.json"
    claimed = given.claimed or (str(results) if results.is_file() else None)
    return ReplyFile(
        name=asked.name,
        read=read,
        task=task,
        is_own=True,
        claimed=_figures(claimed, required=given.claimed is not None) if claimed else {},
    )


# Files of other programs.


def _other_file(path: str, named: NamedTasks, given: RescoreOptions) -> ReplyFile:
    name, read = _with_failures(path, given)
    first = next((reply for reply in read() if not reply.odd), SavedReply())
    kind = given.task if given.task in KINDS else ""
    task = None if kind else _task(name, first, named, given)
    return ReplyFile(
        name=name,
        read=read,
        task=task,
        subset=given.subset,
        n=given.settings.get("num_return_sequences"),
        results=None if task else _lm_eval_results(path, name),
        claimed=_claimed(given.claimed, path, name),
        kind=kind or "",
        spelled=named.understood([given.task]) if given.task else "",
    )


def _with_failures(path: str, given: RescoreOptions) -> tuple[str, ReadReplies]:
    """The name and the replies of a file, and the failures that AISBench writes beside it."""
    name, read = replies(path, given.fields)
    failed = Path(path).with_name(f"{name}_failed.jsonl")
    if not path.endswith(".jsonl") or not failed.is_file():
        return name, read
    _, read_failures = replies(str(failed), {})
    return name, lambda: with_failures(read(), read_failures())


def _task(name: str, first: SavedReply, named: NamedTasks, given: RescoreOptions) -> TaskSpec | None:
    """The dataset that --task names; without it the one that the file names, unless lm-eval's own metrics judge it."""
    if len(named.tasks) == 1:
        return named.tasks[0]
    if not named.tasks:
        return None if first.metrics else _named_by(name, first)
    candidates = {normal(task.name): task for task in named.tasks}
    found = next((candidates[normal(word)] for word in (first.dataset, name) if normal(word) in candidates), None)
    if found is None:
        raise BadValue(
            f"'{given.task}' stands for {len(named.tasks)} datasets, and {name} is called like none of them: name one "
            f"with --task, such as {named.tasks[0].name}."
        )
    return found


def _named_by(name: str, first: SavedReply) -> TaskSpec | None:
    """The dataset of the table that a row or its file is called after, or whose figures alone are called as the values
    of its samples."""
    words = [first.dataset, name]
    if first.main:  # EvalScope writes <dataset>_<subset>.jsonl
        words += [name.rpartition("_")[0]]
    known = (dataset_table.canonical(word) for word in words if word)
    if found := next((name for name in known if name in dataset_table.TASKS), None):
        return dataset_table.TASKS[found]
    values = {normal(metric).removesuffix("acc") for metric in first.claimed}
    figures = {
        task.name: {normal(use.label or use.name).removesuffix("acc") for use in pipelines(task)[0].metrics}
        for task in (dataset_table.TASKS.values() if len(values) > 1 else ())
    }
    alike = [dataset_table.TASKS[name] for name, names in figures.items() if values <= names]
    return alike[0] if len(alike) == 1 else None


def _lm_eval_results(file: str, name: str) -> LmEvalResults | None:
    """lm-eval writes `results_<stamp>.json` beside the samples of all its tasks."""
    names = file_dataset.results_file(name)
    if names is None:
        return None
    task, results = names
    path = Path(file).with_name(results)
    return file_dataset.read_results(read_whole(str(path)), results, task) if path.is_file() else None


def _claimed(claimed: str | None, file: str, name: str) -> Mapping[str, float]:
    """AISBench writes `results/<model>/<dataset>.json` for `predictions/<model>/<dataset>.jsonl`."""
    model, *above = Path(file).resolve().parents
    path = Path(claimed) if claimed else above[min(1, len(above) - 1)] / "results" / model.name / f"{name}.json"
    return _figures(str(path), required=bool(claimed)) if claimed or path.is_file() else {}


def _figures(path: str, *, required: bool) -> dict[str, float]:
    return rescoring_result.read_figures(read_whole(path), path, required=required)


# Files by their paths, with further parts of those that OpenCompass has split, and AISBench's failures.


def with_failures(answers: Iterable[SavedReply], failures: Iterable[SavedReply]) -> Iterator[SavedReply]:
    """The replies, then the failures that no later reply has made up for.

    A failure without a number counts where its problem has fewer replies than others have.
    """
    sizes: Counter[ProblemName] = Counter()
    numbered: set[tuple[ProblemName, int]] = set()
    for reply in answers:
        yield reply
        if reply.odd:
            continue
        name = name_of(reply)
        sizes[name] += 1
        if reply.index is not None:
            numbered.add((name, reply.index))
    most = max(sizes.values(), default=1)
    for failure in failures:
        if failure.odd:
            yield failure
            continue
        name = name_of(failure)
        made_up = sizes[name] >= most if failure.index is None else (name, failure.index) in numbered
        if not made_up:
            sizes[name] += 1
            yield failure


def joined(parts: Sequence[ShapedFile]) -> Iterator[SavedReply]:
    """The replies of all parts, with the problems counted through, as OpenCompass counts them."""
    start = 0
    for part in parts:
        numbers = set[int]()
        for reply in part.replies():
            if reply.odd:
                yield reply
                continue
            if not reply.problem.isdecimal():
                raise BadData(f"{part.name} is a part of a dataset, but its problem '{reply.problem}' is no number.")
            numbers.add(int(reply.problem))
            yield replace(reply, problem=str(start + int(reply.problem)))
        if numbers != set(range(len(numbers))):
            raise BadData(
                f"{part.name} is a part of a dataset, but it lacks some of the problems from 0 to {max(numbers):,}, so "
                "the numbers of the problems in the next part are not known."
            )
        start += len(numbers)


_PART = re.compile(r"(?P<root>.+)_(?P<number>\d+)(?P<ending>\.json(?:\.gz)?)")


def replies(path: str, fields: Mapping[str, str]) -> tuple[str, Callable[[], Iterator[SavedReply]]]:
    """The name of what the file holds, and how its replies are read."""
    file = _open(path, fields)
    if not file.shape.in_parts or not (match := _PART.fullmatch(path)):
        return _stem(path), file.replies
    others = [
        _part(match, number) for number in takewhile(lambda number: Path(_part(match, number)).is_file(), count())
    ]
    if Path(match["root"] + match["ending"]).is_file() or len(others) < max(2, int(match["number"]) + 1):
        return _stem(path), file.replies
    if int(match["number"]):
        raise BadData(f"{path} is a part of {len(others)}: give {others[0]}, with which all of them are read.")
    return _stem(match["root"]), partial(joined, [file, *(_open(other, fields) for other in others[1:])])


def without_later_parts(paths: Sequence[str]) -> list[str]:
    """Without the parts whose first one is there too."""
    matches = [(path, _PART.fullmatch(path)) for path in paths]
    return [path for path, match in matches if not match or not int(match["number"]) or _part(match, 0) not in paths]


def _open(path: str, fields: Mapping[str, str]) -> ShapedFile:
    return open_replies(PackedFile(Path(path), path), fields)


def _part(match: re.Match[str], number: int) -> str:
    return f"{match['root']}_{number}{match['ending']}"


def _stem(path: str) -> str:
    return PurePath(path.removesuffix(".gz")).stem
