"""What mirrors do. Where tests ask a program's objects, what the program answers must not be the verdict:

- No object is compared by its own word with anything of the tests. Equal are the same object, and objects of one class
  with equal attributes. Objects of a class that the tests know by name order and compare each other as they like, and a
  pass says so; of any other class, an equality of its own that differs from that is an error, and so is an order.
- An operator may show an object a number or text of the tests, which may be what they expect. No plain data comes of
  that, and none of the object that came of it: `abs(f(2) - 4.0) < 1e-6` would let the program decide. Neither do the
  attributes of a difference: `(f(2) - date(2020, 1, 1)).days == 0`.
- Where a text or a set is expected, its questions (`startswith`, `issubset`) are asked of what was given instead only
  if the tests know its class by name.
"""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol

from model_accuracy_eval.sandbox.inside.special_methods import (
    AWAIT,
    BINARY,
    CHANGING,
    COMPARING,
    CONTAINS,
    DIFFERENCES,
    ORDERING,
    READING,
    SPECIAL,
)


class ProgramWouldDecide(Exception):
    """Something was asked of an object that would let the program decide about the verdict."""


class ClassTraits(NamedTuple):
    """What the other side says of a class."""

    name: str
    module: str
    methods: list[str]
    """Its special methods, and methods of plain types that it has changed."""
    equality: str
    """How its objects are equal: by `identity`, their attributes (`data`, `namespace`), or a `method` of its own."""


class OtherSide(Protocol):
    guarded: bool
    compared_objects: bool
    """Whether objects of the other side were found equal: what is expected may be one of them, and its own work."""

    def ask(self, action: str, *values: object, name: str = "", kwargs: Mapping[str, object] | None = None) -> Any:
        """What the other side makes of it; the first value is the object that is asked."""

    def is_mirror(self, value: object) -> bool:
        """Whether it is a class or an object of the other side."""

    def subclass(self, name: str, bases: tuple[type, ...], namespace: dict[str, object]) -> type: ...

    def has_been_shown(self, mirror: object) -> bool:
        """Whether values of the tests may be in it."""

    def mark_as_shown(self, mirror: object) -> None: ...

    def is_difference(self, mirror: object) -> bool:
        """Whether it says how something differs from a value of the tests."""

    def mark_as_difference(self, mirror: object) -> None: ...

    def is_named(self, kind: type) -> bool:
        """Whether tests know the class by its name, and so ask its objects what they are made to answer."""


def methods_of(side: OtherSide, traits: ClassTraits, *, is_plain: bool) -> dict[str, Any]:
    """`is_plain`: whether the objects are made of plain data."""
    methods: dict[str, Any] = {}
    for name in traits.methods:
        if name in SPECIAL and name != AWAIT:
            methods[name] = _forwarding(side, name)
        elif name in CHANGING:
            methods[name] = _looked_up(side, name)
    if side.guarded:
        _guard(side, methods, traits, is_plain=is_plain)
    return methods


def _looked_up(side: OtherSide, name: str) -> property:
    return property(lambda self: side.ask("get", self, name=name))


def _forwarding(side: OtherSide, name: str) -> Callable[..., Any]:
    def call(self: Any, *args: object, **kwargs: object) -> Any:
        return side.ask("call", self, *args, kwargs=kwargs)

    def special(self: Any, *args: object) -> Any:
        if side.guarded and name in READING and side.has_been_shown(self):
            raise ProgramWouldDecide(f"{name} of what was shown a value of the tests")
        return side.ask("special", self, *args, name=name)

    def operator(self: Any, *others: Any) -> Any:
        shown = not all(map(side.is_mirror, others))
        if shown and (plain := _plain_method(side, self, name)):
            return plain(self, *others)
        result = side.ask("special", self, *others, name=name)
        if result is NotImplemented or not (shown or any(map(side.has_been_shown, (self, *others)))):
            return result
        if not side.is_mirror(result):
            raise ProgramWouldDecide(f"plain data of {name} with a value of the tests")
        side.mark_as_shown(result)
        if shown and name in DIFFERENCES:
            side.mark_as_difference(result)
        return result

    if name == "__call__":
        return call
    return operator if side.guarded and name in BINARY else special


def _plain_method(side: OtherSide, value: object, name: str) -> Any:
    """The operator of the plain type that the value is made of."""
    plain = (kind for kind in type(value).__mro__ if not side.is_mirror(kind))
    return next((vars(kind)[name] for kind in plain if name in vars(kind)), None)


def _guard(side: OtherSide, namespace: dict[str, Any], traits: ClassTraits, *, is_plain: bool) -> None:
    """Plain data is compared as the plain type does it."""
    for name in (*COMPARING, CONTAINS):
        namespace.pop(name, None)
    if is_plain:
        return
    namespace.update({name: _order(side, name, traits) for name in ORDERING})
    if CONTAINS in traits.methods and "__iter__" not in traits.methods:
        namespace[CONTAINS] = _refusing("what is contained in")
    namespace["__eq__"] = _equality(side, traits.equality)
    if traits.equality == "identity":
        namespace["__hash__"] = object.__hash__
    else:
        namespace["__hash__"] = lambda self: hash((type(self), *side.ask("data", self)))


def _equality(side: OtherSide, equality: str) -> Callable[[Any, Any], Any]:
    def equal(self: Any, other: Any) -> Any:
        if type(other) is SimpleNamespace and equality == "namespace":
            return bool(side.ask("data", self) == vars(other))
        if self is other or (equality != "identity" and has_same_data(self, other)):
            side.compared_objects = True
            return True
        if equality != "method":
            return False
        return _of_each_other(side, "__eq__", self, other) if _are_named(side, self, other) else refuse(self)

    refuse = _refusing("the equality of")

    def has_same_data(self: Any, other: Any) -> bool:
        data = side.ask("data", self) if type(self) is type(other) else None
        return bool(data) and bool(data == side.ask("data", other))

    return equal


def _order(side: OtherSide, name: str, traits: ClassTraits) -> Callable[[Any, Any], Any]:
    refuse = _refusing("the order of")

    def ordered(self: Any, other: Any) -> Any:
        if not _are_named(side, self, other):
            return refuse(self)
        return _of_each_other(side, name, self, other) if name in traits.methods else NotImplemented

    return ordered


def _are_named(side: OtherSide, *values: object) -> bool:
    """Whether these are objects of the program whose class the tests have by its name."""
    return all(side.is_mirror(value) and side.is_named(type(value)) for value in values)


def _of_each_other(side: OtherSide, name: str, one: object, other: object) -> Any:
    """What two objects of the program say of each other: what is expected is its own work then."""
    side.compared_objects = True
    return side.ask("special", one, other, name=name)


def _refusing(what: str) -> Callable[..., Any]:
    def method(self: object, *_: object) -> Any:
        raise ProgramWouldDecide(f"{what} an object of the program's own type {type(self).__name__}")

    return method
