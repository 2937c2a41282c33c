"""`tasks`: what can be evaluated. Lists and shows datasets, tries and fetches them, makes task files."""

import os
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import Any

import click
import msgspec

from model_accuracy_eval.benchmarks import dataset_table
from model_accuracy_eval.commands.options import complete_datasets, terminal_width
from model_accuracy_eval.errors import BadData, BadValue, Refused, UsageError
from model_accuracy_eval.ports import DataHub
from model_accuracy_eval.records import (
    ClientLimits,
    DataFile,
    PreparedDataset,
    RowsSource,
    RunPlan,
    Settings,
    TaskSpec,
)
from model_accuracy_eval.run import build, gold_check, plan_parts, preflight, setting_values
from model_accuracy_eval.run.resolve import sampling
from model_accuracy_eval.run.shared_sandbox import check_sandbox, one_sandbox
from model_accuracy_eval.scoring.code.code_task_trials import has_trials, runs_programs
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.tasks import preparation, row_pins, rows, task_file
from model_accuracy_eval.tasks.importers import own_questions, own_verdicts
from model_accuracy_eval.tasks.library import Library
from model_accuracy_eval.trusted_python.trusted_functions import TrustedRows

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
@click.argument("words", nargs=-1)
def list_tasks(words: tuple[str, ...]) -> None:
    """Every dataset, with one line about it.

    With WORDS, those whose line has all of them, each with its size, where it is fetched from, and its licence.
    """
    tables = {
        heading: {task.name: task.about + _MARK * (not _is_pinned(task)) for task in section}
        for heading, section in dataset_table.SECTIONS.items()
    }
    tables["Groups"] = {
        name: f"{len(group.members)} datasets, {group.members[0]} to {group.members[-1]}."
        for name, group in dataset_table.GROUPS.items()
    }
    found = {
        heading: {
            name: about
            for name, about in table.items()
            if all(word.lower() in f"{heading} {name} {about}".lower() for word in words)
        }
        for heading, table in tables.items()
    }
    if not any(found.values()):
        raise BadValue(f"No dataset's name or description has {' and '.join(map(repr, words))}.")
    width = max(len(name) for table in found.values() for name in table)
    for heading, table in found.items():
        if table:
            click.echo(f"\n{heading}")
        for name, about in table.items():
            _line(name, about, width)
            if words and (task := dataset_table.TASKS.get(name)):
                size = f"{count} rows, " if (count := row_count(task)) else ""
                _line("", f"{size}{origin(task)}, {task.licence or 'no licence named'}", width)
    listed = [about for table in found.values() for about in table.values()]
    if unpinned := sum(about.endswith(_MARK) for about in listed):
        number = f"{unpinned} of {len(listed) if words else len(dataset_table.TASKS)} datasets are unpinned"
        click.echo("\n" + "\n".join(_lines(f"{number}: {_UNPINNED}", 0)))


_MARK = " [unpinned]"


def row_count(task: TaskSpec) -> str:
    """How many rows a release knows its file to have."""
    return f"{task.data.pin.count:,}" if task.data.pin else ""


def origin(task: TaskSpec, shown: Callable[[str], str] = str) -> str:
    """Where `run` fetches the rows from; `shown` writes each place."""
    source = next((file.source for file in (task.data, *task.data.instead) if file.source), None)
    if not source:
        return f"nowhere: {shown(task.data.name)} in {shown('--data-dir')}"
    if source.url:
        return "comes along" if source.url.startswith("package:") else shown(source.url.partition("@")[0])
    part = "".join(f":{name}" for name in (source.config, source.split) if name)
    return " or ".join(shown(f"{hub}:{name}{part}") for hub, name in (("hf", source.hf), ("ms", source.ms)) if name)


_UNPINNED = (
    "no release says what their rows are. What is fetched first is noted, and later runs get the same; reports mark "
    "their figures."
)


def _is_pinned(task: TaskSpec) -> bool:
    return all(row_pins.is_pinned(file) for file, _ in _files(task))


