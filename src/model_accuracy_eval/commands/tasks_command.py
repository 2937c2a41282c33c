"""`tasks list`, `tasks show`, `tasks check` and `tasks prepare`: what can be evaluated."""

import os
import sys
import textwrap
from pathlib import Path
from typing import Any

import click

from model_accuracy_eval import catalogue, wiring
from model_accuracy_eval.benchmarks import dataset_table
from model_accuracy_eval.commands.completions import complete_datasets
from model_accuracy_eval.commands.run_command import terminal_width
from model_accuracy_eval.errors import BadValue, UsageError
from model_accuracy_eval.wiring import check_parts


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
@click.option("--data-dir", help="Folder that is searched for data files before any hub.")
@click.option("--tasks-path", multiple=True, help="Folder whose task files can be named; may be given several times.")
@click.option("--trust-python", is_flag=True, help="Take tasks whose rows are made by Python, and run it.")
@click.option("--columns", help="What the columns of own questions are, such as question=problem,answer=solution.")
def show_task(
    name: str, data_dir: str | None, tasks_path: tuple[str, ...], trust_python: bool, columns: str | None
) -> None:
    """A dataset's definition, and its first problem as it is sent. A dataset named by its address is fetched."""
    fetching = wiring.fetching_hub(os.environ, _say)
    library = wiring.library(
        os.environ, data_dir, tasks_path, trusted=trust_python, columns=_listed(columns), data=fetching
    )
    hub, trusted_python = wiring.hub(os.environ), wiring.trusted_python(os.environ)
    click.echo(catalogue.show(name, data_dir, hub, trusted_python, library))


@tasks.command("init")
@click.argument("file")
@click.option("--data-dir", help="Folder that is searched for data files before any hub.")
@click.option("--columns", help="What the columns of own questions are, such as question=problem,answer=solution.")
@click.option("--out", help="Where the task file is written; default: beside the file, ending in .yaml.")
def init_task(file: str, data_dir: str | None, columns: str | None, out: str | None) -> None:
    """Write the task file, with comments, that asks a file of your own questions as it has been understood."""
    library = wiring.library(os.environ, data_dir, (), trusted=False, columns=_listed(columns))
    path, text = catalogue.init(file, library)
    try:
        with Path(out or path).open("x", encoding="utf-8") as target:
            target.write(text)
    except FileExistsError:
        raise BadValue(f"There is a file '{out or path}' already; name another one with --out.") from None
    click.echo(f"{out or path} asks what {file} asks: change it, and name it with --datasets.")


@tasks.command("check")
@click.argument("names", nargs=-1, required=True)
@click.option("--data-dir", help="Folder that is searched for data files before any hub.")
@click.option("--tasks-path", multiple=True, help="Folder whose task files can be named; may be given several times.")
@click.option("--trust-python", is_flag=True, help="Take tasks whose rows are made by Python, and run it.")
@click.option("--limit", type=click.IntRange(min=1), help="Check only the first N problems of each dataset.")
@click.option("--sandbox", default="auto", show_default=True, help="Where programs run, as for `run`.")
@click.option("--sandbox-image", help="Container image that programs run in.")
@click.option(
    "--workers", type=click.IntRange(min=1), help="How many programs run at a time; default: one for each core."
)
def check_tasks(names: tuple[str, ...], **options: Any) -> None:
    """Try datasets without a model: their rows, and whether the tests of code tasks tell right from wrong."""
    given = {name: value for name, value in options.items() if value not in (None, (), False)}
    for line in check_parts.check(names, given, os.environ):
        click.echo(line)


@tasks.command("prepare")
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every dataset that has a source.")
@click.option("--update", is_flag=True, help="Take these datasets as their hubs have them now, and note that.")
def prepare_tasks(names: tuple[str, ...], *, everything: bool, update: bool) -> None:
    """Fetch and verify the data of datasets beforehand."""
    hub = wiring.fetching_hub(os.environ, _say, update=update)
    library = wiring.library(os.environ, None, (), trusted=False, data=hub)
    names = catalogue.with_a_source() if everything else names
    if not names:
        raise UsageError("Name the datasets to prepare, or give --all: model-accuracy-eval tasks prepare gsm8k.")
    for line in catalogue.prepare(names, hub, library):
        click.echo(line)


def _listed(columns: str | None) -> tuple[str, ...]:
    return tuple(filter(None, (columns or "").split(",")))


def _say(sentence: str) -> None:
    click.echo(sentence, err=True)
