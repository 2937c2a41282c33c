"""A task in our own YAML format: the fields of `TaskSpec` under their own names, with a few shorthands.

A file is its name alone (`data: rows.jsonl`), a filter, metric, sampler or scorer without arguments likewise; `about`
and `fields` may be left out. `exec` stands for the pipeline of a task whose answers are programs: the arguments of the
metric `code`, and `filters` where the program is read in another way.
"""

import re
from collections.abc import Callable, Sequence
from inspect import signature
from pathlib import PurePath
from typing import Any

import msgspec
import yaml
from msgspec.structs import replace

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import (
    DataFile,
    DataSource,
    FewShot,
    Grouping,
    MetricUse,
    Pipeline,
    Prompt,
    RowsPin,
    Slice,
    Step,
    TaskSpec,
)
from model_accuracy_eval.scoring.code.case_programs import check_rules
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.asked_metrics import ask_sandbox

DeclaredFields = dict[str, Any]

_NAMED = {"data", "sampler", "scorer", "filters", "metrics", "views"}
"""Fields of which a value may be written as its name alone."""

_EXEC = tuple(name for name, one in signature(ask_sandbox).parameters.items() if one.kind is one.KEYWORD_ONLY)
"""What a task file may say under `exec`: what the metric `code` takes."""

FIELDS_OF_PARTS: DeclaredFields = {"data": "", "prompt": {"question": ""}, "reference": ""}
"""Required fields that a task in parts leaves to its parts."""


def from_fields(path: str, fields: DeclaredFields) -> TaskSpec:
    """The task. Errors name the file, the place in it and the nearest known field."""
    fields = _with_pipeline(path, fields) if "exec" in fields else fields
    defaults = {"about": f"The dataset of {path}.", "fields": ()}
    try:
        return msgspec.convert(defaults | {key: _long(key, value) for key, value in fields.items()}, TaskSpec)
    except msgspec.ValidationError as error:
        raise usage_error(path, error, _fields_at) from error


def _with_pipeline(path: str, fields: DeclaredFields) -> DeclaredFields:
    """The fields with the pipeline that `exec` stands for."""
    if not isinstance(fields["exec"], dict) or "pipelines" in fields:
        raise BadValue(f"{path}: 'exec' holds the code, tests and files of a program, and replaces 'pipelines'.")
    args = dict(fields["exec"])
    filters = args.pop("filters") if "filters" in args else _filters(args)
    if unknown := sorted(set(args) - set(_EXEC)):
        raise UnknownName("field", unknown[0], (*_EXEC, "filters"), where=f" in {path}, exec")
    check_rules(f"{path}, exec", args)
    metrics = [{"name": "code", "label": "accuracy", "args": args}]
    if args.get("all_cases"):
        metrics.append({"name": "code_cases", "label": "cases passed", "args": args})
    rest = {key: value for key, value in fields.items() if key != "exec"}
    return {**rest, "pipelines": [{"filters": filters, "metrics": metrics}]}


def _filters(args: DeclaredFields) -> list[Any]:
    """How a program is read out of a reply, unless the task says it: a script is whatever its block holds."""
    language = str(args.get("language", "python")).removesuffix("_test")
    if "stdin" in args or language != "python":
        return ["strip_thoughts", {"name": "script", "args": {"language": language}}]
    return ["strip_thoughts", "python_code"]


def _long(key: str, value: Any) -> Any:
    """A value without shorthands, at any depth."""
    if isinstance(value, str) and key in _NAMED:
        return {"name": value}
    if isinstance(value, dict) and key not in {"args", "generation"}:
        return {inner: _long(inner, content) for inner, content in value.items()}
    if isinstance(value, list) and key != "rows":
        return [_long(key, entry) for entry in value]
    return value


