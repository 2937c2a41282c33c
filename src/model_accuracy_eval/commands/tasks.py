"""`tasks`: what can be evaluated. Lists and shows datasets, tries and fetches them, makes task files."""

import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

import click
import msgspec

from model_accuracy_eval.benchmarks import dataset_table
from model_accuracy_eval.commands.options import complete_datasets, terminal_width
from model_accuracy_eval.errors import BadData, BadValue, Unfetched, UsageError
from model_accuracy_eval.ports import DataHub
from model_accuracy_eval.records import ClientLimits, DataFile, DataRow, PreparedDataset, RunPlan, TaskSpec
from model_accuracy_eval.run import build, plan_parts, preflight, setting_values
from model_accuracy_eval.run.resolve import sampling
from model_accuracy_eval.run.shared_sandbox import check_sandbox, one_sandbox
from model_accuracy_eval.scoring.code.code_task_trials import has_trials, runs_programs
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.tasks import preparation, rows, task_file
from model_accuracy_eval.tasks.importers import own_questions
from model_accuracy_eval.tasks.library import Library

_DATA_DIR = click.option("--data-dir", help="Folder that is searched for data files before any hub.")
_TASKS_PATH = click.option(
    "--tasks-path", multiple=True, help="Folder whose task files can be named; may be given several times."
)
_TRUST_PYTHON = click.option(
    "--trust-python", is_flag=True, help="Take tasks whose rows are made by Python, and run it."
)
_COLUMNS = click.option(
    "--columns",
    callback=lambda _context, _option, text: tuple(filter(None, (text or "").split(","))),
    help="What the columns of own questions are, such as question=problem,answer=solution.",
)


@click.group()
def tasks() -> None:
    """What can be evaluated."""


@tasks.command("list")
def list_tasks() -> None:
    """Every dataset, with one line about it."""
    groups = dataset_table.GROUPS
    width = max(map(len, [*dataset_table.TASKS, *groups]))
    for heading, section in dataset_table.SECTIONS.items():
        click.echo(f"\n{heading}")
        for task in section:
            _line(task.name, task.about, width)
    click.echo("\nGroups")
    for name, group in groups.items():
        _line(name, f"{len(group.members)} datasets, {group.members[0]} to {group.members[-1]}.", width)


def _line(name: str, about: str, width: int) -> None:
    """Within the columns of a terminal; one line in a pipe, for `grep`."""
    room = terminal_width() - width - 4
    lines = textwrap.wrap(about, room) if sys.stdout.isatty() else [about]
    click.echo(f"  {name.ljust(width)}  " + f"\n{' ' * (width + 4)}".join(lines))


@tasks.command("show")
@click.argument("name", shell_complete=complete_datasets)
@_DATA_DIR
@_TASKS_PATH
@_TRUST_PYTHON
@_COLUMNS
def show_task(
    name: str, data_dir: str | None, tasks_path: tuple[str, ...], trust_python: bool, columns: tuple[str, ...]
) -> None:
    """A dataset's definition, and its first problem as it is sent. A dataset named by its address is fetched.

    For a group, its members' names and the first of them.
    """
    fetching = build.fetching_hub(os.environ, _say)
    library = plan_parts.library(os.environ, data_dir, tasks_path, trusted=trust_python, columns=columns, data=fetching)
    named = library.find(name)
    parts = [*filter(None, [named.understood([name])]), *(f"Ignored: {field}" for field in named.ignored)]
    if named.groups or len(named.tasks) > 1:
        parts.append(f"{name}: {', '.join(task.name for task in named.tasks)}")
    parts.append(task_file.shown(named.tasks[0]))
    try:
        parts.append(_first_problem(named.tasks[0], data_dir))
    except BadData as error:  # its rows are not on this machine
        parts.append(error.sentence)
    click.echo("\n\n".join(parts))


def _first_problem(task: TaskSpec, data_dir: str | None) -> str:
    hub, make_rows = build.hub(os.environ), build.trusted_python(os.environ)

    def read(file: DataFile, fields: tuple[str, ...]) -> Sequence[DataRow]:
        return rows.read(file, fields, data_dir, hub, make_rows)

    ready = preparation.assemble(task, read, limit=1)
    problem = ready.problems[0]
    turns = [f"── {message.role} ──\n{message.shown}" for message in problem.messages]
    judged = list(own_questions.told(ready))
    return "\n".join(
        [
            *judged,
            *turns,
            f"── right answer ──\n{problem.right[0]}",
            "",
            f"version {ready.version} (of this one problem)",
        ]
    )


