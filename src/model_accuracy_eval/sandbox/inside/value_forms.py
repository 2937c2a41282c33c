"""How each type of plain data is taken apart, and put together on the other side: one row for each."""

import dataclasses
import re
import types
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from pathlib import PosixPath, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from model_accuracy_eval.sandbox.inside.library_forms import LibraryForm, Parts, library_form, library_form_of


class Form(NamedTuple):
    """Parts are values again, down to numbers and texts."""

    tag: str
    parts: Callable[[Any], Parts]
    """Uses the type's own methods: those of a subclass may return anything."""
    build: Callable[[Parts], Any]
    fill: Callable[[Any, Parts], None] | None = None
    """Where values can be changed: puts parts into an empty one, which `build` makes of parts as they were sent."""
    keeps_identity: bool = False
    derived: Callable[[type, Any], Any] | None = None
    """Makes an object of a class below the type, of a value of the type."""
    whole: Callable[[Parts], Any] | None = None
    """Makes a value at once that nothing refers to."""
    refill: Callable[[Any, Any], None] | None = None
    """Gives a value the content of another one, where `fill` cannot."""
    contents: Callable[[Any], Parts] | None = None
    """What a change is seen by; None for the parts."""


def _mutable(
    tag: str,
    parts: Callable[[Any], Parts],
    kind: Any,
    fill: Callable[[Any, Parts], None],
    whole: Callable[[Parts], Any] | None = None,
) -> Form:
    return Form(tag, parts, lambda _: kind(), fill, True, lambda below, _: kind.__new__(below), whole)


def _set_dict(value: Any, parts: Parts) -> None:
    kind = OrderedDict if isinstance(value, OrderedDict) else dict
    kind.clear(value)
    for key, item in zip(parts[::2], parts[1::2], strict=True):
        kind.__setitem__(value, key, item)


def _set_defaultdict(value: Any, parts: Parts) -> None:
    value.default_factory = parts[0]
    _set_dict(value, parts[1:])


def _set_set(value: Any, parts: Parts) -> None:
    set.clear(value)
    set.update(value, parts)


def _set_deque(value: Any, parts: Parts) -> None:
    deque.clear(value)
    deque.extend(value, parts[1:])


def _set_list(value: Any, parts: Parts) -> None:
    list.__setitem__(value, slice(None), parts)


def _set_bytearray(value: Any, parts: Parts) -> None:
    bytearray.__setitem__(value, slice(None), parts[0])


def _set_array(value: Any, parts: Parts) -> None:
    del value[:]
    value.frombytes(parts[1])


def _plain_deque(maxlen: object) -> int | None:
    return maxlen if type(maxlen) is int else None


def _items(kind: Any) -> Callable[[Any], Parts]:
    return lambda value: list(kind.__iter__(value))


def _dict_parts(value: Any) -> Parts:
    kind = OrderedDict if isinstance(value, OrderedDict) else dict
    return [part for pair in kind.items(value) for part in pair]


def _error_parts(error: BaseException) -> Parts:
    return [type(error), error.args, BaseException.__getattribute__(error, "__dict__"), error.__cause__]


def _build_error(parts: Parts) -> BaseException:
    kind, args, attributes, cause = parts
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise TypeError(f"{kind} is no exception")
    error = kind.__new__(kind, *args)
    python: Any = next(base for base in kind.__mro__ if base.__module__ == "builtins")
    python.__init__(error, *args)
    error.__dict__.update(attributes)
    BaseException.__setattr__(error, "__cause__", cause)
    return error


def _build_field(name: str, init: bool, shown: bool, compared: bool) -> Any:
    """Of a dataclass: what `fields`, `asdict` and `replace` look at."""
    made: Any = dataclasses.field(init=init, repr=shown, compare=compared)
    made.name = name
    made._field_type = dataclasses._FIELD  # type: ignore[attr-defined]  # noqa: SLF001 - set by the decorator alone
    return made


def _number_of(kind: Any) -> Callable[[type, Any], Any]:
    make: Callable[[type, Any], Any] = kind.__new__
    return make


def _frozen(tag: str, kind: Any) -> Form:
    return Form(tag, _items(kind), kind, keeps_identity=True, derived=_number_of(kind), whole=kind)


def _simple(tag: str, parts: Callable[[Any], Iterable[Any]], build: Callable[..., Any], kind: Any = None) -> Form:
    return Form(tag, lambda value: list(parts(value)), lambda parts: build(*parts), derived=kind and _number_of(kind))