def _line(name: str, about: str, width: int) -> None:
    """Within the columns of a terminal; one line in a pipe, for `grep`."""
    click.echo(f"  {name.ljust(width)}  " + f"\n{' ' * (width + 4)}".join(_lines(about, width + 4)))


def _lines(text: str, indent: int) -> list[str]:
    return textwrap.wrap(text, terminal_width() - indent) if sys.stdout.isatty() else [text]


@tasks.command("show")
@click.argument("name", shell_complete=complete_datasets)
@_DATA_DIR
@_TASKS_PATH
@_TRUST_PYTHON
@_COLUMNS
def show_task(
    name: str, data_dir: str | None, tasks_path: tuple[str, ...], trust_python: bool, columns: tuple[str, ...]
) -> None:
    """A dataset's definition, and its first problem as it is sent; of own questions the first of each kind.

    A dataset named by its address is fetched.

    For a group, its members' names and the first of them.
    """
    fetching = build.fetching_hub(os.environ, _say)
    settings = Settings(data_dir=data_dir, tasks_path=tasks_path, trust_python=trust_python, columns=columns)
    library = plan_parts.library(settings, os.environ, source=fetching)
    named = library.find(name)
    parts = [*filter(None, [named.understood([name])]), *(f"Ignored: {field}" for field in named.ignored)]
    if named.groups or len(named.tasks) > 1:
        parts.append(f"{name}: {', '.join(task.name for task in named.tasks)}")
    if dataset_table.canonical(name) and not _is_pinned(named.tasks[0]):
        parts.append(f"Unpinned: {_UNPINNED}")
    parts.append(task_file.shown(named.tasks[0]))
    try:
        parts.append(_first_problem(named.tasks[0], data_dir))
    except BadData as error:  # its rows are not on this machine
        parts.append(error.sentence)
    click.echo("\n\n".join(parts))


