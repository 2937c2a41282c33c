"""Values as JSON, and back: plain data by its parts, any other object as a number that stands for it.

A value is rebuilt from its parts: whatever equality, order or truth an object claims for itself stays behind. Pickle is
not used: data must not be able to call. What somebody beside the message holds (a list that a test has in a variable,
one that the program keeps) has a number on both sides, so that `is` and changes in place are the same there.
"""

import math
from collections.abc import Callable, Iterable
from operator import ne
from sys import getrefcount
from typing import Any, Protocol

from model_accuracy_eval.sandbox.inside.messages import Json
from model_accuracy_eval.sandbox.inside.shared_values import SharedValues
from model_accuracy_eval.sandbox.inside.value_forms import FORMS, Form, form_of, form_of_tag

MAX_DEPTH = 200
_PLAIN_INT = 1 << 62
"""Larger numbers are written as hex: Python refuses to read too many decimal digits."""
_PLAIN = frozenset({bool, str, float, type(None)})
_NAN = math.nan
"""The one that the library names, and that both sides have."""
_SOMEBODY = -1


class NotPlain(Exception):
    """A value that has no form outside the process it lives in."""


class ObjectCodec(Protocol):
    """What the codec leaves to others: classes, and objects that stay where they are."""

    def encode_class(self, kind: type, encode: Callable[[Any], Json], *, of_object: bool = False) -> Json: ...

    def encode_named(self, value: object) -> Json:
        """An object that the other side has, too, under the same name; None if it has not."""

    def decode(self, tag: str, parts: list[Any], decode: Callable[[Json], Any]) -> Any: ...

    def stand_in(self, kind: object, below: type | None) -> Any:
        """The class of objects that stand for the other side's; ValueError for a class that is none, or not `below`."""