@tasks.command("init")
@click.argument("file")
@_DATA_DIR
@_COLUMNS
@click.option("--out", help="Where the task file is written; default: beside the file, ending in .yaml.")
def init_task(file: str, data_dir: str | None, columns: tuple[str, ...], out: str | None) -> None:
    """Write the task file, with comments, that asks a file of your own questions as it has been understood."""
    if not own_questions.looks_like_file(file):
        raise BadValue(f"A task file is made for a file of questions, such as questions.csv; '{file}' is none.")
    (task,) = plan_parts.library(os.environ, data_dir, (), trusted=False, columns=columns).find(file).tasks
    path = out or str(PurePath(file.removesuffix(".gz")).with_suffix(".yaml"))
    try:
        with Path(path).open("x", encoding="utf-8") as target:
            target.write(task_file.text(task, file))
    except FileExistsError:
        raise BadValue(f"There is a file '{path}' already; name another one with --out.") from None
    click.echo(f"{path} asks what {file} asks: change it, and name it with --datasets.")


@tasks.command("check")
@click.argument("names", nargs=-1, required=True)
@_DATA_DIR
@_TASKS_PATH
@_TRUST_PYTHON
@click.option("--limit", type=click.IntRange(min=1), help="Check only the first N problems of each dataset.")
@click.option("--sandbox", default="auto", show_default=True, help="Where programs run, as for `run`.")
@click.option("--sandbox-image", help="Container image that programs run in.")
@click.option(
    "--workers", type=click.IntRange(min=1), help="How many programs run at a time; default: one for each core."
)
def check_tasks(names: tuple[str, ...], **options: Any) -> None:
    """Try datasets without a model: their rows, and whether the tests of code tasks tell right from wrong."""
    given = {name: value for name, value in options.items() if value not in (None, (), False)}
    settings = setting_values.merge(setting_values.read({**given, "datasets": names}, "the arguments"))
    library = plan_parts.library_of(settings, os.environ)
    chosen = _found_tasks(library, names)
    plan = RunPlan(
        run_id="",
        stamp="",
        settings=settings,
        tasks=chosen,
        k=tuple(sorted(set(settings.k))),
        sampling=sampling(settings),
        client_limits=msgspec.convert(settings, ClientLimits, from_attributes=True),
    )
    with (clock := SignalClock()).listening(), one_sandbox(build.local_ports(plan, os.environ, clock)) as ports:
        for task in chosen:
            prepared = preflight.prepared(task, plan, ports)
            check_sandbox(plan, (prepared,), ports)
            click.echo(f"{task.name}: {_found(prepared)}")


def _found(prepared: PreparedDataset) -> str:
    count = f"{len(prepared.problems):,} {'problem' if len(prepared.problems) == 1 else 'problems'}"
    if has_trials(prepared):
        return f"{count}; what must pass passes, and what must fail fails."
    if runs_programs(prepared):
        return f"{count}; the first one's solution passes here, and nothing that the others name is missing."
    return f"{count}, and every prompt could be made; its answers are no programs."


@tasks.command("prepare")
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every dataset that has a source.")
@click.option("--update", is_flag=True, help="Take these datasets as their hubs have them now, and note that.")
def prepare_tasks(names: tuple[str, ...], *, everything: bool, update: bool) -> None:
    """Fetch and verify the data of datasets beforehand."""
    hub = build.fetching_hub(os.environ, _say, update=update)
    library = plan_parts.library(os.environ, None, (), trusted=False, data=hub)
    if everything:
        names = tuple(
            name for name, task in dataset_table.TASKS.items() if all(file.hub or file.split for file in _files(task))
        )
    if not names:
        raise UsageError("Name the datasets to prepare, or give --all: model-accuracy-eval tasks prepare gsm8k.")
    for task in _found_tasks(library, names):
        for file in _files(task):
            click.echo(f"{task.name}: {file.name} is at {_place(task, file, hub)}")


def _found_tasks(library: Library, names: Sequence[str]) -> tuple[TaskSpec, ...]:
    found = library.find_all(names)
    if understood := found.understood(names):
        _say(understood)
    return found.tasks


def _place(task: TaskSpec, file: DataFile, hub: DataHub) -> str:
    """Where the file is now, or the one that has the same rows elsewhere. The rows of a split are noted, or compared
    with what is noted of them, as a run would do it."""
    try:
        place = hub.prepare(file)
    except Unfetched:
        if file.instead is None:
            raise
        return _place(task, file.instead, hub)
    if file.split:
        fields = () if file.recipe else [field for field in task.fields if field not in file.adds]
        places, found, is_known = rows.whole(file, fields, None, hub)
        rows.check(file, found, fields, places, hub.pins, is_known=is_known)
    return place


def _files(task: TaskSpec) -> list[DataFile]:
    """All files of a task, those of its parts included, each once."""
    if task.parts:
        files = [file for part in task.parts for file in _files(part)]
        return [file for place, file in enumerate(files) if file not in files[:place]]
    fewshot = task.prompt.fewshot
    return [*_fetched(task.data), *(_fetched(fewshot.data) if fewshot and fewshot.data else [])]


def _fetched(file: DataFile) -> list[DataFile]:
    """The files that have the rows where nothing lies under --data-dir."""
    if file.instead and not file.hub:
        return _fetched(file.instead)
    return [file, *(one for other in file.more for one in _fetched(other))]


def _say(sentence: str) -> None:
    click.echo(sentence, err=True)
