"""A JSON file → the tasks in it, under the names that UltraEval's `make_config.py` gives them."""

import re
from pathlib import PurePath
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData, UnknownName

_COMPLETE_NAME = re.compile(r"([^_]+)_[^_]+_(?:gen|ppl)")
"""A complete name: dataset, task, method."""


class Generate(msgspec.Struct, forbid_unknown_fields=True):
    """How the model is asked; `params` holds the parameters, or names a file of them."""

    method: str
    params: str | dict[str, Any] = ""


class MetricEntry(msgspec.Struct, forbid_unknown_fields=True):
    """One metric: how a reply is evaluated, and how the values of a problem's replies are aggregated."""

    evaluation: dict[str, Any]
    aggregation: dict[str, Any] | None = None


class ConfigFields(msgspec.Struct, forbid_unknown_fields=True):
    """The fields of a task in UltraEval's documentation."""

    task_name: str
    path: str
    transform: str
    generate: Generate
    metric: dict[str, MetricEntry]
    description: str = ""
    fewshot: int = 0
    postprocess: str = ""


class Config(msgspec.Struct, frozen=True):
    """One task: its name, its dataset, its fields, and its file."""

    name: str
    dataset: str
    fields: ConfigFields
    file: str


def is_config(data: bytes) -> bool:
    """Whether a JSON file holds UltraEval's tasks, and not rows."""
    try:
        entries = _entries(msgspec.json.decode(data))
    except msgspec.DecodeError:
        return False
    return bool(entries) and all(
        isinstance(entry, dict) and {"task_name", "metric"} <= entry.keys() for entry in entries
    )


def parse(file: str, data: bytes) -> list[Config]:
    try:
        entries = _entries(msgspec.json.decode(data))
    except msgspec.DecodeError as error:
        raise BadData(f"{file} is no JSON that could be read: {error}.") from error
    return [_config(file, number, entry) for number, entry in enumerate(entries, start=1)]


def _entries(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content]


def _config(file: str, number: int, entry: Any) -> Config:
    try:
        fields = msgspec.convert(entry, ConfigFields)
    except msgspec.ValidationError as error:
        raise _as_usage_error(f"{file}, task {number}", str(error)) from error
    complete = _COMPLETE_NAME.fullmatch(fields.task_name)
    dataset = complete[1] if complete else _dataset(file, fields)
    method = "ppl" if fields.generate.method == "loglikelihood" else "gen"
    name = fields.task_name if complete else f"{dataset}_{fields.task_name.replace('_', '-')}_{method}"
    return Config(re.sub(r"[^\w.+-]", "_", name), dataset, fields, file)


def _as_usage_error(where: str, message: str) -> BadData | UnknownName:
    problem, _, place = message.partition(" - at ")
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", problem)
    if unknown is None:
        problem = problem.replace("`", "'")
        return BadData(f"{where}: {problem[0].lower()}{problem[1:]}{f', in {place.strip(chr(96))}' if place else ''}.")
    kind = Generate if "generate" in place else MetricEntry if "metric" in place else ConfigFields
    return UnknownName("field", unknown[1], kind.__struct_fields__, where=f" in {where}")


def _dataset(file: str, fields: ConfigFields) -> str:
    """The folder that holds `config/` or `data/`, in lower case; without one, the task is its whole dataset."""
    for path, folder in ((file, "config"), (fields.path, "data")):
        *_, dataset, inner = ("", "", *PurePath(path).parent.parts)
        if inner == folder and dataset not in {"", "..", "/"}:
            return dataset.lower()
    return fields.task_name.replace("_", "-")
