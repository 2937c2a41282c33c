"""Shards as the jobs of a matrix: how many, what an earlier attempt of one has left, and which ones are merged."""

import contextlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from model_accuracy_eval.errors import BadReuse, EvalError
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import DataFile, DataRow, RunPlan, Settings, TaskSpec
from model_accuracy_eval.run import inputs, plan_parts
from model_accuracy_eval.run.build import data_fetch, hub, trusted_python
from model_accuracy_eval.run_folder import runfile
from model_accuracy_eval.run_folder.runfile import RUN_FILE, RunFile
from model_accuracy_eval.shard_plan import DatasetSize, ShardPlan, shard_plan
from model_accuracy_eval.system import local_files
from model_accuracy_eval.tasks import preparation, rows


def planned(
    values: Mapping[str, Any],
    environment: Mapping[str, str],
    *,
    minutes: float,
    most: int,
    check: Callable[[], object],
    say: Callable[[str], object],
    open_archive: Callable[[str], Archive],
) -> ShardPlan:
    """The shards of a run with these settings; `baseline` names the run that says how long samples take."""
    settings = inputs.merge(inputs.read(values, "the shards' settings"))
    library = plan_parts.library_of(settings, environment, check, say)
    tasks = library.find_all(settings.datasets).tasks
    sizes = {task.name: _size(task, settings, environment, check, say) for task in tasks}
    last = _earlier(settings.baseline, open_archive, say) if settings.baseline else None
    return shard_plan(sizes, last, minutes=minutes, most=most, concurrency=settings.concurrency)


def _size(
    task: TaskSpec,
    settings: Settings,
    environment: Mapping[str, str],
    check: Callable[[], object],
    say: Callable[[str], object],
) -> DatasetSize:
    fetch = None if settings.offline else data_fetch(environment, check=check, say=say)
    data, make_rows = hub(environment, fetch=fetch), trusted_python(environment)

    def read(file: DataFile, fields: tuple[str, ...]) -> Sequence[DataRow]:
        return rows.read(file, fields, settings.data_dir, data, make_rows)

    problems = len(preparation.assemble(task, read, settings.limit or None).problems)
    each = task.repeats or settings.num_return_sequences if task.kind == "generate" else 1
    return DatasetSize(problems=problems, samples=problems * each)


def _earlier(place: str, open_archive: Callable[[str], Archive], say: Callable[[str], object]) -> RunFile | None:
    """The run at that place; without one the shards are as many as are allowed."""
    try:
        archive = open_archive(place)
        return runfile.read(archive.read(RUN_FILE), archive.root)
    except EvalError as error:
        say(f"No earlier run says how long the samples take: {error.sentence}")
        return None


def newest(folder: str) -> dict[str, Path]:
    """The newest run of each shard below the folder: a job that was run again leaves an artifact of each attempt.

    An attempt goes on from the one before, so it has at least as many answers; clocks of two machines may disagree.
    """
    found: dict[str, tuple[int, str, Path]] = {}
    for run in sorted(path.parent for path in Path(folder).rglob(RUN_FILE)):
        plan = _saved(run)
        if plan is not None and plan.shard is not None:
            found[str(plan.shard)] = max(found.get(str(plan.shard), (0, "", run)), (_answers(run), plan.stamp, run))
    return {shard: run for shard, (_, _, run) in sorted(found.items())}


def _answers(run: Path) -> int:
    files = (path for path in run.glob("predictions/*/*.jsonl") if not path.stem.endswith(_NO_REPLIES))
    return sum(block.count(b"\n") for path in files for block in local_files.parts(path))


_NO_REPLIES = ("_failed", "_findings", "_pictures")
"""Ends of the names of other files beside the replies."""


def _saved(run: Path) -> RunPlan | None:
    with contextlib.suppress(BadReuse):
        return plan_parts.saved(str(run))
    return None


def earlier_attempt(folder: str, shard: str, out: str) -> str | None:
    """A copy of what an earlier attempt of this shard has left, to go on with; None if there is nothing."""
    run = newest(folder).get(shard)
    content = (run / RUN_FILE).read_bytes() if run else None
    if run is None or runfile.read_if_complete(content, str(run)) is None:
        return None
    target = Path(out) / runfile.read(content, str(run)).run_id
    shutil.copytree(run, target, dirs_exist_ok=True)
    return str(target)