class Codec:
    def __init__(self, shared: SharedValues, objects: ObjectCodec) -> None:
        self._shared, self._objects, self._numbers = shared, objects, shared.numbers

    def encode(self, value: Any) -> Json:
        """A value that anybody beside the message may hold."""
        return self._encode(value, _SOMEBODY, 0)

    def encode_result(self, value: Any, *, held: bool) -> Json:
        """`held`: whether anybody beside the message holds the value."""
        return self._encode(value, _SOMEBODY if held else 0, 0)

    def encode_change(self, number: int) -> Json:
        """The content of a container that the other side knows."""
        value = self._shared.value(number)
        form = _nearest_form(type(value))
        if form.refill:
            self._note(number, form, value)
        return self._encode_content(form, number, value, 0)

    def decode(self, data: Json) -> Any:
        """Raises ValueError for JSON that `encode` never writes."""
        if not isinstance(data, list):
            return data
        try:
            tag, *parts = data
            form = form_of_tag(tag)
            if form is None:
                return self._decode_other(tag, parts)
            if not form.keeps_identity:
                return form.build(self._decode_all(parts))
            if parts[0] == 0 and form.whole:
                return form.whole(self._decode_all(parts[1:]))
            return self._build(form, parts[0], parts[1:], lambda value: value)
        except (TypeError, LookupError, AttributeError, ArithmeticError, ImportError) as error:
            raise ValueError(f"{str(data)[:80]} stands for no value: {error}") from error

    def decode_change(self, data: Json) -> None:
        """Gives a container that this side knows the content that the other side sends."""
        if not (isinstance(data, list) and len(data) > 1):
            raise ValueError(f"{str(data)[:80]} is no change")
        tag, number, *parts = data
        value = self._shared.value(number)
        form = _nearest_form(type(value))
        if form is None or form.tag != tag or not (form.fill or form.refill):
            raise ValueError(f"{str(data)[:80]} changes another type")
        if form.refill:
            form.refill(value, form.build(self._decode_all(parts)))
            self._note(number, form, value)  # type: ignore[arg-type]
        else:
            self._fill(form, number, value, parts)  # type: ignore[arg-type]

    def _encode(self, value: Any, holder: int, depth: int) -> Json:
        """`holder` is the number of what holds the value, or 0 if only the message does."""
        kind = type(value)
        if _is_flat(value) or (kind is int and -_PLAIN_INT < value < _PLAIN_INT):
            return value  # type: ignore[no-any-return]
        if (known := self._numbers.get(id(value))) is not None:
            return ["ref", known]
        if depth > MAX_DEPTH:
            raise NotPlain(f"a value that is nested more than {MAX_DEPTH} deep")
        if (
            kind is float
        ):  # no other number is the same one by being the same object: a list that holds it equals itself
            return ["the nan"] if value is _NAN else ["nan", self._shared.add_own(value)]
        form = FORMS.get(kind)
        if form is None:
            return self._encode_object(value, kind, depth)
        if not form.keeps_identity:
            return [form.tag, *self._encode_parts(form.parts(value), holder, depth)]
        return self._encode_content(form, self._shared.add_own(value) if holder else 0, value, depth)

    def _encode_object(self, value: Any, kind: type, depth: int) -> Json:
        if isinstance(value, type):
            return self._objects.encode_class(value, self.encode)
        if (named := self._objects.encode_named(value)) is not None:
            return named
        if (library := form_of(kind)) and (encoded := self._encode_library(library, value, depth)):
            return encoded
        form = _form_below(kind)
        if form is None:
            described = self._objects.encode_class(kind, self.encode, of_object=True)
            return ["object", self._shared.add_own(value, exposed=True), described]
        return self._encode_derived(form, value, kind, depth)

    def _encode_library(self, form: Form, value: Any, depth: int) -> Json:
        """An array or a table; None for arrays of other than plain data."""
        try:
            parts = form.parts(value)
        except ValueError:
            return None
        number: list[Json] = [self._shared.add_own(value)] if form.keeps_identity else []
        if number:
            self._note(number[0], form, value)  # type: ignore[arg-type]
        return [form.tag, *number, *(self._encode(part, 0, depth + 1) for part in parts)]

    def _encode_derived(self, form: Form, value: Any, kind: type, depth: int) -> Json:
        """An object of a class below that of plain data."""
        if not form.derived and not form.keeps_identity:
            return [form.tag, *self._encode_parts(form.parts(value), _SOMEBODY, depth)]
        # The class of an exception is one of its parts.
        above = ["derived", self._objects.encode_class(kind, self.encode, of_object=True)] if form.derived else []
        return [*above, *self._encode_content(form, self._shared.add_own(value, exposed=True), value, depth)]

    def _encode_content(self, form: Form, number: int, value: Any, depth: int) -> list[Json]:
        parts = form.parts(value)
        if number and form.fill:
            self._shared.note(number, form.parts, parts)
        return [form.tag, number, *self._encode_parts(parts, number, depth)]

    def _encode_parts(self, parts: list[Any], holder: int, depth: int) -> list[Json]:
        kinds = set(map(type, parts))
        if (kinds <= _PLAIN and not (float in kinds and any(map(ne, parts, parts)))) or (
            kinds == {int} and min(parts) > -_PLAIN_INT and max(parts) < _PLAIN_INT
        ):
            return parts
        encode, depth = self._encode, depth + 1
        if holder:
            return [encode(part, holder, depth) for part in parts]
        return [part if _is_flat(part) else encode(part, getrefcount(part) > _ALONE, depth) for part in parts]

    def _decode_other(self, tag: Any, parts: list[Any]) -> Any:
        if tag == "ref":
            return self._shared.value(*parts)
        if tag == "the nan":
            return _NAN
        if tag == "nan":
            (number,) = parts
            return self._added(number, float("nan"))
        if tag == "object":
            number, kind = parts
            stand_in = self._objects.stand_in(self.decode(kind), None)
            return self._added(number, stand_in.__new__(stand_in))
        if tag == "derived":
            described, form_tag, number, *content = parts
            return self._decode_derived(self.decode(described), _form_with(form_tag), number, content)
        return self._objects.decode(tag, parts, self.decode)

    def _decode_all(self, parts: Iterable[Json]) -> list[Any]:
        return [self.decode(part) if type(part) is list else part for part in parts]

    def _decode_derived(self, described: object, form: Form, number: object, parts: list[Json]) -> Any:
        kind = next(kind for kind, its in FORMS.items() if its is form)
        stand_in, derived = self._objects.stand_in(described, kind), form.derived
        if derived is None:
            raise ValueError(f"{form.tag} has no classes below it")
        return self._build(form, number, parts, lambda value: derived(stand_in, value))

    def _build(self, form: Form, number: Any, parts: list[Json], derive: Callable[[Any], Any]) -> Any:
        if form.fill is None:
            value = self._added(number, derive(form.build(self._decode_all(parts))))
            if form.refill:
                self._note(number, form, value)
            return value
        # Registered before its items are read: it may hold itself.
        value = self._added(number, derive(form.build(parts)))
        self._fill(form, number, value, parts)
        return value

    def _fill(self, form: Form, number: int, value: Any, parts: list[Json]) -> None:
        assert form.fill is not None
        form.fill(value, self._decode_all(parts))
        if number:
            self._note(number, form, value)

    def _note(self, number: int, form: Form, value: Any) -> None:
        contents = form.contents or form.parts
        self._shared.note(number, contents, contents(value))

    def _added(self, number: object, value: Any) -> Any:
        if number != 0:
            self._shared.add_foreign(number, value)
        return value


def _is_flat(value: Any) -> bool:
    return type(value) in _PLAIN and not (type(value) is float and math.isnan(value))


def _nearest_form(kind: type) -> Any:
    return form_of(kind) or _form_below(kind)


def _form_below(kind: type) -> Form | None:
    """The form of what the type is made of; nothing is made of a library's types."""
    return next((FORMS[base] for base in kind.__mro__ if base in FORMS), None)


def _form_with(tag: object) -> Form:
    form = form_of_tag(tag)
    if form is None:
        raise ValueError(f"{tag} is no form")
    return form


def _second(_: object, count: int) -> int:
    return count


_HOLDER = [object()]
(_ALONE,) = [_second(part, getrefcount(part)) for part in list(_HOLDER)]  # as `_encode_parts` has it
"""What Python counts for a part that nobody but its container holds."""
