"""Values as JSON, and back: data alone, of exactly the types in `value_forms`.

A value is rebuilt from its parts: whatever equality, order or truth an object claims for itself stays behind. Pickle is
not used: data must not be able to call. What somebody beside the message holds (a list that a test has in a variable,
one that the program keeps) has a number on both sides, so that `is` and changes in place are the same there.
"""

import builtins
import importlib
import math
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import ne
from sys import getrefcount
from typing import Any, NamedTuple

from model_accuracy_eval.sandbox.inside.messages import Json, ValueMessage
from model_accuracy_eval.sandbox.inside.value_forms import FORMS, Form, NotData, form_of, form_of_tag, leaves

# Types and functions as they cross: by the names under which both sides have them.


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


# The values that a program and its tests both know, by numbers, so that identity and changes in place cross, too.


PartsOf = Callable[[Any], list[Any]]


class _Seen(NamedTuple):
    """What a container held when the other side last heard of it."""

    contents: PartsOf
    parts: list[Any]

    def is_still_in(self, value: object) -> bool:
        now = self.contents(value)
        return len(now) == len(self.parts) and all(map(_same, now, self.parts))


_LEAVES = frozenset({bytes, str, int, float, bool})


def _same(one: object, other: object) -> bool:
    return one is other or (type(one) is type(other) and type(one) in _LEAVES and one == other)


class SharedValues:
    """One side counts its numbers up, and the other one down."""

    def __init__(self, step: int) -> None:
        self._step, self._last = step, 0
        self._values: dict[int, Any] = {}
        self.numbers: dict[int, int] = {}
        """By `id()`."""
        self._seen: dict[int, _Seen] = {}

    def add_own(self, value: object) -> int:
        """The new number of a value of this side."""
        self._last += self._step
        self._add(self._last, value)
        return self._last

    def add_foreign(self, number: object, value: object) -> None:
        """Takes over the number that the other side has given a value."""
        if type(number) is not int or number * self._step >= 0 or number in self._values:
            raise ValueError(f"{number!r} is no new number")
        self._add(number, value)

    def value(self, number: object) -> Any:
        if type(number) is not int or number not in self._values:
            raise ValueError(f"{number!r} stands for nothing")
        return self._values[number]

    def note(self, number: int, contents: PartsOf, parts: list[Any]) -> None:
        """Remembers content that both sides know."""
        self._seen[number] = _Seen(contents, parts)

    def changed(self) -> list[int]:
        """The containers whose content the other side does not know."""
        return [number for number, seen in self._seen.items() if not seen.is_still_in(self._values[number])]

    def drop_unused(self) -> list[int]:
        """Forgets what nobody but this holds, containers before their items, so that the other side may do so, too."""
        return [number for number in tuple(self._values) if self._is_dropped(number)]

    def forget(self, numbers: list[int]) -> None:
        for number in numbers:
            self._seen.pop(number, None)
            if number in self._values:
                del self.numbers[id(self._values[number])]
                del self._values[number]

    def _is_dropped(self, number: int) -> bool:
        """What is changed stays until the other side knows."""
        if getrefcount(self._values[number]) > _ALONE:
            return False
        seen = self._seen.get(number)
        unused = seen is None or seen.is_still_in(self._values[number])
        if unused:
            self.forget([number])
        return unused

    def _add(self, number: int, value: object) -> None:
        self._values[number], self.numbers[id(value)] = value, number


_PROBE = {0: object()}
_ALONE = getrefcount(_PROBE[0])
"""What Python counts for a value that only the table holds."""


MAX_DEPTH = 200
_PLAIN_INT = 1 << 62
"""Larger numbers are written as hex: Python refuses to read too many decimal digits."""
_PLAIN = frozenset({bool, str, float, type(None)})
_NAN = math.nan
"""The one that the library names, and that both sides have."""