FORMS: dict[type, Form] = {
    list: _mutable("list", _items(list), list, _set_list, lambda parts: parts),
    dict: _mutable("dict", _dict_parts, dict, _set_dict, lambda parts: dict(zip(parts[::2], parts[1::2], strict=True))),
    set: _mutable("set", _items(set), set, _set_set, set),
    OrderedDict: _mutable("OrderedDict", _dict_parts, OrderedDict, _set_dict),
    Counter: _mutable("Counter", _dict_parts, Counter, _set_dict),
    defaultdict: _mutable(
        "defaultdict", lambda it: [it.default_factory, *_dict_parts(it)], defaultdict, _set_defaultdict,
    ),
    deque: Form(
        "deque", lambda it: [it.maxlen, *deque.__iter__(it)], lambda parts: deque(maxlen=_plain_deque(parts[0])),
        _set_deque, True, lambda below, empty: _derived_deque(below, empty.maxlen),
    ),
    bytearray: _mutable("bytearray", lambda it: [bytes(memoryview(it))], bytearray, _set_bytearray),
    array: Form("array", lambda it: [it.typecode, it.tobytes()], lambda parts: array(parts[0]), _set_array, True),
    tuple: _frozen("tuple", tuple),
    frozenset: _frozen("frozenset", frozenset),
    BaseException: Form("exception", _error_parts, _build_error, keeps_identity=True),
    int: _simple("int", lambda it: [hex(int.__pos__(it))], lambda text: int(text, 16), int),
    float: _simple("float", lambda it: [float.__pos__(it)], float, float),
    str: _simple("str", lambda it: [str.__str__(it)], str, str),
    bytes: _simple("bytes", lambda it: [memoryview(it).hex()], bytes.fromhex, bytes),
    memoryview: _simple("memoryview", lambda it: [it.tobytes()], memoryview),
    complex: _simple("complex", lambda it: [complex.__pos__(it).real, complex.__pos__(it).imag], complex, complex),
    range: _simple("range", lambda it: [it.start, it.stop, it.step], range),
    slice: _simple("slice", lambda it: [it.start, it.stop, it.step], slice),
    type(...): _simple("ellipsis", lambda _: [], lambda: ...),
    type(NotImplemented): _simple("not implemented", lambda _: [], lambda: NotImplemented),
    Decimal: _simple("decimal", lambda it: [Decimal.__str__(it)], Decimal, Decimal),
    Fraction: _simple("fraction", lambda it: [it.numerator, it.denominator], Fraction, Fraction),
    datetime: _simple(
        "datetime", lambda it: [datetime.replace(it, tzinfo=None).isoformat(), it.tzinfo, it.fold],
        lambda text, zone, fold: datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold),
    ),
    date: _simple("date", lambda it: [date.isoformat(it)], date.fromisoformat),
    time: _simple(
        "time", lambda it: [time.replace(it, tzinfo=None).isoformat(), it.tzinfo, it.fold],
        lambda text, zone, fold: time.fromisoformat(text).replace(tzinfo=zone, fold=fold),
    ),
    timedelta: _simple("timedelta", lambda it: [it.days, it.seconds, it.microseconds], timedelta),
    timezone: _simple("timezone", lambda it: it.__getinitargs__(), timezone),
    ZoneInfo: _simple("zone", lambda it: [it.key], ZoneInfo),
    UUID: _simple("uuid", lambda it: [it.hex], UUID),
    PosixPath: _simple("path", lambda it: [str(it)], PosixPath),
    PurePosixPath: _simple("posix path", lambda it: [str(it)], PurePosixPath),
    PureWindowsPath: _simple("windows path", lambda it: [str(it)], PureWindowsPath),
    # Of what they show, and of nothing else: the dictionary behind a view of the tests is theirs.
    type({}.keys()): _simple("keys", lambda it: [dict.fromkeys(it)], dict.keys),
    type({}.values()): _simple("values", lambda it: [dict(enumerate(it))], dict.values),
    type({}.items()): _simple("items", lambda it: [dict(it)], dict.items),
    types.MappingProxyType: _simple("read-only", lambda it: [dict(it)], types.MappingProxyType),
    dataclasses.Field: _simple("field", lambda it: [it.name, it.init, it.repr, it.compare], _build_field),
    types.TracebackType: _simple("traceback", lambda _: [], lambda: None),
    re.Pattern: _simple("pattern", lambda it: [it.pattern, it.flags], re.compile),
}  # fmt: skip
"""The nearest type of this table is what an object is made of."""


def _derived_deque(below: type, maxlen: int | None) -> Any:
    value: Any = deque.__new__(below)
    deque.__init__(value, (), maxlen)
    return value


_BY_TAG = {form.tag: form for form in FORMS.values()}


def form_of(kind: type) -> Form | None:
    """The form of exactly that type."""
    return FORMS.get(kind) or _adapted(library_form(kind))


def form_of_tag(tag: object) -> Form | None:
    """The form with that tag, for which a library may be loaded."""
    if tag in _BY_TAG or not isinstance(tag, str) or "." not in tag:
        return _BY_TAG.get(tag)  # type: ignore[call-overload, no-any-return]
    return _adapted(library_form_of(tag))


@lru_cache
def _adapted(form: LibraryForm | None) -> Form | None:
    if form is None:
        return None
    keeps = form.refill is not None
    return Form(
        form.tag, form.parts, lambda parts: form.build(*parts), None, keeps, refill=form.refill, contents=_leaves
    )


def _leaves(value: Any) -> Parts:
    form = library_form(type(value))
    if form is None and type(value) not in (list, tuple):
        return [value]
    parts = form.parts(value) if form else [len(value), *value]
    return [leaf for part in parts for leaf in _leaves(part)]
