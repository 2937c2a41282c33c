"""Functions of the user's own, named by where they stand: `package.module:function`, or `folder/file.py:function`."""

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import cache, partial
from pathlib import PurePath
from typing import Any

from model_accuracy_eval.errors import BadValue


def is_path(name: str) -> bool:
    """Whether a name says where a function stands, instead of which row of a table it is."""
    return ":" in name


def load(path: str) -> Any:
    """What stands there; loading runs the module, so a run does this only with files that its user trusts."""
    return _loaded(LOADER.get(), path)


@cache
def _loaded(how: Callable[[str], Any], path: str) -> Any:
    return how(path)


def here(path: str) -> Any:
    """Loaded into this very process."""
    place, _, attribute = path.rpartition(":")
    try:
        module = _file(place) if place.endswith(".py") else importlib.import_module(place)
    except Exception as error:
        raise BadValue(f"'{path}' cannot be loaded: {type(error).__name__}: {error}.") from error
    if not hasattr(module, attribute):
        raise BadValue(f"'{path}' cannot be loaded: {place} has no '{attribute}'.")
    return getattr(module, attribute)


def _file(place: str) -> Any:
    spec = importlib.util.spec_from_file_location(PurePath(place).stem, place)
    if spec is None or spec.loader is None:
        raise BadValue(f"{place} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def takes(function: Callable[..., Any], names: Iterable[str]) -> bool:
    """Whether the function has parameters of all these names."""
    return set(names) <= set(inspect.signature(function).parameters)


def takes_any_name(function: Callable[..., Any]) -> bool:
    """Whether it takes arguments of whatever name."""
    return any(one.kind is one.VAR_KEYWORD for one in inspect.signature(function).parameters.values())


def check_arguments(kind: str, name: str, function: Callable[..., Any], arguments: Iterable[str]) -> None:
    """A misspelt argument is found before anything is asked, and so is one that is missing."""
    own = function.func if isinstance(function, partial) else function
    if takes_any_name(own):
        return
    parameters = inspect.signature(own).parameters.values()
    known = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    strange = [argument for argument in arguments if argument not in known]
    if strange:
        takes_them = f"it takes {', '.join(known)}" if known else "it takes none"
        raise BadValue(f"The {kind} '{name}' has no argument '{strange[0]}'; {takes_them}.")
    needed = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY and one.default is one.empty]
    given = function.keywords if isinstance(function, partial) else {}
    missing = [argument for argument in needed if argument not in {*arguments, *given}]
    if missing:
        raise BadValue(f"The {kind} '{name}' needs the argument '{missing[0]}'.")


LOADER: ContextVar[Callable[[str], Any]] = ContextVar("LOADER", default=here)
"""How functions are loaded. A run has them loaded into, and called in, a process of their own."""
