"""The user's own functions, named by their paths: `package.module:function`, or `folder/file.py:function`."""

import inspect
import re
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import cache, partial
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from typing import Any

from model_accuracy_eval.errors import BadValue


def is_path(name: str) -> bool:
    """Whether a name is a path instead of a name in a table."""
    return ":" in name


_IN_A_FILE = re.compile(r"((?:lm_eval\w*:)?)(.+\.py):([\w.]+)")


def file_of(path: str) -> str | None:
    """The file of `folder/file.py:function`; None for what names no function in a file."""
    found = _IN_A_FILE.fullmatch(path)
    return found[2] if found else None


def in_other_file(path: str, file: str) -> str:
    """The path of the same function in another file."""
    return _IN_A_FILE.sub(lambda found: f"{found[1]}{file}:{found[3]}", path)


def by_content(path: str) -> str:
    """The path with what its file holds instead of where it lies; unchanged if there is no such file."""
    file = file_of(path)
    try:
        content = SourceFileLoader("", file).get_data(file) if file else None
    except OSError:
        return path
    return path if content is None or file is None else in_other_file(path, sha256(content).hexdigest())


def load(path: str) -> Any:
    """The function at the path. Loading runs its module."""
    return _loaded(LOADER.get(), path)


@cache
def _loaded(loader: Callable[[str], Any], path: str) -> Any:
    return loader(path)


def _refused(path: str) -> Any:
    raise BadValue(f"'{path}' is Python of a task file, which runs only where the user trusts it: --trust-python.")


def takes(function: Callable[..., Any], names: Iterable[str]) -> bool:
    """Whether the function has parameters of all these names."""
    return set(names) <= set(inspect.signature(function).parameters)


def takes_any_name(function: Callable[..., Any]) -> bool:
    """Whether the function takes arguments of any name."""
    parameters = inspect.signature(function).parameters.values()
    return any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)


def check_arguments(kind: str, name: str, function: Callable[..., Any], arguments: Iterable[str]) -> None:
    """Refuses unknown and missing arguments before anything is asked."""
    inner = function.func if isinstance(function, partial) else function
    if takes_any_name(inner):
        return
    parameters = [item for item in inspect.signature(inner).parameters.values() if item.kind is item.KEYWORD_ONLY]
    known = [parameter.name for parameter in parameters]
    unknown = [argument for argument in arguments if argument not in known]
    if unknown:
        takes_them = f"it takes {', '.join(known)}" if known else "it takes none"
        raise BadValue(f"The {kind} '{name}' has no argument '{unknown[0]}'; {takes_them}.")
    needed = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
    bound = function.keywords if isinstance(function, partial) else {}
    missing = [argument for argument in needed if argument not in {*arguments, *bound}]
    if missing:
        raise BadValue(f"The {kind} '{name}' needs the argument '{missing[0]}'.")


LOADER: ContextVar[Callable[[str], Any]] = ContextVar("LOADER", default=_refused)
"""How functions are loaded: where the user trusts them, in a separate process, which also calls them."""
