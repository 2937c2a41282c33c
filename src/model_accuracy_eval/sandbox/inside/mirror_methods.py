"""What mirrors do. Where tests ask a program's objects, what the program answers must not be the verdict:

- No object is compared by its own word with anything of the tests. Equal are the same object, and objects of one class
  with equal attributes. Objects of a class that the tests know by name order and compare each other as they like, and a
  pass says so; of any other class, an equality of its own that differs from that is an error, and so is an order.
- An operator may show an object a number or text of the tests, which may be what they expect. No plain data comes of
  that, and none of the object that came of it: `abs(f(2) - 4.0) < 1e-6` would let the program decide. Neither do the
  attributes of a difference: `(f(2) - date(2020, 1, 1)).days == 0`.
- Where a text or a set is expected, its questions (`startswith`, `issubset`) are asked of what was given instead only
  if the tests know its class by name, and so is how it relates to something (`difference({1, 2})`).
"""

from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt
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
    TELLING,
    UNARY,
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
    """How its objects are equal: by `identity`, their attributes (`data`, `namespace`; `ordered data` if these order
    them, too), or a `method` of its own."""


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

    def related_types(self, mirror: object) -> tuple[type, ...]:
        """Of a function where plain data has one that says how it relates to something: of which types that is."""

    def mark_as_relation(self, mirror: object, types: tuple[type, ...]) -> None: ...

    def mark_as_step(self, mirror: object) -> None:
        """It is a method by which a generator goes on, and may end."""

    def is_made_by_tests(self, mirror: object) -> bool:
        """Whether they have called a class of the program for it."""

    def mark_as_made_by_tests(self, mirror: object) -> None: ...

    def came_back(self, error: object) -> None:
        """A failed check of the tests that the program was shown is theirs again."""

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
        elif is_plain and not name.startswith("_"):
            methods[name] = _field(side, name)
    if side.guarded:
        _guard(side, methods, traits, is_plain=is_plain)
    return methods


def _looked_up(side: OtherSide, name: str) -> property:
    return property(lambda self: side.ask("get", self, name=name))


def _field(side: OtherSide, name: str) -> property:
    """Such as of a named tuple that calls one `count`. What asks the data something stays the plain type's."""

    def field(self: Any) -> Any:
        found = side.ask("get", self, name=name)
        return _plain_method(side, self, name).__get__(self, type(self)) if side.is_mirror(found) else found

    return property(field)


def _forwarding(side: OtherSide, name: str) -> Callable[..., Any]:
    if name == "__call__":
        return _calling(side)
    if side.guarded and name == "__aexit__":
        return _leaving(side)
    if side.guarded and name in BINARY | UNARY:
        return _operating(side, name)

    def special(self: Any, *args: object) -> Any:
        if side.guarded and name in READING and side.has_been_shown(self):
            raise ProgramWouldDecide(f"{name} of what was shown a value of the tests")
        if side.guarded and name in TELLING:
            _refuse_difference(side, self, name)
        return side.ask("special", self, *args, name=name)

    return special


def _calling(side: OtherSide) -> Callable[..., Any]:
    def call(self: Any, /, *args: object, **kwargs: object) -> Any:
        if side.guarded:
            _refuse_difference(side, self, "__call__")
        given = [*args, *kwargs.values()]
        if len(given) == 1 and not side.is_mirror(given[0]) and isinstance(given[0], side.related_types(self)):
            raise ProgramWouldDecide(f"how an object of the program's own relates to a {type(given[0]).__name__}")
        return side.ask("call", self, *args, kwargs=kwargs)

    return call


def _operating(side: OtherSide, name: str) -> Callable[..., Any]:
    """With one operand, an operator passes on what that has been shown."""

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
        if (shown and name in DIFFERENCES) or any(map(side.is_difference, (self, *others))):
            side.mark_as_difference(result)
        return result

    return operator


def _leaving(side: OtherSide) -> Callable[..., Any]:
    async def leave(self: Any, kind: object, error: object, trace: object) -> Any:
        try:
            result = await side.ask("special", self, kind, error, trace, name="__aexit__")
        except BaseException as raised:
            if raised is error:
                side.came_back(error)
            raise
        if not (side.is_mirror(result) or result):
            side.came_back(error)
        return result

    return leave


def _plain_method(side: OtherSide, value: object, name: str) -> Any:
    """The operator of the plain type that the value is made of."""
    plain = (kind for kind in type(value).__mro__ if not side.is_mirror(kind))
    return next((vars(kind)[name] for kind in plain if name in vars(kind)), None)


def _refuse_difference(side: OtherSide, mirror: object, name: str) -> None:
    if side.is_difference(mirror) and not side.is_named(type(mirror)):
        raise ProgramWouldDecide(f"{name} of a difference from a value of the tests")


def _guard(side: OtherSide, namespace: dict[str, Any], traits: ClassTraits, *, is_plain: bool) -> None:
    """Plain data is compared as the plain type does it."""
    for name in (*COMPARING, CONTAINS):
        namespace.pop(name, None)
    if is_plain:
        return
    namespace.update({name: _order(side, name, traits) for name in ORDERING})
    if CONTAINS in traits.methods:
        namespace[CONTAINS] = _containing(side, has_items="__iter__" in traits.methods)
    if "__bool__" not in traits.methods:
        namespace["__bool__"] = _truth(side, has_length="__len__" in traits.methods)
    namespace["__eq__"] = _equality(side, traits.equality)
    if traits.equality == "identity":
        namespace["__hash__"] = object.__hash__
    else:
        namespace["__hash__"] = lambda self: hash((type(self), *side.ask("data", self)))


def _containing(side: OtherSide, *, has_items: bool) -> Callable[[Any, object], bool]:
    refuse = _refusing("what is contained in")

    def contains(self: Any, item: object) -> bool:
        if side.is_named(type(self)):
            side.compared_objects |= not side.is_made_by_tests(self)
            return bool(side.ask("special", self, item, name=CONTAINS))
        return any(one is item or one == item for one in self) if has_items else refuse(self)

    return contains


def _truth(side: OtherSide, *, has_length: bool) -> Callable[[Any], bool]:
    """Of an object that does not say: any is true, and so would be what an operator made of a value of the tests."""

    def truth(self: Any) -> bool:
        if side.has_been_shown(self):
            raise ProgramWouldDecide("the truth of what was shown a value of the tests")
        return len(self) > 0 if has_length else True

    return truth


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


_OF_DATA: dict[str, Callable[[Any, Any], Any]] = {f"__{it.__name__}__": it for it in (lt, le, gt, ge)}


def _order(side: OtherSide, name: str, traits: ClassTraits) -> Callable[[Any, Any], Any]:
    refuse = _refusing("the order of")

    def ordered(self: Any, other: Any) -> Any:
        if traits.equality == "ordered data" and type(self) is type(other):
            side.compared_objects = True
            return _OF_DATA[name](side.ask("data", self), side.ask("data", other))
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