def _first_problem(task: TaskSpec, data_dir: str | None) -> str:
    hub, make_rows = build.hub(os.environ), TrustedRows(os.environ)
    is_own = own_questions.is_own(task)
    ready = preparation.assemble(
        task, lambda file, fields: rows.read(file, fields, data_dir, hub, make_rows), first=None if is_own else 1
    )
    problem = ready.problems[0]
    turns = [f"── {message.role} ──\n{message.shown}" for message in problem.messages]
    counted = "" if is_own else " (of this one problem)"
    return "\n".join(
        [
            *(own_verdicts.told(ready) if is_own else (*turns, f"── right answer ──\n{problem.right[0]}")),
            "",
            f"version {ready.version}{counted}; --limit draws {preparation.drawn_by(task)}",
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
    settings = Settings(data_dir=data_dir, columns=columns, offline=True)
    (task,) = plan_parts.library(settings, os.environ).find(file).tasks
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
@click.option("--limit", type=click.IntRange(min=1), help="Check only a sample of N problems of each dataset.")
@click.option("--sandbox", default="auto", show_default=True, help="Where programs run, as for `run`.")
@click.option("--sandbox-image", help="Container image that programs run in.")
@click.option(
    "--workers", type=click.IntRange(min=1), help="How many programs run at a time; default: one for each core."
)
def check_tasks(names: tuple[str, ...], **options: Any) -> None:
    """Try datasets without a model: their rows, and whether the tests of code tasks tell right from wrong."""
    given = {name: value for name, value in options.items() if value not in (None, (), False)}
    settings = setting_values.merge(setting_values.read({**given, "datasets": names}, "the arguments"))
    library = plan_parts.library(settings, os.environ)
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
            prepared = gold_check.checked(preflight.prepared(task, plan, ports), plan, ports)
            check_sandbox(plan, (prepared,), ports)
            click.echo(f"{task.name}: {_found(prepared)}")


def _found(prepared: PreparedDataset) -> str:
    count = f"{len(prepared.problems):,} {'problem' if len(prepared.problems) == 1 else 'problems'}"
    if has_trials(prepared):
        return f"{count}; what must pass passes, and what must fail fails."
    if runs_programs(prepared):
        return f"{count}; the first one's solution passes here, and nothing that the others name is missing."
    if prepared.gold_fault:
        return f"{count}, and every prompt could be made; not every right answer would be judged right."
    return f"{count}, every prompt could be made, and every right answer would be judged right."


@tasks.command("prepare")
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every dataset that has a source.")
@click.option("--update", is_flag=True, help="Take these datasets as their hubs have them now, and note that.")
def prepare_tasks(names: tuple[str, ...], *, everything: bool, update: bool) -> None:
    """Fetch and verify the data of datasets beforehand."""
    hub = build.fetching_hub(os.environ, _say, update=update)
    for task in _chosen(names, hub, everything=everything, verb="prepare"):
        for file, fields in _files(task):
            (source,) = _read(file, fields, None, hub)
            places = f"{source.places[0]}{f' and {more} more places' if (more := len(source.places) - 1) else ''}"
            click.echo(f"{task.name}: {file.name} is at {places}{' [unpinned]' * source.unpinned}")


def _chosen(names: tuple[str, ...], hub: DataHub, *, everything: bool, verb: str) -> tuple[TaskSpec, ...]:
    """Those that are named, or every one that has a source."""
    if everything:
        tasks = dataset_table.TASKS.items()
        names = tuple(name for name, task in tasks if all(_is_fetched(file) for file, _ in _files(task)))
    if not names:
        raise UsageError(f"Name the datasets to {verb}, or give --all: model-accuracy-eval tasks {verb} gsm8k.")
    return _found_tasks(plan_parts.library(Settings(), os.environ, source=hub), names)


def _found_tasks(library: Library, names: Sequence[str]) -> tuple[TaskSpec, ...]:
    found = library.find_all(names)
    if understood := found.understood(names):
        _say(understood)
    return found.tasks


def _is_fetched(file: DataFile) -> bool:
    sources = (one.source for one in (file, *file.instead))
    return any(source and not source.url.startswith("package:") for source in sources)


def _files(task: TaskSpec) -> list[tuple[DataFile, tuple[str, ...]]]:
    """The data files of a task and of its parts, each with the columns that are asked of it."""
    if task.parts:
        pairs = [pair for part in task.parts for pair in _files(part)]
        return [pair for place, pair in enumerate(pairs) if pair not in pairs[:place]]
    fewshot = task.prompt.fewshot
    shots = [(fewshot.data, fewshot.fields or task.fields)] if fewshot and fewshot.data else []
    return [(task.data, task.fields), *shots]


def _read(file: DataFile, fields: tuple[str, ...], data_dir: str | None, hub: DataHub) -> list[RowsSource]:
    """Reads the rows as a run would do it, and says where they came from."""
    sources: list[RowsSource] = []
    rows.read(file, fields, data_dir, hub, TrustedRows(os.environ), note=sources.append)
    return sources


@tasks.command("pin")
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every dataset that has a source.")
@_DATA_DIR
@click.option("--out", help="Folder of the two files that are written; default: that of this program.")
def pin_tasks(names: tuple[str, ...], *, everything: bool, data_dir: str | None, out: str | None) -> None:
    """Write what the rows of datasets are into the table of rows that a release knows. For maintainers.

    What is in the table already is read anew, and what has changed is said; review the two files as you review a lock
    file. Datasets that cannot be read keep what the table says of them, and end the command with exit code 3.
    """
    hub = build.fetching_hub(os.environ, _say)
    table = row_pins.PinTable(out)
    failures = 0
    for task in _chosen(names, hub, everything=everything, verb="pin"):
        for file, fields in _files(task):
            try:
                found = rows.gathered_first(file, fields, data_dir, hub)
            except (BadData, Refused) as error:
                failures += 1
                click.echo(f"{task.name}: {error.sentence}", err=True)
                continue
            if said := table.take(file, found):
                click.echo(said)
    table.write()
    click.echo(table.summary())
    if failures:
        raise Refused(f"{failures:,} data files could not be read, and keep what the table said of them.")


def _say(sentence: str) -> None:
    click.echo(sentence, err=True)
