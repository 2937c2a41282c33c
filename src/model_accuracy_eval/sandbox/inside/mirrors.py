"""Classes on one side whose objects stand for objects on the other side: what is done to them is done over there."""

import sys
import types
from collections.abc import Generator
from typing import Any

from model_accuracy_eval.sandbox.inside.mirror_methods import ClassTraits, OtherSide, ProgramWouldDecide, methods_of
from model_accuracy_eval.sandbox.inside.special_methods import AWAIT, EQUALITIES, QUESTIONS, RELATIONS, STEPS
from model_accuracy_eval.sandbox.inside.value_forms import form_of

_READABLE = frozenset(
    {"__name__", "__qualname__", "__annotations__", "__wrapped__", "__defaults__", "__self__", "__members__"}
    | {"__match_args__", "__dataclass_fields__", "__slots__"}
)
"""Names with double underscores that may be asked for; Python and libraries look for many others by themselves."""

_REAL_CLASSES: dict[str, type] = {
    "function": types.FunctionType,
    "builtin_function_or_method": types.BuiltinFunctionType,
    "method": types.MethodType,
    "generator": types.GeneratorType,
    "async_generator": types.AsyncGeneratorType,
    "coroutine": types.CoroutineType,
}
"""What `isinstance` is to find."""


class MirrorClass(type):
    """A class of the other side."""

    __other_side__: OtherSide
    """Not a name that programs use: it is found before their own attributes."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, object]) -> Any:
        """A class statement below a class of the other side makes the class over there."""
        (side, *_) = (base.__other_side__ for base in bases if isinstance(base, MirrorClass))
        return side.subclass(name, bases, namespace)

    def __call__(cls, /, *args: object, **kwargs: object) -> Any:
        made = cls.__other_side__.ask("call", cls, *args, kwargs=kwargs)
        cls.__other_side__.mark_as_made_by_tests(made)
        return made

    def __getattr__(cls, name: str) -> Any:
        if cls.__other_side__.guarded and _decides(cls.__other_side__, cls, cls, name):
            raise ProgramWouldDecide(f"{name} of the program's own class {cls.__name__}")
        return cls.__other_side__.ask("get", cls, name=_readable(name))

    def __setattr__(cls, name: str, value: object) -> None:
        cls.__other_side__.ask("set", cls, value, name=name)

    def __dir__(cls) -> Any:
        side = cls.__other_side__
        return side.ask("special", cls, name="__dir__") if side.guarded else super().__dir__()

    def __iter__(cls) -> Any:
        return iter(cls.__other_side__.ask("special", cls, name="__iter__"))

    def __len__(cls) -> int:
        return int(cls.__other_side__.ask("special", cls, name="__len__"))

    def __getitem__(cls, key: object) -> Any:
        return cls.__other_side__.ask("special", cls, key, name="__getitem__")


class Mirror:
    """Below all classes of the other side."""

    def __getattr__(self, name: str) -> Any:
        side = _side(self)
        if side.guarded and _decides(side, self, type(self), name):
            raise ProgramWouldDecide(f"{name} of an object of the program's own type {type(self).__name__}")
        found = side.ask("get", self, name=_readable(name))
        if name in STEPS:
            side.mark_as_step(found)
        if name in RELATIONS and is_mirror(found) and not side.is_named(type(self)):
            side.mark_as_relation(found, RELATIONS[name])
        return found

    def __setattr__(self, name: str, value: object) -> None:
        _side(self).ask("set", self, value, name=name)

    def __delattr__(self, name: str) -> None:
        _side(self).ask("delete", self, name=name)

    def __dir__(self) -> Any:
        side = _side(self)
        return side.ask("special", self, name="__dir__") if side.guarded else super().__dir__()

    def __copy__(self) -> Any:
        return _side(self).ask("copy", self)

    def __deepcopy__(self, _: object) -> Any:
        return _side(self).ask("deepcopy", self)

    def __reduce_ex__(self, _: object) -> Any:
        raise TypeError(f"an object of the other side's type {type(self).__name__} cannot be pickled")


class MirrorCoroutine(Mirror):
    """Runs over there, beside all others that were started."""

    def __await__(self) -> Generator[None, None, Any]:
        _side(self).ask("start", self)
        yield  # so that others that are awaited together are started, too
        return _side(self).ask("finish", self)

    def send(self, value: Any) -> Any:
        return self._steps().send(value)

    def throw(self, *error: Any) -> Any:
        return self._steps().throw(*error)

    def close(self) -> None:
        _side(self).ask("get", self, name="close")()

    def _steps(self) -> Generator[None, None, Any]:
        steps: Generator[None, None, Any] = self.__dict__.setdefault("__steps__", self.__await__())
        return steps


def is_mirror(value: object) -> bool:
    return isinstance(value, MirrorClass) or isinstance(type(value), MirrorClass)


def mirror_class(side: OtherSide, traits: ClassTraits, bases: tuple[type, ...]) -> MirrorClass:
    """A class for objects of the other side."""
    namespace: dict[str, Any] = {"__module__": traits.module, "__qualname__": traits.name}
    above = {kind for base in bases for kind in base.__mro__ if not isinstance(kind, MirrorClass)}
    namespace |= methods_of(side, traits, is_plain=not above <= {Mirror, MirrorCoroutine, object})
    namespace["__doc__"] = _Asked("__doc__")
    if side.guarded:
        namespace["__annotations__"] = _Asked("__annotations__")
    elif traits.module == "builtins" and traits.name == "function":
        namespace["__get__"] = _bind  # a program may make a method of it, or tests may
    if not above - {Mirror, object} and AWAIT not in traits.methods:
        namespace["__dict__"] = property(lambda self: side.ask("get", self, name="__dict__"))
    if traits.module == "builtins" and traits.name in _REAL_CLASSES:
        namespace["__class__"] = property(lambda _: _REAL_CLASSES[traits.name])
    elif side.guarded and (known := _known_class(traits)) is not None:
        namespace["__class__"] = property(lambda _: known)
    below = () if any(isinstance(base, MirrorClass) for base in bases) else (_lowest(traits),)
    try:
        made = type.__new__(MirrorClass, traits.name, below + bases, namespace)
    except TypeError:  # bases in an order that only classes over there have
        made = type.__new__(MirrorClass, traits.name, (_lowest(traits),), namespace)
    type.__setattr__(made, "__other_side__", side)
    return made


def _bind(function: Any, value: object, _: type | None = None) -> Any:
    return function if value is None else types.MethodType(function, value)


class _Asked:
    """An attribute that every class and object has by itself, and that is asked of the other side."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, value: Any, kind: Any) -> Any:
        return kind.__other_side__.ask("get", kind if value is None else value, name=self._name)


