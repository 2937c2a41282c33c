"""How each type of data is taken apart, and put together on the other side: one row for each type of Python's own."""

import re
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import PosixPath, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

Parts = list[Any]


class NotData(BaseException):
    """A value that has no form outside the process it lives in. Tests that catch all errors do not catch this."""

    __repr__ = BaseException.__str__


class Form(NamedTuple):
    """Parts are values again, down to numbers and texts."""

    tag: str
    parts: Callable[[Any], Parts]
    build: Callable[[Parts], Any]
    fill: Callable[[Any, Parts], None] | None = None
    """Where values can be changed: puts parts into an empty one, which `build` makes of parts as they were sent."""
    keeps_identity: bool = False
    refill: Callable[[Any, Any], None] | None = None
    """Gives a value the content of another one, where `fill` cannot."""
    contents: Callable[[Any], Parts] | None = None
    """What a change is seen by; None for the parts."""


class FoundMatch:
    """A match of a pattern, for tests: that there is one is all that crosses."""

    __class__ = property(lambda _: re.Match)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotData("an object of type Match")

    def __getitem__(self, _: object) -> Any:
        raise NotData("an object of type Match")


def _mutable(kind: Any, parts: Callable[[Any], Parts], fill: Callable[[Any, Parts], None]) -> Form:
    return Form(kind.__name__, parts, lambda _: kind(), fill, keeps_identity=True)


def _set_dict(value: Any, parts: Parts) -> None:
    value.clear()
    for key, item in zip(parts[::2], parts[1::2], strict=True):
        value[key] = item


def _set_defaultdict(value: Any, parts: Parts) -> None:
    value.default_factory = parts[0]
    _set_dict(value, parts[1:])


def _set_set(value: Any, parts: Parts) -> None:
    value.clear()
    value.update(parts)


def _set_deque(value: Any, parts: Parts) -> None:
    value.clear()
    value.extend(parts[1:])


def _set_list(value: Any, parts: Parts) -> None:
    value[:] = parts


def _set_bytearray(value: Any, parts: Parts) -> None:
    value[:] = parts[0]


def _set_array(value: Any, parts: Parts) -> None:
    del value[:]
    value.frombytes(parts[1])


def _plain_deque(maxlen: object) -> int | None:
    return maxlen if type(maxlen) is int else None


def _dict_parts(value: Any) -> Parts:
    return [part for pair in value.items() for part in pair]


def _error_parts(error: BaseException) -> Parts:
    return [type(error), error.args, error.__dict__, error.__cause__]


def _build_error(parts: Parts) -> BaseException:
    kind, args, attributes, cause = parts
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise TypeError(f"{kind} is no exception")
    error = kind.__new__(kind, *args)
    python: Any = next(base for base in kind.__mro__ if base.__module__ == "builtins")
    python.__init__(error, *args)
    error.__dict__.update(attributes)
    error.__cause__ = cause
    return error


def _frozen(kind: Any) -> Form:
    return Form(kind.__name__, list, kind, keeps_identity=True)


def simple_form(tag: str, parts: Callable[[Any], Iterable[Any]], build: Callable[..., Any]) -> Form:
    return Form(tag, lambda value: list(parts(value)), lambda parts: build(*parts))


FORMS: dict[type, Form] = {
    list: _mutable(list, list, _set_list),
    dict: _mutable(dict, _dict_parts, _set_dict),
    set: _mutable(set, list, _set_set),
    OrderedDict: _mutable(OrderedDict, _dict_parts, _set_dict),
    Counter: _mutable(Counter, _dict_parts, _set_dict),
    defaultdict: _mutable(defaultdict, lambda it: [it.default_factory, *_dict_parts(it)], _set_defaultdict),
    deque: Form(
        "deque", lambda it: [it.maxlen, *it], lambda parts: deque(maxlen=_plain_deque(parts[0])), _set_deque, True
    ),
    bytearray: _mutable(bytearray, lambda it: [bytes(it)], _set_bytearray),
    array: Form("array", lambda it: [it.typecode, it.tobytes()], lambda parts: array(parts[0]), _set_array, True),
    tuple: _frozen(tuple),
    frozenset: _frozen(frozenset),
    BaseException: Form("exception", _error_parts, _build_error, keeps_identity=True),
    int: simple_form("int", lambda it: [hex(it)], lambda text: int(text, 16)),
    float: simple_form("float", lambda it: [it], float),
    str: simple_form("str", lambda it: [it], str),
    bytes: simple_form("bytes", lambda it: [it.hex()], bytes.fromhex),
    memoryview: simple_form("memoryview", lambda it: [it.tobytes()], memoryview),
    complex: simple_form("complex", lambda it: [it.real, it.imag], complex),
    range: simple_form("range", lambda it: [it.start, it.stop, it.step], range),
    slice: simple_form("slice", lambda it: [it.start, it.stop, it.step], slice),
    type(...): simple_form("ellipsis", lambda _: [], lambda: ...),
    Decimal: simple_form("decimal", lambda it: [str(it)], Decimal),
    Fraction: simple_form("fraction", lambda it: [it.numerator, it.denominator], Fraction),
    datetime: simple_form(
        "datetime", lambda it: [it.replace(tzinfo=None).isoformat(), it.tzinfo, it.fold],
        lambda text, zone, fold: datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold),
    ),
    date: simple_form("date", lambda it: [it.isoformat()], date.fromisoformat),
    time: simple_form(
        "time", lambda it: [it.replace(tzinfo=None).isoformat(), it.tzinfo, it.fold],
        lambda text, zone, fold: time.fromisoformat(text).replace(tzinfo=zone, fold=fold),
    ),
    timedelta: simple_form("timedelta", lambda it: [it.days, it.seconds, it.microseconds], timedelta),
    timezone: simple_form("timezone", lambda it: it.__getinitargs__(), timezone),
    ZoneInfo: simple_form("zone", lambda it: [it.key], ZoneInfo),
    UUID: simple_form("uuid", lambda it: [it.hex], UUID),
    PosixPath: simple_form("path", lambda it: [str(it)], PosixPath),
    PurePosixPath: simple_form("posix path", lambda it: [str(it)], PurePosixPath),
    PureWindowsPath: simple_form("windows path", lambda it: [str(it)], PureWindowsPath),
    # Of what they show, and of nothing else: the dictionary behind a view of the tests is theirs.
    type({}.keys()): simple_form("keys", lambda it: [dict.fromkeys(it)], dict.keys),
    type({}.values()): simple_form("values", lambda it: [dict(enumerate(it))], dict.values),
    type({}.items()): simple_form("items", lambda it: [dict(it)], dict.items),
    re.Pattern: simple_form("pattern", lambda it: [it.pattern, it.flags], re.compile),
    re.Match: simple_form("match", lambda _: [], FoundMatch),
}  # fmt: skip
"""An object of any other class, and of a class below one of these, is no data."""
