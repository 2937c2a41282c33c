"""Writes the reference pages that tables in the code describe: `make docs`. A test holds pages and tables equal."""

import json
from collections.abc import Iterator
from copy import copy
from inspect import signature
from itertools import groupby
from pathlib import Path
from typing import get_type_hints

import click
import msgspec
import yaml
from docs import action_files, data_faults, diagnosis_page
from docs.dataset_pages import datasets, steps_and_metrics

from model_accuracy_eval.cli import main
from model_accuracy_eval.commands.action_inputs import ROWS
from model_accuracy_eval.commands.options import sentence
from model_accuracy_eval.records import Step, TaskSpec
from model_accuracy_eval.rescoring.shapes.reply_files import KNOWN_SHAPES, MEANINGS
from model_accuracy_eval.rescoring.shapes.reply_row import Shape
from model_accuracy_eval.scoring.metrics.asked_metrics import ask_sandbox
from model_accuracy_eval.settings import Setting, table

FOLDER = Path(__file__).parent / "reference"
_ABOUT_SETTINGS = """\
Every setting is an option of `model-accuracy-eval run` and a key of the YAML file that `--config` names. Flags win
over the file, the file over the defaults. `none` takes a value away where none is allowed. In
[the action](action.md) each is a line of `settings`."""
_ABOUT_COMMANDS = """\
What `--help` prints, without the options that are [settings](settings.md): these mean the same for every command."""
_ABOUT_LINES = """\
Every [setting](settings.md), and these. A wrong name or value is refused with its line before anything is fetched; keys
and tokens are inputs, since the job's log shows this block."""
_ABOUT_SHAPES = """\
[`rescore`](../how-to/rescore.md) reads these files as they are: as JSON lines, as one list or as one object, packed by
gzip, or as the only JSON file of a zip archive. A shape is recognised by the fields of the first rows, never by the
file's name. All further rows must have these fields, too. One that lacks some, or cannot be read, is listed with its
line or entry and [left out](../how-to/rescore.md#how-a-file-is-judged); a file without any other is refused.

Where a file has the fields of several shapes, the shape whose fields include those of the others is taken; if none
does, the file is refused, and `--map` says what is meant. Replies that are null, and rows with an error, are samples
that failed. Replies with the same id are samples of one problem, in the order of the file unless it numbers them."""
_ABOUT_MAP = """\
A file of rows in any other shape is read with `--map name=field,…`, such as `--map id=task_id,prediction=response`. A
field in an object is named by a path with dots (`response.body.choices.0.message.content`), and `*` stands for every
entry of a list (`outputs.*.text`). A list of texts holds one reply for each sample. A row needs each named field,
except `error`, `reasoning`, `finish_reason`, `answer` and `correct`, which one row at least must have."""
NOTE = "<!-- Made by `make docs` from the tables in the code; edit those. -->"


def pages() -> dict[str, str]:
    """File name → text."""
    return {
        "settings.md": _settings(),
        "datasets.md": datasets(NOTE),
        "steps-and-metrics.md": steps_and_metrics(NOTE),
        "commands.md": _commands(),
        "action.md": _action(),
        "diagnosis.md": diagnosis_page.page(NOTE),
        "saved-replies.md": _saved_replies(),
        "task.schema.json": _schema(),
    }


def _schema() -> str:
    """The schema of our own task files without their shorthands; `exec` replaces `pipelines`."""
    (whole, execution), parts = msgspec.json.schema_components((TaskSpec, _exec()), ref_template="#/$defs/{name}")
    task = parts["TaskSpec"]
    task["properties"]["exec"] = execution
    task["not"] = {"required": ["exec", "pipelines"]}
    return json.dumps({**whole, "$defs": parts}, indent=1, ensure_ascii=False) + "\n"


def _exec() -> type:
    """What the metric `code` takes, and how the program is read out of the reply."""
    given, types = signature(ask_sandbox).parameters, get_type_hints(ask_sandbox)
    fields = [(name, types[name], one.default) for name, one in given.items() if one.kind is one.KEYWORD_ONLY]
    filters = ("filters", tuple[Step, ...], (Step(name="strip_thoughts"), Step(name="python_code")))
    return msgspec.defstruct("Exec", [*fields, filters], forbid_unknown_fields=True)


def _settings() -> str:
    parts = [
        "# Settings",
        NOTE,
        _ABOUT_SETTINGS,
    ]
    for group, settings in groupby(table(), key=lambda setting: setting.group):
        rows = [f"| `{setting.name}` | {_default(setting)} | {_about(setting)} |" for setting in settings]
        parts += [f"## {group}", "\n".join(["| setting | default | about |", "|---|---|---|", *rows])]
    return "\n\n".join(parts) + "\n"


