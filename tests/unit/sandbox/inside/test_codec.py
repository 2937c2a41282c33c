"""Values that cross: the same on the other side, and nothing but data."""

import datetime
import json
import math
import pathlib
import re
import uuid
import zoneinfo
from array import array
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from enum import IntEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.sandbox.inside.messages import Json, ValueMessage
from model_accuracy_eval.sandbox.inside.program_connection import ProgramConnection
from model_accuracy_eval.sandbox.inside.program_process import ProgramSide
from model_accuracy_eval.sandbox.inside.value_forms import NotData


def across(value: Any) -> Any:
    """What the tests get for a value of the program."""
    message = ProgramSide(-1).codec.write(ValueMessage("value"), [value])
    return read(json.loads(json.dumps(message.args)))


def read(args: list[Json]) -> Any:
    (value,), _ = ProgramConnection(-1, -1, 0).codec.read(ValueMessage("value", args))
    return value


keys = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary(), st.fractions(),
    st.decimals(allow_nan=False), st.dates(), st.datetimes(), st.timedeltas(), st.complex_numbers(allow_nan=False),
    st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 3)),
)  # fmt: skip
hashable = st.recursive(keys, lambda inner: st.lists(inner).map(tuple) | st.frozensets(inner), max_leaves=4)
values = st.recursive(
    hashable | st.sets(hashable) | st.binary().map(bytearray),
    lambda inner: st.lists(inner) | st.dictionaries(hashable, inner) | st.lists(inner).map(deque),
    max_leaves=6,
)


@given(values)
def test_plain_values_come_out_as_they_went_in(value: Any) -> None:
    """Equal, and of the same type."""
    assert across(value) == value
    assert type(across(value)) is type(value)


class Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __index__(self) -> int:
        return 99

    __hash__ = int.__hash__


class Texts(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __str__(self) -> str:
        return "lie"

    __hash__ = str.__hash__


class Items(list[int]):
    def __iter__(self) -> Any:
        return iter([99])


Level = IntEnum("Level", "LOW HIGH")
Point = namedtuple("Point", "x y")


@pytest.mark.parametrize("value", [Liar(5), Texts("true"), Items([1]), Level.HIGH, Point(1, 2)])
def test_objects_of_classes_below_those_of_data_are_none(value: Any) -> None:
    """What they say of themselves is not known where they would be compared."""
    for one in (value, [1, {"a": value}], {value: 1} if not isinstance(value, list) else (value,)):
        with pytest.raises(NotData, match=f"an object of type {type(value).__name__}"):
            across(one)


class Failure(ValueError):
    pass


@pytest.mark.parametrize("value", [object(), len, iter([]), json, Liar, Failure("x"), (it for it in [1]), lambda: 1])
def test_what_is_no_data_is_refused(value: Any) -> None:
    """Functions, modules, generators, classes and objects of a program."""
    with pytest.raises(NotData):
        across([1, {"a": value}])


def test_of_a_match_only_its_truth_crosses() -> None:
    """What else tests ask of it is judged where it is."""
    found = across(re.match("a", "ab"))
    assert found
    assert isinstance(found, re.Match)
    with pytest.raises(NotData, match="Match"):
        found.group(0)
    with pytest.raises(NotData, match="Match"):
        found[0]


COLLECTIONS = [
    OrderedDict([("b", 1), ("a", 2)]), Counter("aab"), defaultdict(list, {1: [2]}), deque([1, 2, 3], maxlen=4),
    array("i", [1, 2]), frozenset({1}), bytearray(b"a"), range(3), slice(1, 2), 1j, float("inf"), ...,
    datetime.time(1, 2, fold=1), datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc), uuid.UUID(int=5),
    datetime.datetime(2020, 6, 1, tzinfo=zoneinfo.ZoneInfo("UTC")), pathlib.Path("a/b"), pathlib.PureWindowsPath("a"),
    re.compile("a+", re.IGNORECASE),
]  # fmt: skip


