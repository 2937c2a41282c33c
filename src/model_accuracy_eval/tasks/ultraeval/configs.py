"""A JSON file → the tasks in it, under the names that UltraEval's `make_config.py` gives them."""

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData, UnknownName

_NAMED = re.compile(r"([^_]+)_[^_]+_(?:gen|ppl)")
"""A name that was made already: dataset, task, method."""


class Generate(msgspec.Struct, forbid_unknown_fields=True):
    """How the model is asked; `params` is a file of parameters, or the parameters."""

    method: str
    params: str | dict[str, Any] = ""


class Judged(msgspec.Struct, forbid_unknown_fields=True):
    """One metric: what a reply is worth, and how the values of a problem's replies become one."""

    evaluation: dict[str, Any]
    aggregation: dict[str, Any] | None = None


class Fields(msgspec.Struct, forbid_unknown_fields=True):
    """The fields of a task, as UltraEval's documentation lists them."""

    task_name: str
    path: str
    transform: str
    generate: Generate
    metric: dict[str, Judged]
    description: str = ""
    fewshot: int = 0
    postprocess: str = ""


@dataclass(frozen=True, slots=True)
class Config:
    """One task: its name, the dataset that it is a part of, what its author wrote, and the file that says so."""

    name: str
    dataset: str
    fields: Fields
    file: str


def is_config(data: bytes) -> bool:
    """Whether a JSON file holds such tasks, and not rows."""
    try:
        entries = _entries(msgspec.json.decode(data))
    except msgspec.DecodeError:
        return False
    return bool(entries) and all(isinstance(one, dict) and {"task_name", "metric"} <= one.keys() for one in entries)


def parse(file: str, data: bytes) -> list[Config]:
    try:
        entries = _entries(msgspec.json.decode(data))
    except msgspec.DecodeError as error:
        raise BadData(f"{file} is no JSON that could be read: {error}.") from error
    return [_config(file, number, entry) for number, entry in enumerate(entries, start=1)]


def _entries(whole: Any) -> list[Any]:
    return whole if isinstance(whole, list) else [whole]


def _config(file: str, number: int, entry: Any) -> Config:
    try:
        fields = msgspec.convert(entry, Fields)
    except msgspec.ValidationError as error:
        raise _told(f"{file}, task {number}", str(error)) from error
    made = _NAMED.fullmatch(fields.task_name)
    dataset = made[1] if made else _dataset(file, fields)
    method = "ppl" if fields.generate.method == "loglikelihood" else "gen"
    name = fields.task_name if made else f"{dataset}_{fields.task_name.replace('_', '-')}_{method}"
    return Config(re.sub(r"[^\w.+-]", "_", name), dataset, fields, file)


def _told(where: str, message: str) -> BadData | UnknownName:
    what, _, place = message.partition(" - at ")
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what)
    if unknown is None:
        what = what.replace("`", "'")
        return BadData(f"{where}: {what[0].lower()}{what[1:]}{f', in {place.strip(chr(96))}' if place else ''}.")
    kind = Generate if "generate" in place else Judged if "metric" in place else Fields
    return UnknownName("field", unknown[1], kind.__struct_fields__, where=f" in {where}")


def _dataset(file: str, fields: Fields) -> str:
    """The folder around `config/` or `data/`, in small letters; without one, the task is all of its dataset."""
    for path, room in ((file, "config"), (fields.path, "data")):
        *_, dataset, inner = ("", "", *PurePath(path).parent.parts)
        if inner == room and dataset not in {"", "..", "/"}:
            return dataset.lower()
    return fields.task_name.replace("_", "-")
