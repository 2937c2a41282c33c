"""Values that cross between a program and its tests: plain data by value, anything else as a handle.

What crosses is rebuilt from its data, so a subclass arrives as the type below it and its methods stay behind: an
object that equals everything is just a number on the other side. No pickle: data must not be able to call.
"""

import builtins
from collections import deque
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

DEEPEST = 200
_SAFE = 1 << 62
"""Larger numbers travel as hex: decimal digits of huge ones are refused by Python itself."""

_PLAIN = (bool, str, float, type(None))


class NotPlain(Exception):
    """A value that has no form outside the process it lives in."""


def encode(value: Any, keep: Callable[[Any], list[Any]], depth: int = 0) -> Any:
    """The value as JSON; `keep` makes the handle of what is not plain."""
    if depth > DEEPEST:
        raise NotPlain(f"a value that is nested more than {DEEPEST} deep")
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is int:
        return value if -_SAFE < value < _SAFE else ["int", hex(value)]
    for base in kind.__mro__:
        write = _WRITERS.get(base)
        if write is not None:
            return write(value, lambda inner: encode(inner, keep, depth + 1))
    if kind is type and getattr(builtins, name := str(value.__name__), None) is value:
        return ["type", name]
    if kind.__module__ == "numpy" and not getattr(value, "ndim", 1):
        return encode(value.item(), keep, depth + 1)
    return keep(value)


def decode(data: Any, handle: Callable[[int, str], Any]) -> Any:
    """The value of some JSON; `handle` makes what stands for a thing of the other side."""
    if not isinstance(data, list):
        return data
    tag, *rest = data
    if tag == "handle":
        return handle(int(rest[0]), str(rest[1]))
    return _READERS[tag](rest, lambda inner: decode(inner, handle))


Inner = Callable[[Any], Any]


def _many(tag: str, each: Callable[[Any], Iterable[Any]]) -> Callable[[Any, Inner], list[Any]]:
    return lambda value, inner: [tag, *map(inner, each(value))]


def _data(tag: str, parts: Callable[[Any], list[Any]]) -> Callable[[Any, Inner], list[Any]]:
    return lambda value, _: [tag, *parts(value)]


def _pairs(value: dict[Any, Any], inner: Inner) -> list[Any]:
    return ["dict", *([inner(key), inner(item)] for key, item in dict.items(value))]


def _days(value: timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


_WRITERS: dict[type, Callable[[Any, Inner], Any]] = {
    bool: lambda value, _: value,
    # The type's own methods: those of a subclass may say anything.
    int: lambda value, inner: inner(int.__pos__(value)),
    float: lambda value, _: float.__pos__(value),
    str: lambda value, _: str.__str__(value),
    list: _many("list", list.__iter__),
    tuple: _many("tuple", tuple.__iter__),
    set: _many("set", set.__iter__),
    frozenset: _many("frozenset", frozenset.__iter__),
    deque: _many("deque", deque.__iter__),
    dict: _pairs,
    bytes: _data("bytes", lambda value: [memoryview(value).hex()]),
    bytearray: _data("bytearray", lambda value: [memoryview(value).hex()]),
    complex: _data("complex", lambda value: [complex.__pos__(value).real, complex.__pos__(value).imag]),
    range: lambda value, inner: ["range", inner(value.start), inner(value.stop), inner(value.step)],
    Decimal: _data("decimal", lambda value: [Decimal.__str__(value)]),
    Fraction: lambda value, inner: ["fraction", inner(value.numerator), inner(value.denominator)],
    datetime: _data("datetime", lambda value: [datetime.isoformat(value)]),
    date: _data("date", lambda value: [date.isoformat(value)]),
    timedelta: _data("timedelta", _days),
}

_READERS: dict[str, Callable[[list[Any], Inner], Any]] = {
    "int": lambda parts, _: int(parts[0], 16),
    "list": lambda parts, inner: [inner(part) for part in parts],
    "tuple": lambda parts, inner: tuple(map(inner, parts)),
    "set": lambda parts, inner: set(map(inner, parts)),
    "frozenset": lambda parts, inner: frozenset(map(inner, parts)),
    "deque": lambda parts, inner: deque(map(inner, parts)),
    "dict": lambda parts, inner: {inner(key): inner(item) for key, item in parts},
    "bytes": lambda parts, _: bytes.fromhex(parts[0]),
    "bytearray": lambda parts, _: bytearray.fromhex(parts[0]),
    "complex": lambda parts, _: complex(*parts),
    "range": lambda parts, inner: range(*map(inner, parts)),
    "decimal": lambda parts, _: Decimal(parts[0]),
    "fraction": lambda parts, inner: Fraction(*map(inner, parts)),
    "datetime": lambda parts, _: datetime.fromisoformat(parts[0]),
    "date": lambda parts, _: date.fromisoformat(parts[0]),
    "timedelta": lambda parts, _: timedelta(*parts),
    "type": lambda parts, _: getattr(builtins, parts[0]),
}