@pytest.mark.parametrize("value", COLLECTIONS, ids=repr)
def test_types_of_the_standard_library_stay_what_they_are(value: Any) -> None:
    """With the order, the length and whatever else belongs to them."""
    got = across(value)
    assert (type(got), got, repr(got)) == (type(value), value, repr(value))


def aliases(value: Any, seen: list[Any]) -> Any:
    """The value's shape: which containers in it are the same object as an earlier one."""
    if not isinstance(value, (list, dict, set, deque, tuple, bytearray)) or value == ():
        return type(value)
    known = [place for place, other in enumerate(seen) if other is value]
    seen.append(value)
    if known:
        return known[0]
    items = [part for pair in value.items() for part in pair] if isinstance(value, dict) else value
    return type(value), [aliases(item, seen) for item in (items if not isinstance(value, (set, bytearray)) else ())]


@given(st.lists(values, min_size=1, max_size=3), st.data())
def test_what_is_the_same_object_stays_the_same_object(parts: list[Any], data: Any) -> None:
    """Wherever it appears again, at any depth."""
    some = st.sampled_from(parts)
    tree = [data.draw(some), (data.draw(some), [data.draw(some)]), {"a": data.draw(some), "b": parts}]
    got = across(tree)
    assert got == tree
    assert aliases(got, []) == aliases(tree, [])


def test_a_list_may_hold_itself() -> None:
    """It does on the other side, too."""
    value: list[Any] = [1]
    value.append((value,))
    got = across(value)
    assert got[1][0] is got
    assert got[0] == 1


def test_values_nested_too_deep_are_refused() -> None:
    """Python's own comparison gives up on them, too."""
    value: list[Any] = []
    for _ in range(300):
        value = [value]
    with pytest.raises(NotData, match="more than 200 deep"):
        across(value)


class LyingArray(np.ndarray):
    def __eq__(self, other: object) -> Any:
        return np.True_

    __hash__ = None


@pytest.mark.parametrize(
    "value",
    [
        np.float64(1.5), np.int8(3), np.bool_(True), np.datetime64("2020-01-02"), np.str_("é"), np.dtype("f4"), np.array(5),
        np.arange(6).reshape(2, 3), np.array(["a", "bc"]), np.zeros((0, 3)), np.array([1, None, (2, "x")], object),
    ],
)  # fmt: skip
def test_arrays_and_their_items_arrive_with_their_types(value: Any) -> None:
    """As bytes, or item by item where they hold objects."""
    found = across(value)
    assert type(found) is type(value)
    assert (repr(found), getattr(found, "dtype", None)) == (repr(value), getattr(value, "dtype", None))


@pytest.mark.parametrize("value", [np.zeros(2).view(LyingArray), np.zeros(2, "i4,f4"), np.ma.masked_array([1], [True])])
def test_other_arrays_are_no_data(value: Any) -> None:
    """Only numbers, texts and times, and only of the library's own classes."""
    with pytest.raises(NotData):
        across(value)


@pytest.mark.parametrize(
    "data",
    [
        ["numpy.array", -1, "O", ["tuple", 0, 3], ["list", 0, 1]], ["os.system", "x"], ["numpy.scalar", "<f8"],
        ["numpy.array", -1, "|V8", ["tuple", 0, 1], ["bytes", "00"]], ["pandas.no_such", 1],
        ["numpy.array", -1, "<f8", ["tuple", 0, 2], ["bytes", "00"]],
    ],
)  # fmt: skip
def test_arrays_that_nobody_wrote_are_refused(data: Any) -> None:
    """A program may send what it likes."""
    with pytest.raises(ValueError, match=r"."):
        read([data])


def test_what_is_not_a_number_stays_the_same_object() -> None:
    """As nothing but that makes a list that holds it equal to itself; that of the library is the library's."""
    own = float("nan")
    one, again, other, known = across([own, own, float("nan"), math.nan])
    same = [it is again for it in (one, other)]
    assert (math.isnan(one), same, id(known)) == (True, [True, False], id(math.nan))
    assert across([1.5, own, "a", None])[::2] == [1.5, "a"]