def _default(setting: Setting) -> str:
    if setting.default in (None, (), {}):
        return ""
    shown = str(setting.default).lower() if isinstance(setting.default, bool) else f"{setting.default}"
    return f"`{shown.removesuffix('.0')}`"


def _about(setting: Setting) -> str:
    told = setting.about.replace("|", "\\|")
    choices = f" One of {', '.join(f'`{choice}`' for choice in setting.choices)}." if setting.choices else ""
    return f"{told}{choices}{f' Short: `{setting.short}`.' if setting.short else ''}"


def _commands() -> str:
    parts = ["# Commands", NOTE, _ABOUT_COMMANDS]
    for path, command in _walk(main, ("model-accuracy-eval",)):
        shown = copy(command)
        taken = [name for parameter in command.params if (name := _setting(parameter))]
        shown.params = [parameter for parameter in command.params if not _setting(parameter)]
        shown.add_help_option = False  # click keeps the first one it made, which may have had other names
        click.help_option(*main.context_settings["help_option_names"])(shown)
        context = click.Context(shown, info_name=" ".join(path), max_content_width=110, terminal_width=110)
        parts += [f"## `{' '.join(path)}`", f"```text\n{shown.get_help(context).rstrip()}\n```"]
        if len(taken) > len(list(table())) / 2:
            parts.append("Every [setting](settings.md) is an option of it.")
        elif taken:
            parts.append(f"[Settings](settings.md) that it takes: {', '.join(f'`--{name}`' for name in taken)}.")
    return "\n\n".join(parts) + "\n"


def _setting(parameter: click.Parameter) -> str:
    """The name of the setting that an option sets, in the setting's own words; else nothing."""
    words = getattr(parameter, "help", None) or ""
    return next((one.name for one in table() if f"--{one.name}" in parameter.opts and words.startswith(one.about)), "")


def _action() -> str:
    definition = yaml.safe_load((Path(__file__).parent.parent / "action.yml").read_text(encoding="utf-8"))
    settings = {setting.name for setting in table()}
    inputs = [(name, spec["description"]) for name, spec in definition["inputs"].items()]
    lines = [(row.name, sentence(row)) for row in ROWS.values() if row.name not in {*settings, *definition["inputs"]}]
    outputs = [(name, spec["description"]) for name, spec in definition["outputs"].items()]
    parts = ["# The action's inputs and outputs", NOTE, "## Inputs", _names(inputs)]
    parts += ["## Lines of `settings`", _ABOUT_LINES, _names(lines), "## Outputs", _names(outputs)]
    return "\n\n".join(parts) + "\n"


def _names(rows: list[tuple[str, str]]) -> str:
    lines = [f"| `{name}` | {told.replace('|', chr(92) + '|')} |" for name, told in rows]
    return "\n".join(["| name | about |", "|---|---|", *lines])


def _saved_replies() -> str:
    rows = [
        f"| {shape.name} | {shape.tools} | {shape.file} | {_recognised(shape)} | {shape.gives} |".replace("  |", " |")
        for shape in KNOWN_SHAPES
    ]
    names = [f"| `{name}` | {meaning} |" for name, meaning in MEANINGS.items()]
    parts = [
        "# Files of saved replies",
        NOTE,
        _ABOUT_SHAPES,
        "\n".join(
            ["| shape | written by | file | recognised by | gives beside the replies |", "|---|---|---|---|---|", *rows]
        ),
        "## Other files: `--map`",
        _ABOUT_MAP,
        "\n".join(["| name | is |", "|---|---|", *names]),
    ]
    return "\n\n".join(parts) + "\n"


def _recognised(shape: Shape) -> str:
    fields = ", ".join(" or ".join(f"`{name}`" for name in field.split("|")) for field in shape.needs)
    inside = f" in `{shape.at}`" if shape.at else ""
    match shape.arrangement:
        case "lists of texts":
            return f"lists of texts{inside}"
        case "rows" if not shape.at:
            return fields
        case "rows":
            return f"a list of objects with {fields}{inside}"
        case "keyed rows":
            return f"objects with {fields}, each under its id{inside}"
        case "lists of rows":
            return f"lists of objects with {fields}, each under its id{inside}"


def _walk(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.commands or command.list_commands(context):
            if below := command.get_command(context, name):
                yield from _walk(below, (*path, name))


if __name__ == "__main__":
    for path, text in action_files.files().items():
        path.write_text(text, encoding="utf-8")
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    (FOLDER / "data-faults.md").write_text(data_faults.page(NOTE), encoding="utf-8")
