"""What commands share: the settings of a run as their options, what a shell is told that can be typed, and output."""

import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from model_accuracy_eval.benchmarks import dataset_table
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.settings import Setting, table

if TYPE_CHECKING:  # `tasks list` has no need of what reads a run
    from model_accuracy_eval.run_folder.kept_run import KeptRun


def complete_datasets(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Names of datasets and groups after the last comma, and files of the shell's own finding."""
    done, comma, begun = typed.rpartition(",")
    names = sorted(name for name in (*dataset_table.TASKS, *dataset_table.GROUPS) if name.startswith(begun))
    files = [] if comma else [CompletionItem(typed, type="file")]
    return [*(CompletionItem(f"{done}{comma}{name}") for name in names), *files]


_COMPLETIONS = {
    "datasets": complete_datasets,
    **dict.fromkeys(
        ("model", "reuse", "baseline", "data_dir", "tasks_path", "out"),
        lambda _context, _parameter, typed: [CompletionItem(typed, type="file")],
    ),
}
"""Setting → what a shell is told that can be typed there."""


def setting_option(setting: Setting) -> Callable[[Any], Any]:
    """The click option of a setting. Values stay texts here: one place types and checks them for all sources."""
    names = [f"--{setting.name}", *([setting.short] if setting.short else [])]
    if setting.type is bool:
        return click.option(*names, is_flag=True, default=None, help=sentence(setting))
    return click.option(
        *names,
        setting.field,
        default=None,
        multiple=setting.field in {"gate", "endpoint"},
        metavar=_metavar(setting),
        help=sentence(setting),
        shell_complete=_COMPLETIONS.get(setting.field),
    )


def sentence(setting: Setting) -> str:
    """What it is about, and its default."""
    if setting.default in (None, (), {}, False, ""):
        return setting.about
    default = f"{setting.default:g}" if isinstance(setting.default, float) else str(setting.default)
    default = default.lower() if isinstance(setting.default, bool) else default
    return f"{setting.about} [default: {default}]"


def _metavar(setting: Setting) -> str:
    if setting.choices:
        return "|".join(setting.choices)
    kinds = {"int": "N", "float": "X", "tuple": "LIST", "dict": "JSON"}
    return next((metavar for kind, metavar in kinds.items() if kind in str(setting.bare)), "TEXT")


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


unverified_option = click.option(
    "--unverified",
    is_flag=True,
    help="Go on with a run whose files are not as it left them, and say so in all that is made.",
)


def told(kept: "KeptRun") -> "KeptRun":
    """The run; what is in doubt about it is said at once."""
    for doubt in kept.doubts:
        click.echo(f"Unverified: {doubt}.", err=True)
    return kept


GATE_SETTINGS = ("gate", "gate_on", "confidence", "on_undecided")
"""The settings of `run` that decide about a run which has ended."""
_NARROWEST = 60
"""Columns that tables take at least."""


def terminal_width() -> int:
    """Columns of the terminal, 80 where there is none."""
    return max(_NARROWEST, shutil.get_terminal_size().columns)


def write(path: str | Path, content: bytes) -> None:
    """A file that the user named."""
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise BadValue(f"{path} cannot be written: {error.strerror or error}.") from error