def _known_class(traits: ClassTraits) -> type | None:
    """The class of that name, if the tests have loaded it: `isinstance` is to find it, as for a mock with a `spec`.

    Plain data comes as such, so no object may claim to be some; exceptions are matched by their real class.
    """
    known = getattr(sys.modules.get(traits.module), traits.name, None)
    if not isinstance(known, type) or isinstance(known, MirrorClass) or traits.module in ("builtins", "tests"):
        return None
    plain = any(form_of(base) for base in known.__mro__)
    return None if plain or issubclass(known, BaseException) else known


def _lowest(traits: ClassTraits) -> type[Mirror]:
    return MirrorCoroutine if AWAIT in traits.methods else Mirror


def _decides(side: OtherSide, mirror: object, kind: type, name: str) -> bool:
    """Whether that name of the object may be the tests' verdict."""
    if name in EQUALITIES:
        return True
    if name in QUESTIONS and side.is_named(kind):
        # Where the program has made it, it may stand where a text was expected.
        side.compared_objects |= not side.is_made_by_tests(mirror)
        return False
    return (name in QUESTIONS or side.is_difference(mirror)) and not side.is_named(kind)


def _side(mirror: object) -> OtherSide:
    side: OtherSide = type(mirror).__other_side__  # type: ignore[attr-defined]
    return side


def _readable(name: str) -> str:
    if name.startswith("__") and name not in _READABLE:
        raise AttributeError(name)
    return name
