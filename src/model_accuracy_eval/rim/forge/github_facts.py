"""What GitHub knows before anything is started: what somebody may do, and what a repository is made for."""

import base64
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import msgspec
import yaml

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.records.forge import Hardware, Permission
from model_accuracy_eval.rim.forge.github_answers import Answer, read
from model_accuracy_eval.rim.forge.github_calls import Caller
from model_accuracy_eval.rim.forge.github_refusals import Errand, expect


class _Level(msgspec.Struct):
    permission: str
    role_name: str = ""


class _Property(msgspec.Struct):
    property_name: str
    value: Any = None


class _Topics(msgspec.Struct):
    names: list[str]


class _File(msgspec.Struct):
    encoding: str
    content: str


PROPERTIES = ("hardware", "hardware-type", "hardware_type")
FILE = "accuracy.yml"
_ALIASES = {"ASCEND": "NPU"}
_LARGEST = 65_536
"""Bytes of a file that is worth reading for one word."""


def permission(caller: Caller, repository: str, login: str) -> Permission:
    errand = Errand(
        what=f"to tell the permission of '{login}'", needs="metadata: read", repository=repository, error=Refused
    )
    path = f"/repos/{repository}/collaborators/{quote(login, safe='')}/permission"
    told = expect(caller.send("GET", path), errand, _Level)
    role = told.role_name or told.permission
    return Permission(login=login, repository=repository, level=told.permission, role_name=role)


def hardware(caller: Caller, repository: str) -> Hardware:
    """What is hardest to change without right comes first: a property, then a topic, then a file."""
    notes: list[str] = []
    for source, ask in _SOURCES:
        types, note = ask(caller, repository)
        if types:
            return Hardware(types=types, source=source, notes=tuple(notes))
        notes.append(f"{source}: {note}")
    return Hardware(notes=tuple(notes))


Finding = tuple[tuple[str, ...], str]
"""Types, or why there are none."""


def _property(caller: Caller, repository: str) -> Finding:
    answer = caller.send("GET", f"/repos/{repository}/properties/values")
    told = read(answer, list[_Property])
    if told is None:
        return (), _why(answer)
    values = {item.property_name: item.value for item in told}
    for name in PROPERTIES:
        if types := _types(values.get(name)):
            return types, ""
    return (), f"none of {', '.join(PROPERTIES)} is set"


def _topic(caller: Caller, repository: str) -> Finding:
    answer = caller.send("GET", f"/repos/{repository}/topics")
    topics = read(answer, _Topics)
    if topics is None:
        return (), _why(answer)
    names = topics.names
    told = [name.removeprefix("hardware-") for name in names if name.startswith("hardware-") or name in _PLAIN]
    return _types(told), f"none of the {len(names)} topics names a hardware, as hardware-npu does"


_PLAIN = ("npu", "ascend")


def _file(caller: Caller, repository: str) -> Finding:
    # Without a ref it is the default branch's: a pull request must not say what it is to be tested on.
    answer = caller.send("GET", f"/repos/{repository}/contents/{FILE}")
    if not answer.ok:
        return (), _why(answer)
    told = read(answer, _File)
    if told is None or told.encoding != "base64":
        return (), "it is no small file"
    try:
        data = base64.b64decode(told.content)
        content = yaml.safe_load(data[:_LARGEST]) if len(data) <= _LARGEST else None
    except (ValueError, yaml.YAMLError, RecursionError):
        return (), "it is no YAML"
    types = _types(content.get("hardware")) if isinstance(content, dict) else ()
    return types, "it has no line such as `hardware: NPU`"


_SOURCES: tuple[tuple[str, Callable[[Caller, str], Finding]], ...] = (
    ("custom property", _property),
    ("topic", _topic),
    (f"{FILE} on the default branch", _file),
)


def _types(value: Any) -> tuple[str, ...]:
    """One word or several, in capitals, each once."""
    return tuple(dict.fromkeys(_named(value)))


def _named(value: Any) -> Iterator[str]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str) and (name := item.strip().upper()):
            yield _ALIASES.get(name, name)


def _why(answer: Answer) -> str:
    if answer.status == 404:
        return "there is none, or the token cannot see it"
    told = answer.message or answer.problem
    return f"could not be read (HTTP {answer.status}{f' {told}' if told else ''})" if answer.status else told
