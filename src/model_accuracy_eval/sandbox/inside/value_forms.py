"""How each type of data is taken apart, and put together on the other side: one row for each type of Python's own."""

import re
import sys
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
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
    """Gives a value the content of another one, where `fill` cannot. A change is seen by its leaves then."""


class FoundMatch:
    """A match of a pattern, for tests: that there is one is all that crosses."""

    __class__ = property(lambda _: re.Match)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotData("an object of type Match")

    def __getitem__(self, _: object) -> Any:
        raise NotData("an object of type Match")


def _mutable(kind: Any, parts: Callable[[Any], Parts], put: Callable[[Any, Parts], object]) -> Form:
    """`put` adds to a value that was emptied."""

    def fill(value: Any, new: Parts) -> None:
        value.clear()
        put(value, new)

    return Form(kind.__name__, parts, lambda _: kind(), fill, keeps_identity=True)


def _put_pairs(value: Any, parts: Parts) -> None:
    for key, item in zip(parts[::2], parts[1::2], strict=True):
        value[key] = item


def _put_defaultdict(value: Any, parts: Parts) -> None:
    value.default_factory = parts[0]
    _put_pairs(value, parts[1:])


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
    list: _mutable(list, list, list.extend),
    dict: _mutable(dict, _dict_parts, _put_pairs),
    set: _mutable(set, list, set.update),
    OrderedDict: _mutable(OrderedDict, _dict_parts, _put_pairs),
    Counter: _mutable(Counter, _dict_parts, _put_pairs),
    defaultdict: _mutable(defaultdict, lambda it: [it.default_factory, *_dict_parts(it)], _put_defaultdict),
    deque: _mutable(deque, lambda it: [it.maxlen, *it], lambda it, parts: it.extend(parts[1:]))._replace(
        build=lambda parts: deque(maxlen=_plain_deque(parts[0]))
    ),
    bytearray: _mutable(bytearray, lambda it: [bytes(it)], lambda it, parts: it.extend(parts[0])),
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


# Arrays, tables and their items as plain data, for programs that use numpy and pandas.
#
# Each type is written out: an array is its dtype, its shape and its bytes, a table its index, its columns and its
# names. A type that has no form here stays in its process.


_BY_TAG = {form.tag: form for form in FORMS.values()}


def form_of(kind: type) -> Form | None:
    """The form of exactly that type, and of exceptions. A library that is not loaded has made no value."""
    if found := FORMS.get(kind):
        return found
    if issubclass(kind, BaseException):
        return FORMS[BaseException]
    library = str(kind.__module__).partition(".")[0]
    return _library_forms(library).get(kind) if library in _MAKERS and library in sys.modules else None


def form_of_tag(tag: object) -> Form | None:
    """The form with that tag, for which a library may be loaded, which only the image provides."""
    if tag in _BY_TAG or not isinstance(tag, str) or "." not in tag:
        return _BY_TAG.get(tag)  # type: ignore[call-overload, no-any-return]
    forms = _library_forms(tag.partition(".")[0])
    return {form.tag: form for form in forms.values()}[tag]


@lru_cache
def _library_forms(library: str) -> dict[type, Form]:
    return _MAKERS[library](import_module(library))


def _changing(
    tag: str, parts: Callable[[Any], Parts], build: Callable[..., Any], refill: Callable[[Any, Any], None]
) -> Form:
    """Of a type whose values can be changed in place."""
    return simple_form(tag, parts, build)._replace(keeps_identity=True, refill=refill)


def leaves(value: Any) -> Parts:
    library = type(value) not in FORMS and form_of(type(value))
    if not library and type(value) not in (list, tuple):
        return [value]
    parts = library.parts(value) if library else [len(value), *value]
    return [leaf for part in parts for leaf in leaves(part)]


def _numpy_forms(np: Any) -> dict[type, Form]:
    """Arrays of numbers, texts and times by their bytes, arrays of objects by their items."""

    def plain_dtype(name: Any) -> Any:
        found = np.dtype(name)
        if found.kind not in "?biufcSUmM" or found.subdtype or found.fields:
            raise ValueError(f"{name} is not the dtype of plain data")
        return found

    def parts(value: Any) -> Parts:
        if value.dtype == object:
            return ["O", value.shape, value.ravel().tolist()]
        return [plain_dtype(value.dtype).str, value.shape, value.tobytes()]

    def build(name: str, shape: tuple[int, ...], content: Any) -> Any:
        if name != "O":
            return np.frombuffer(bytearray(content), plain_dtype(name)).reshape(shape)
        flat = np.empty(len(content), object)
        for place, item in enumerate(content):
            flat[place] = item
        return flat.reshape(shape)

    scalar = simple_form(
        "numpy.scalar", lambda it: parts(np.asarray(it))[::2], lambda name, content: build(name, (), content)[()]
    )
    dtype = simple_form("numpy.dtype", lambda it: [plain_dtype(it).str], plain_dtype)
    scalars = set(np.sctypeDict.values()) - {np.void, np.object_}
    return {
        np.ndarray: _changing("numpy.array", parts, build, np.copyto),
        **dict.fromkeys(scalars, scalar),
        **dict.fromkeys({type(np.dtype(kind)) for kind in scalars}, dtype),
    }


