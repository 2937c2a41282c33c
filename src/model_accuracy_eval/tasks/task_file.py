"""A task → the task file that says the same, with comments, for a user to change."""

from pathlib import PurePath
from typing import Any

import msgspec
import yaml

from model_accuracy_eval.records import TaskSpec

_COMMENTS = {
    "data": "Looked for beside this file first.",
    "views": "What each column is. A dot leads into an object; answer_is says how right options are written.",
    "prompt": "What is sent: Jinja over what the view makes of each row: question, earlier, choices, answers, kind.",
    "references": "All right answers; any of them counts.",
    "key": "Kept beside each row's replies.",
    "extras": "What judging has to know of a row.",
    "max_tokens": "The longest reply.",
    "pipelines": "How the answer is read out of a reply, and how it is compared.",
}


def text(task: TaskSpec, source: str) -> str:
    """The file's text; `source` is the data file that the task was made of."""
    told = [f"# {sentence}." for sentence in task.about.removesuffix(".").split(". ")]
    parts = [f"# What was understood of {PurePath(source).name}:", *told, ""]
    for field in msgspec.structs.fields(task):
        value = getattr(task, field.name)
        if field.name == "data":
            value = PurePath(value.name).name
        elif field.default == value or (field.default_factory is not msgspec.NODEFAULT and not value):
            continue
        if field.name in _COMMENTS:
            parts.append(f"\n# {_COMMENTS[field.name]}")
        parts.append(_entry(field.name, value))
    return "\n".join(parts) + "\n"


def shown(task: TaskSpec) -> str:
    """A task file that says all of a task, for people to start from: its name, its prompt, then the rest."""
    fields = _plain(task)
    order = [name for name in ("name", "about", "prompt") if name in fields]
    ordered = {name: fields[name] for name in [*order, *(name for name in fields if name not in order)]}
    return yaml.dump(ordered, Dumper=_ReadableDumper, allow_unicode=True, sort_keys=False, width=110).rstrip()


class _ReadableDumper(yaml.SafeDumper):
    """Texts of several lines stand as they are read, where YAML allows it."""


_ReadableDumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def _entry(name: str, value: Any) -> str:
    return yaml.safe_dump({name: _plain(value)}, allow_unicode=True, sort_keys=False, width=110).rstrip()


def _plain(value: Any) -> Any:
    """A record as the fields that are not as usual."""
    if isinstance(value, msgspec.Struct):
        usual = {field.name: field.default for field in msgspec.structs.fields(value)}
        held = {name: getattr(value, name) for name in usual}
        return {name: _plain(entry) for name, entry in held.items() if entry not in (usual[name], {}, ())}
    if isinstance(value, (tuple, list)):
        return [_plain(entry) for entry in value]
    return value