def usage_error(
    path: str, error: msgspec.ValidationError, known: Callable[[str], Sequence[str]]
) -> BadValue | UnknownName:
    """The sentence for fields that fit no record. `known`: the fields at a place such as `prompt.fewshot`."""
    problem, _, place = str(error).partition(" - at ")
    where = place.strip("`$.")
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", problem)
    if unknown is None:
        problem = problem.replace("`", "'")
        return BadValue(f"{path}: {problem[0].lower()}{problem[1:]}{f', in {where}' if where else ''}.")
    return UnknownName("field", unknown[1], known(where), where=f" in {path}" + (f", {where}" if where else ""))


_RECORDS: dict[str, type[msgspec.Struct]] = {
    "data": DataFile, "instead": DataFile, "more": DataFile, "source": DataSource, "pin": RowsPin, "prompt": Prompt,
    "fewshot": FewShot, "pipelines": Pipeline, "metrics": MetricUse, "slice": Slice, "grouping": Grouping,
    **dict.fromkeys(("filters", "views", "sampler", "scorer"), Step),
}  # fmt: skip
"""The field of a task, at any depth → the record that it holds."""


def _fields_at(where: str) -> Sequence[str]:
    return _RECORDS.get(re.sub(r"\[.*?\]", "", where).rpartition(".")[2], TaskSpec).__struct_fields__


# A task → the task file that says the same, with comments, for a user to change.


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
    for name, value in (_plain(task) | {"data": PurePath(task.data.name).name}).items():
        if name in _COMMENTS:
            parts.append(f"\n# {_COMMENTS[name]}")
        parts.append(_dumped({name: value}))
    return "\n".join(parts) + "\n"


def shown(task: TaskSpec) -> str:
    """A task file that says all of a task, for people to start from: its name, its prompt, then the rest."""
    fields = _plain(task)
    order = [name for name in ("name", "about", "prompt") if name in fields]
    ordered = {name: fields[name] for name in [*order, *(name for name in fields if name not in order)]}
    return _dumped(ordered)


class _ReadableDumper(yaml.SafeDumper):
    """Texts of several lines stand as they are read, where YAML allows it."""


_ReadableDumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def _dumped(fields: DeclaredFields) -> str:
    return yaml.dump(fields, Dumper=_ReadableDumper, allow_unicode=True, sort_keys=False, width=110).rstrip()


def _plain(value: Any) -> Any:
    """A record as the fields that are not as usual."""
    if isinstance(value, msgspec.Struct):
        usual = {field.name: field.default for field in msgspec.structs.fields(value)}
        held = {name: getattr(value, name) for name in usual}
        return {name: _plain(entry) for name, entry in held.items() if entry not in (usual[name], {}, ())}
    if isinstance(value, (tuple, list)):
        return [_plain(entry) for entry in value]
    return value


# Python files that a task file names, looked for beside it first, as its data is.


def beside(path: str, task: TaskSpec, holds: Callable[[str], bool]) -> TaskSpec:
    """The task and its parts with the functions that lie beside its own file by their paths; `holds`: whether there is
    such a file."""

    def found(name: str | None) -> str | None:
        file = user_functions.file_of(name) if name else None
        place = str(PurePath(path).parent / file) if file else ""
        return user_functions.in_other_file(name, place) if name and place and holds(place) else name

    def step(one: Step) -> Step:
        args = {key: found(value) if key == "filter_fn" else value for key, value in one.args.items()}
        return replace(one, name=found(one.name) or one.name, args=args)

    def metric(use: MetricUse) -> MetricUse:
        # The report goes on naming it as the file does, from whatever folder it is named.
        label = use.label or (use.name if user_functions.file_of(use.name) else "")
        return replace(
            use,
            name=found(use.name) or use.name,
            label=label,
            reduction=found(use.reduction),
            aggregation=found(use.aggregation),
        )

    def pipeline(one: Pipeline) -> Pipeline:
        return replace(one, filters=tuple(map(step, one.filters)), metrics=tuple(map(metric, one.metrics)))

    parts = tuple(beside(path, part, holds) for part in task.parts)
    return replace(task, pipelines=tuple(map(pipeline, task.pipelines)), parts=parts)
