"""`run`, `demo` and `merge`: the commands that end in a report, and so in a verdict."""

import os
import shutil
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any

import click

from model_accuracy_eval import python_api, wiring
from model_accuracy_eval.commands.completions import (
    complete_datasets,
    complete_figures,
    complete_files,
    complete_gates,
)
from model_accuracy_eval.errors import UsageError
from model_accuracy_eval.report import terminal
from model_accuracy_eval.settings import SCORING_SETTINGS, VERDICT_SETTINGS, Setting, table
from model_accuracy_eval.wiring import merge_parts

_DEMOS = {
    "text-generation": ("weights", "demo_arithmetic"),
    "image-text-to-text": ("weights-digits", "demo_digits"),
}
"""Task type → the example adapter's weights that can do it, and the dataset that they are asked."""
_NARROWEST = 60
"""Columns that tables take at least."""


class _Grouped(click.Command):
    """Shows its options under the headings of the settings table."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        headings = {f"--{setting.name}": setting.group for setting in table()}
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(context):
            record = parameter.get_help_record(context)
            if record:
                heading = next((headings[name] for name in parameter.opts if name in headings), "Options")
                groups.setdefault(heading, []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)


_COMPLETIONS = {
    "datasets": complete_datasets,
    "gate": complete_gates,
    "only": complete_figures,
    **dict.fromkeys(("model", "reuse", "baseline", "data_dir", "tasks_path", "out"), complete_files),
}
"""Setting → what a shell is told that can be typed there."""


def setting_option(setting: Setting) -> Callable[[Any], Any]:
    """The click option of a setting. Values stay texts here: one place types and checks them for all sources."""
    names = [f"--{setting.name}", *([setting.short] if setting.short else [])]
    if setting.type is bool:
        return click.option(*names, is_flag=True, default=None, help=_help(setting))
    return click.option(
        *names,
        setting.field,
        default=None,
        multiple=setting.field in {"gate", "endpoint"},
        metavar=_metavar(setting),
        help=_help(setting),
        shell_complete=_COMPLETIONS.get(setting.field),
    )


def _help(setting: Setting) -> str:
    if setting.default in (None, (), {}, False):
        return setting.about
    default = f"{setting.default:g}" if isinstance(setting.default, float) else setting.default
    return f"{setting.about} [default: {default}]"


def _metavar(setting: Setting) -> str:
    if setting.choices:
        return "|".join(setting.choices)
    kinds = {"int": "N", "float": "X", "tuple": "LIST", "dict": "JSON"}
    return next((metavar for kind, metavar in kinds.items() if kind in str(setting.bare)), "TEXT")


def _settings(command: Callable[..., Any]) -> Callable[..., Any]:
    for setting in reversed([setting for setting in table() if setting.field != "adapter"]):
        command = setting_option(setting)(command)
    return command


def setting_options(names: Collection[str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of some settings, for commands that take no others."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for setting in reversed([setting for setting in table() if setting.field in names]):
            command = setting_option(setting)(command)
        return command

    return add


def given_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options that stand on the command line."""
    return {name: value for name, value in values.items() if value not in (None, ())}


@click.command(cls=_Grouped)
@click.argument("adapter", required=False)
@click.option("--config", metavar="FILE", help="YAML file of settings; flags win over it.")
@_settings
def run(**values: Any) -> None:
    """Evaluate an adapter folder, or a service that already runs."""
    _evaluate(given_settings(values))


@click.command()
@click.argument("shards", nargs=-1, required=True)
@click.option("--out", default="outputs", show_default=True, help="Folder under which the merged run's folder is made.")
@click.option("--data-dir", help="Folder that is searched for data files; default: as the shards had it.")
@click.option("--allow-missing", is_flag=True, help="Count the samples of missing shards as lost.")
@setting_options((*SCORING_SETTINGS, *VERDICT_SETTINGS, "trust_python", "sandbox"))
def merge(shards: tuple[str, ...], out: str, *, allow_missing: bool, **values: Any) -> None:
    """Make one report of the runs of all shards (`run --shard r/W`): equal to that of a single run.

    SHARDS are folders of runs, or zips of them.
    """
    given = given_settings(values)
    run = merge_parts.merged(shards, out, given, allow_missing=allow_missing)
    try:
        _evaluate({"mode": "eval", "reuse": run, **given})
    except UsageError:  # it cannot be judged, so it is no run; the shards are as they were
        shutil.rmtree(run)
        raise


@click.command()
@click.option("--out", default="outputs", show_default=True, help="Folder under which the run's folder is made.")
@click.option("--port", default=8000, show_default=True, help="Port on which the example adapter serves.")
@click.option(
    "--task-type",
    type=click.Choice(list(_DEMOS)),
    default="text-generation",
    show_default=True,
    help="Whether the model adds, or reads numbers from pictures.",
)
def demo(out: str, port: int, task_type: str) -> None:
    """Evaluate the bundled example adapter: real, tiny models that learnt to add, and to read numbers from pictures.

    No network, no accelerator.
    """
    folder = wiring.example_adapter()
    weights, dataset = _DEMOS[task_type]
    # The example's server needs NumPy, which this program's own environment has.
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])  # noqa: PTH120
    adapter = {"adapter": str(folder), "model": str(folder / weights), "task_type": task_type}
    _evaluate({**adapter, "datasets": dataset, "out": out, "port": port}, {**os.environ, "PATH": path})


def terminal_width() -> int:
    """Columns of the terminal, 80 where there is none."""
    return max(_NARROWEST, shutil.get_terminal_size().columns)


def _evaluate(values: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> None:
    report = python_api.evaluate(values, progress="terminal", environ=environ, handle_signals=True)
    click.echo(terminal.as_text(report, terminal_width()))
    sys.exit(report.outcome.exit_code)
