"""Types and functions as they cross: by the names under which both sides have them."""

import builtins
import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

from model_accuracy_eval.sandbox.inside.messages import Json
from model_accuracy_eval.sandbox.inside.value_forms import FORMS, NotData

_STEERING = frozenset({"unittest", "doctest", "pytest", "_pytest"})
"""Packages whose exceptions say how tests end."""


_LOOKED_AT = frozenset({"__annotations__", "__wrapped__", "__code__", "__defaults__", "__self__"})
"""Names with double underscores that tests look at; Python and libraries look for many others by themselves."""


class ProgramFunction:
    """A function of the program, or whatever else it lets be called under a name: the tests know no more of it."""

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.__name__ = name  # which unittest and threading look at
        self._call = call

    def __call__(self, /, *args: object, **kwargs: object) -> Any:
        return self._call(self.__name__, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _LOOKED_AT:
            raise AttributeError(name)
        raise NotData(f"an attribute of the function {self.__name__}")

    __doc__ = property(lambda self: self.documentation)  # as for any other attribute that it does not have


class NamesForTests:
    """What the tests may name to the program, and it to them."""

    def encode(self, value: object) -> Json:
        """None for what has no name."""
        if isinstance(value, ProgramFunction):
            return ["program's", value.__name__]
        is_known = isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)) and _has_name(value)
        return ["named", value.__module__, value.__qualname__] if is_known else None  # type: ignore[attr-defined]

    def decode(self, tag: object, parts: list[Any]) -> Any:
        """A program names types alone, of modules that are there."""
        module, name = parts
        kind = _named(module, name) if tag == "named" and module in sys.modules else None
        if not (isinstance(kind, type) and is_common(kind)):
            raise ValueError(f"{module}.{name} is no common type")
        return kind


class NamesForProgram:
    """The same on the other side; a program's own word for a function would not be taken."""

    def __init__(self, find: Callable[[str], Any]) -> None:
        self._find = find

    def encode(self, value: object) -> Json:
        is_known = isinstance(value, type) and is_common(value)
        return ["named", value.__module__, value.__qualname__] if is_known else None  # type: ignore[attr-defined]

    def decode(self, tag: object, parts: list[Any]) -> Any:
        return self._find(parts[0]) if tag == "program's" else _named(*parts)


def is_common(kind: type) -> bool:
    """Types that a program may name to the tests: those that data is made of, and exceptions of Python's own.

    What makes classes is none of them: their objects would live in the tests' process, and compare as they like.
    """
    if kind.__module__ == "builtins":
        return getattr(builtins, kind.__name__, None) is kind and kind not in (type, super)
    if kind in FORMS:
        return True
    return issubclass(kind, BaseException) and kind.__module__.partition(".")[0] not in _STEERING and _has_name(kind)


def _named(module: str, name: str) -> Any:
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _has_name(value: Any) -> bool:
    """Whether the standard library has it under its own name."""
    module = value.__module__ or ""
    if module.partition(".")[0] not in sys.stdlib_module_names and module != "builtins":
        return False
    try:
        return _named(module, value.__qualname__) is value
    except (ImportError, AttributeError):
        return False