class Codec:
    """One side of it; `shared` are the values that both sides know."""

    def __init__(self, shared: SharedValues, names: NamesForTests | NamesForProgram) -> None:
        self._shared, self._names, self._numbers = shared, names, shared.numbers

    def write(
        self, message: ValueMessage, values: Sequence[Any], kwargs: Mapping[str, Any] | None = None
    ) -> ValueMessage:
        """The message with these values, and with what has changed of those that the other side knows.

        Raises `NotData`; nothing can be sent after that.
        """
        changed = [self._encode_change(number) for number in self._shared.changed()]
        args = [self._encode(value, 0) for value in values]
        named: dict[str, Json] = {str(name): self._encode(value, 0) for name, value in (kwargs or {}).items()}
        return message._replace(changed=changed, args=args, kwargs=named)

    def read(self, message: ValueMessage) -> tuple[list[Any], dict[str, Any]]:
        """The values of a message, after the changes that it tells of; ValueError for what `write` never does."""
        self._shared.forget(message.forgotten)
        for change in message.changed:
            self._decode_change(change)
        return self._decode_all(message.args), {name: self.decode(data) for name, data in message.kwargs.items()}

    def _encode_change(self, number: int) -> Json:
        value = self._shared.value(number)
        form = form_of(type(value))
        assert form is not None
        return self._encode_content(form, number, value, 0)

    def decode(self, data: Json) -> Any:
        if not isinstance(data, list):
            return data
        try:
            tag, *parts = data
            form = form_of_tag(tag)
            if form is None:
                return self._decode_other(tag, parts)
            if not form.keeps_identity:
                return form.build(self._decode_all(parts))
            return self._build(form, parts[0], parts[1:])
        except (TypeError, LookupError, AttributeError, ArithmeticError, ImportError) as error:
            raise ValueError(f"{str(data)[:80]} stands for no value: {error}") from error

    def _decode_change(self, data: Json) -> None:
        """Gives a container that this side knows the content that the other side sends."""
        if not (isinstance(data, list) and len(data) > 1):
            raise ValueError(f"{str(data)[:80]} is no change")
        tag, number, *parts = data
        value = self._shared.value(number)
        form = form_of(type(value))
        if form is None or form.tag != tag or not (form.fill or form.refill):
            raise ValueError(f"{str(data)[:80]} changes another type")
        self._fill(form, number, value, parts)  # type: ignore[arg-type]

    def _encode(self, value: Any, depth: int) -> Json:
        kind = type(value)
        if _is_flat(value) or (kind is int and -_PLAIN_INT < value < _PLAIN_INT):
            return value  # type: ignore[no-any-return]
        if (known := self._numbers.get(id(value))) is not None:
            return ["ref", known]
        if depth > MAX_DEPTH:
            raise NotData(f"a value that is nested more than {MAX_DEPTH} deep")
        if kind is float:  # by being the same object, it makes a list that holds it equal to itself
            return ["the nan"] if value is _NAN else ["nan", self._shared.add_own(value)]
        form = form_of(kind)
        if form is None:
            return self._encode_named(value, kind)
        return self._encode_content(form, self._shared.add_own(value) if form.keeps_identity else 0, value, depth)

    def _encode_named(self, value: Any, kind: type) -> Json:
        if (named := self._names.encode(value)) is not None:
            return named
        what = f"the class {value.__name__}" if isinstance(value, type) else f"an object of type {kind.__name__}"
        raise NotData(what)

    def _encode_content(self, form: Form, number: int, value: Any, depth: int) -> list[Json]:
        """`number`: 0 where it has none."""
        try:
            parts = form.parts(value)
        except ValueError as error:  # an array of other than data
            raise NotData(f"an object of type {type(value).__name__} with other things than data") from error
        if form.refill:
            self._note(number, form, value)
        elif form.fill:
            self._shared.note(number, form.parts, parts)
        return [form.tag, *([number] if number else []), *self._encode_parts(parts, depth)]

    def _encode_parts(self, parts: list[Any], depth: int) -> list[Json]:
        kinds = set(map(type, parts))
        if (kinds <= _PLAIN and not (float in kinds and any(map(ne, parts, parts)))) or (
            kinds == {int} and min(parts) > -_PLAIN_INT and max(parts) < _PLAIN_INT
        ):
            return parts
        return [self._encode(part, depth + 1) for part in parts]

    def _decode_other(self, tag: Any, parts: list[Any]) -> Any:
        if tag == "ref":
            return self._shared.value(*parts)
        if tag == "the nan":
            return _NAN
        if tag == "nan":
            (number,) = parts
            return self._added(number, float("nan"))
        return self._names.decode(tag, parts)

    def _decode_all(self, parts: Iterable[Json]) -> list[Any]:
        return [self.decode(part) if type(part) is list else part for part in parts]

    def _build(self, form: Form, number: Any, parts: list[Json]) -> Any:
        if form.fill is None:
            value = self._added(number, form.build(self._decode_all(parts)))
            if form.refill:
                self._note(number, form, value)
            return value
        # Registered before its items are read: it may hold itself.
        value = self._added(number, form.build(parts))
        self._fill(form, number, value, parts)
        return value

    def _fill(self, form: Form, number: int, value: Any, parts: list[Json]) -> None:
        decoded = self._decode_all(parts)
        if form.refill:
            form.refill(value, form.build(decoded))
        elif form.fill:
            form.fill(value, decoded)
        if number:
            self._note(number, form, value)

    def _note(self, number: int, form: Form, value: Any) -> None:
        contents = leaves if form.refill else form.parts
        self._shared.note(number, contents, contents(value))

    def _added(self, number: object, value: Any) -> Any:
        if number != 0:
            self._shared.add_foreign(number, value)
        return value


def _is_flat(value: Any) -> bool:
    return type(value) in _PLAIN and not (type(value) is float and math.isnan(value))