def _pandas_forms(pd: Any) -> dict[type, Form]:
    def column(array: Any) -> Any:
        """The values of a column as something that has a form, such as an array."""
        return array if type(array) in (pd.Categorical, pd.arrays.DatetimeArray) else array.to_numpy()

    def refill(value: Any, made: Any) -> None:
        value._update_inplace(made)  # noqa: SLF001 - what pandas itself does for inplace=True

    def frame(index: Any, columns: Any, content: list[Any]) -> Any:
        made = pd.DataFrame(dict(enumerate(content)), index=index)
        made.columns = columns
        return made

    return {
        pd.DataFrame: _changing(
            "pandas.DataFrame",
            lambda it: [it.index, it.columns, [column(it.iloc[:, place].array) for place in range(it.shape[1])]],
            frame,
            refill,
        ),
        pd.Series: _changing(
            "pandas.Series",
            lambda it: [column(it.array), it.index, it.name],
            lambda content, index, name: pd.Series(content, index=index, name=name),
            refill,
        ),
        pd.Index: simple_form(
            "pandas.Index",
            lambda it: [it.to_numpy(), it.name],
            lambda content, name: pd.Index(content, dtype=content.dtype, name=name),
        ),
        pd.RangeIndex: simple_form(
            "pandas.RangeIndex",
            lambda it: [it.start, it.stop, it.step, it.name],
            lambda start, stop, step, name: pd.RangeIndex(start, stop, step, name=name),
        ),
        pd.MultiIndex: simple_form(
            "pandas.MultiIndex",
            lambda it: [list(it.levels), [codes.astype("i8") for codes in it.codes], list(it.names)],
            lambda levels, codes, names: pd.MultiIndex(levels, codes, names=names),
        ),
        pd.Categorical: simple_form(
            "pandas.Categorical",
            lambda it: [it.codes.astype("i8"), it.categories, it.ordered],
            lambda codes, categories, ordered: pd.Categorical.from_codes(codes, categories, ordered=ordered),
        ),
        pd.CategoricalIndex: simple_form(
            "pandas.CategoricalIndex",
            lambda it: [it.values, it.name],
            lambda content, name: pd.CategoricalIndex(content, name=name),
        ),
        type(pd.NaT): simple_form("pandas.NaT", lambda _: [], lambda: pd.NaT),
        type(pd.NA): simple_form("pandas.NA", lambda _: [], lambda: pd.NA),
        **_time_forms(pd),
    }


def _time_forms(pd: Any) -> dict[type, Form]:
    """Points in time by their nanoseconds, with the name of their zone."""

    def zoned(made: Any, zone: str | None) -> Any:
        return made.tz_localize("UTC").tz_convert(zone) if zone else made

    def parts(value: Any) -> Parts:
        zone = value.tz and str(value.tz)
        return [(value.tz_convert("UTC").tz_localize(None) if zone else value).to_numpy(), zone, value.freqstr]

    def index(content: Any, zone: str | None, freq: str | None, name: Any = None) -> Any:
        made = zoned(pd.DatetimeIndex(content), zone)
        made.freq = freq
        return made.rename(name)

    return {
        pd.Timestamp: simple_form(
            "pandas.Timestamp",
            lambda it: [it.asm8, it.tz and str(it.tz)],
            lambda moment, zone: zoned(pd.Timestamp(moment), zone),
        ),
        pd.Timedelta: simple_form("pandas.Timedelta", lambda it: [it.asm8], pd.Timedelta),
        pd.arrays.DatetimeArray: simple_form("pandas.DatetimeArray", parts, lambda *it: index(*it).array),
        pd.DatetimeIndex: simple_form("pandas.DatetimeIndex", lambda it: [*parts(it), it.name], index),
        pd.TimedeltaIndex: simple_form(
            "pandas.TimedeltaIndex",
            lambda it: [it.to_numpy(), it.freqstr, it.name],
            lambda content, freq, name: pd.TimedeltaIndex(content, freq=freq, name=name),
        ),
    }


_MAKERS: dict[str, Callable[[Any], dict[type, Form]]] = {"numpy": _numpy_forms, "pandas": _pandas_forms}
