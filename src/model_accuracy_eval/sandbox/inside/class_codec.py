"""Classes and functions as they cross: by name where both sides have them, and else, classes only, by their traits."""

import builtins
import importlib
import sys
import types
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

from model_accuracy_eval.sandbox.inside.messages import Json
from model_accuracy_eval.sandbox.inside.mirror_methods import ClassTraits, OtherSide
from model_accuracy_eval.sandbox.inside.mirrors import MirrorClass, mirror_class
from model_accuracy_eval.sandbox.inside.shared_values import SharedValues
from model_accuracy_eval.sandbox.inside.special_methods import changed_methods, special_methods
from model_accuracy_eval.sandbox.inside.value_forms import FORMS

_STEERING = frozenset({"unittest", "doctest", "pytest", "_pytest"})
"""Packages whose exceptions say how tests end."""

_Encode = Callable[[Any], Json]
_Decode = Callable[[Json], Any]


class ClassCodec:
    """Implements `codec.ObjectCodec`."""

    def __init__(self, side: OtherSide, shared: SharedValues) -> None:
        self._side, self._shared = side, shared

    def encode_class(self, kind: type, encode: _Encode, *, of_object: bool = False) -> Json:
        """The class of an object is told by its traits."""
        if (number := self._shared.number(kind)) is not None:
            return ["ref", number]
        if not of_object and (_is_common(kind) or (self._side.guarded and _has_name(kind))):
            return ["type", kind.__module__, kind.__qualname__]
        number = self._shared.add_own(kind, exposed=True)
        below = next((base for base in kind.__mro__ if base in FORMS), object)
        methods: list[Json] = [*special_methods(kind, below), *changed_methods(kind, below)]
        bases = [
            self.encode_class(base, encode, of_object=not _is_plain(base))
            for base in kind.__bases__
            if base is not object
        ]
        return ["class", number, str(kind.__name__), str(kind.__module__), _equality(kind), methods, *bases]

    def encode_named(self, value: object) -> Json:
        """Functions and modules of the tests' Python; a program's own word for one would not be taken."""
        if not self._side.guarded:
            return None
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)) and _has_name(value):
            return ["function", value.__module__, value.__qualname__]
        return ["module", value.__name__] if isinstance(value, types.ModuleType) else None

    def decode(self, tag: str, parts: list[Any], decode: _Decode) -> Any:
        return _READERS[tag](self, decode, *parts)

    def stand_in(self, kind: object, below: type | None) -> Any:
        """Checks that this is a class for objects of the other side, made of that plain type."""
        if not isinstance(kind, MirrorClass) or (below is not None and below not in kind.__mro__):
            raise ValueError(f"{kind!r} is no class of the other side")
        return kind

    def _type(self, _: _Decode, module: str, name: str) -> type:
        kind = _named(module, name) if not self._side.guarded or module in sys.modules else None
        if not isinstance(kind, type) or (self._side.guarded and not _is_common(kind)):
            raise ValueError(f"{module}.{name} is no common type")
        return kind

    def _class(self, decode: _Decode, number: int, *described: Any) -> type:
        name, module, equality, methods, *bases = described
        above = tuple(map(decode, bases))
        for base in above:
            if not (isinstance(base, MirrorClass) or _is_plain(base)):
                raise ValueError(f"a class below {base}")
        made = mirror_class(
            self._side, ClassTraits(str(name), str(module), list(map(str, methods)), str(equality)), above
        )
        self._shared.add_foreign(number, made)
        return made

    def _function(self, _: _Decode, module: str, name: str) -> Any:
        if self._side.guarded:
            raise ValueError("a function by its name")
        return _named(module, name)

    def _module(self, _: _Decode, name: str) -> Any:
        if self._side.guarded:
            raise ValueError("a module by its name")
        return importlib.import_module(name)


_READERS: dict[str, Callable[..., Any]] = {
    "type": ClassCodec._type,  # noqa: SLF001
    "class": ClassCodec._class,  # noqa: SLF001
    "function": ClassCodec._function,  # noqa: SLF001
    "module": ClassCodec._module,  # noqa: SLF001
}


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


def _is_common(kind: type) -> bool:
    """Types that a program may name to the tests: those that plain data is made of, and exceptions of Python's own.

    What makes classes is none of them: their objects would live in the tests' process, and compare as they like.
    """
    if kind.__module__ == "builtins":
        return getattr(builtins, kind.__name__, None) is kind and kind not in (type, super)
    if kind in FORMS:
        return True
    return issubclass(kind, BaseException) and kind.__module__.partition(".")[0] not in _STEERING and _has_name(kind)


def _is_plain(kind: type) -> bool:
    return kind in FORMS or (issubclass(kind, BaseException) and _is_common(kind))


def _equality(kind: type) -> str:
    method: Any = kind.__eq__
    if method is object.__eq__:
        return "identity"
    if method is types.SimpleNamespace.__eq__:
        return "namespace"
    if not (is_dataclass(kind) and _is_generated(method)):
        return "method"
    return "ordered data" if _is_generated(getattr(kind, "__lt__", None)) else "data"


def _is_generated(method: Any) -> bool:
    code = getattr(method, "__code__", None)
    return code is not None and code.co_filename == "<string>"
