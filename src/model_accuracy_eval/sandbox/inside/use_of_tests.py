"""What a program may do with the objects that tests have given it.

It may use them as they are meant to be used: call them, read what they show, set what is there to be set. It may ask
nothing of any other value, least of all of one that it names itself: a class that it has made in the tests' process
would compare as it likes, and a format that it writes would read whatever the tests hold.
"""

import enum
import functools
import sys
import types
from typing import Any

from model_accuracy_eval.sandbox.inside.conversation import Action
from model_accuracy_eval.sandbox.inside.special_methods import SPECIAL, use

_CLOSED = (
    types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.ModuleType, types.FrameType, types.CodeType,
    types.TracebackType, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, functools.partial,
)  # fmt: skip
"""Objects that a program may use and not look into: what they hold leads to the tests."""

_SHOWN = frozenset({"__name__", "__qualname__", "__doc__", "send", "close"})
"""What they all may be asked for."""

_LEADING_ON = frozenset({"format", "format_map", "vformat", "get_field", "enable_load_extension", "load_extension"})
"""Methods of libraries that read any attribute, or run any code, for who calls them."""

_FACTS = frozenset({"__dict__", "__dataclass_fields__", "__match_args__"})
"""What the tests' own objects consist of, for programs that write it down."""

_OF_NAMED_TUPLES = frozenset({"_make", "_fields", "_field_defaults", "_asdict", "_replace"})

_MOCK = "unittest.mock"
_OF_MOCKS = frozenset(
    {"configure_mock", "attach_mock", "mock_add_spec", "reset_mock", "return_value", "side_effect", "called"}
    | {"call_args", "call_args_list", "call_count", "method_calls", "mock_calls"}
)
"""What mocks have for tests, beside their assertions: how they answer and what they have seen."""


def _module(value: Any) -> str:
    return value.__module__ if isinstance(value, type) else ""


def _is_of_tests(value: Any) -> bool:
    return type(value).__module__ == "tests"


def _is_mock(value: Any) -> bool:
    return any(base.__module__ == _MOCK for base in type(value).__mro__)


def _is_private(value: Any, name: str) -> bool:
    """Whether the name is for others than those who use the object."""
    if isinstance(value, _CLOSED) or name.startswith("__"):
        return name not in _SHOWN
    if _is_mock(value) and (name in _OF_MOCKS or name.startswith(("assert", "await"))):
        return True
    if name.startswith("_") and name not in _OF_NAMED_TUPLES:  # the members of an enumeration are among these
        return not _is_of_tests(value)
    return name in _LEADING_ON


def _get(value: Any, name: str) -> object:
    if name in _FACTS and not isinstance(value, _CLOSED) and "tests" in (type(value).__module__, _module(value)):
        found = getattr(value, name)
        return dict(found) if name != "__match_args__" else found  # what they are made of is not changed by it
    if _is_private(value, name):
        raise AttributeError(f"{name} of the tests' {type(value).__name__} is theirs alone")
    return getattr(value, name)


def _set(value: Any, name: str, content: object) -> None:
    """What tests have written to be called, or to be worked out, stays theirs: it may be what they ask in the end."""
    can_be_set = _is_of_tests(value) or _is_mock(value) or isinstance(value, types.SimpleNamespace)
    can_be_set = can_be_set and not isinstance(value, enum.Enum)
    if not can_be_set or _is_private(value, name) or _is_function(value, name):
        raise AttributeError(f"{name} of the tests' {type(value).__name__} cannot be set")
    setattr(value, name, content)


def _is_function(value: Any, name: str) -> bool:
    own = vars(value).get(name) if hasattr(value, "__dict__") else None
    of_class = next((vars(kind)[name] for kind in type(value).__mro__ if name in vars(kind)), None)
    works_out = hasattr(of_class, "__get__") and not hasattr(of_class, "__set__")
    return callable(own) or callable(of_class) or works_out


def _call(value: Any, args: list[Any], named: dict[str, Any]) -> object:
    """Classes of libraries are named to the program, which has them, too; only what is made of one leads here to it."""
    if isinstance(value, type) and value.__module__.partition(".")[0] in sys.stdlib_module_names:
        raise TypeError(f"the tests' class {value.__name__} was not given to be called")
    return value(*args, **named)


def _special(value: Any, name: str, args: list[object]) -> object:
    if name not in SPECIAL:
        raise AttributeError(name)
    if name == "__call__":
        return _call(value, args, {})
    return use(value, name, args)


def _given(side: Any, values: list[Any]) -> Any:
    if not (values and side.shared.is_exposed(values[0])):
        raise TypeError("the tests have not given this to be used")
    return values[0]


ACTIONS: dict[str, Action] = {
    "call": lambda side, values, named, name: _call(_given(side, values), values[1:], named),
    "special": lambda side, values, named, name: _special(_given(side, values), name, values[1:]),
    "get": lambda side, values, named, name: _get(_given(side, values), name),
    "set": lambda side, values, named, name: _set(_given(side, values), name, values[1]),
}
