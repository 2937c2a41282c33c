"""Tests of which a part is made wrong: a right program fails exactly this part, and each check is wrong once."""

import math
import random
import unittest
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.sandbox.inside.tests_ends import CHECKED
from model_accuracy_eval.scoring.code.negate_tests import Control, negate_tests

literals = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="ascii"))
    | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(st.characters(codec="ascii")), inner, max_size=3)
    ),
    max_leaves=6,
)


def controls(tests: str, seed: int = 1) -> tuple[Control, Control]:
    found = negate_tests(tests, CHECKED, random.Random(seed))
    assert found
    return found


def outcomes(tests: str, **names: Any) -> list[tuple[list[bool], list[bool]]]:
    """For each of the two controls: what its checks report, and what a right program would."""
    both = []
    for control in controls(tests):
        found: list[bool] = []
        expected: list[bool] = []

        def checked(number: int, held: bool, *, found: list[bool] = found, expected: list[bool] = expected) -> None:
            found.append(held)
            expected.append(control.expected[number])  # noqa: B023 - called within the same turn

        exec(control.tests, {**names, CHECKED: checked})
        both.append((found, expected))
    return both


def is_right(tests: str, **names: Any) -> bool:
    """Whether every check came out in both controls as for a right program, and none of them is missing."""
    number = len(controls(tests)[0].expected)
    return all(found == expected and len(found) >= number for found, expected in outcomes(tests, **names))


@given(literals)
def test_a_right_program_fails_the_wrong_checks_alone(value: Any) -> None:
    """Whatever value is expected, and on whichever side it stands."""
    assert is_right(f"assert f() == {value!r}\nassert {value!r} == f()", f=lambda: value)


@pytest.mark.parametrize("seed", range(5))
def test_each_check_is_wrong_in_one_control_and_right_in_the_other(seed: int) -> None:
    """No program gets by with a lie that is not drawn."""
    first, second = controls("\n".join(f"assert f({n}) == {n}" for n in range(9)), seed)
    assert [not held for held in first.expected.values()] == list(second.expected.values())
    assert not set(first.expected) & set(second.expected)


class Liar:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__


def test_checks_go_on_after_a_failure() -> None:
    """Each is seen, nested ones too."""
    tests = "def check(f):\n    assert f(1) == 1\n    if True:\n        assert f(2) == 2\ncheck(f)"
    assert is_right(tests, f=lambda x: x)


UNITS = """
import unittest
class T(unittest.TestCase):
    def test_a(self):
        self.assertEqual(f(1), 1)
        self.assertTrue(f(2) == 2)
        self.assertAlmostEqual(f(0.5), 0.5, places=3)
    def test_b(self):
        self.assertListEqual(f([1]), [1])
        self.assertIn(1, f([1]))
"""


def test_a_comparison_that_only_works_for_equals_has_failed_too() -> None:
    """Lists that differ have no difference that could be rounded, so the check ends by another exception."""
    assert is_right("unittest.TestCase().assertAlmostEqual(f(), [1, 2])", unittest=unittest, f=lambda: [1, 2])


def test_methods_of_unit_tests_are_negated() -> None:
    """By a wrong value where one is written out, else by the method that says the contrary."""
    case = f"{UNITS}\n        self.assertRaises(ValueError, int, 'x')\n"
    case += "unittest.defaultTestLoader.loadTestsFromTestCase(T).run(unittest.TestResult())"
    assert len(controls(case)[0].expected) == 5
    assert any("assertNotIn(1, f([1]))" in control.tests for control in controls(case))
    assert is_right(case, f=lambda x: x, __name__="tests")


@pytest.mark.parametrize("tests", ["f(1)", "x = 3", "assert f(", "with raises(ValueError): f(1)"])
def test_without_a_check_there_is_no_control(tests: str) -> None:
    """Nothing is made up: such tests are labelled instead."""
    assert negate_tests(tests, CHECKED) is None


@pytest.mark.parametrize("tests", ["assert f(1)", "assert f(1) == g(1)", "assert f(1) == 1e999"])
def test_a_check_without_a_written_value_is_reversed(tests: str) -> None:
    """A right program fails that one too."""
    assert is_right(tests, f=lambda _: 1e999, g=lambda _: 1e999)


def test_wrong_values_differ_each_time() -> None:
    """A program cannot know them by heart."""
    assert controls("assert f() == 1", 1) != controls("assert f() == 1", 2)


class Agreeing(Liar):
    """Equal to everything, by whatever name."""

    equals = all = lambda *_: True
    __ne__ = lambda *_: False  # noqa: E731


@pytest.mark.parametrize(
    "check",
    [
        "assert f() == g()", "assert f().equals(wanted)", "assert (f() == wanted).all()", "assert wanted == f()", "assert_frame_equal(f(), wanted)",
        "assert all(it == wanted for it in [f()])", "assert isinstance(f(), object) and f().equals(wanted)",
        "unittest.TestCase().assertEqual(f(), wanted)", "unittest.TestCase().assertTrue(f().equals(wanted))",
    ],
)  # fmt: skip
def test_an_object_that_agrees_with_everything_meets_a_wrong_expectation(check: str) -> None:
    """Whatever it is compared by; one that is equal to what is expected alone does not."""

    class Right:
        def __eq__(self, other: object) -> Any:
            return Found(other is wanted) if isinstance(other, Right) else NotImplemented

        def equals(self, other: object) -> Any:
            return Found(other is wanted)

        __hash__ = object.__hash__

    class Found:
        def __init__(self, truth: bool) -> None:
            self.all = lambda: truth
            self.truth = truth

        def __bool__(self) -> bool:
            return self.truth

    def assert_frame_equal(one: Any, other: Any) -> None:
        assert one.equals(other)

    wanted = Right()
    names = {"unittest": unittest, "wanted": wanted, "g": lambda: wanted, "assert_frame_equal": assert_frame_equal}
    assert is_right(check, **{**names, "f": lambda: wanted if "wanted == f" in check else Right()})
    assert not is_right(check, **{**names, "f": Agreeing})


class Near(Liar):
    """Differs from nothing and contains everything."""

    __sub__ = __rsub__ = lambda *_: 0.0
    __contains__ = lambda *_: True  # noqa: E731


@pytest.mark.parametrize(
    ("check", "right"),
    [
        ("assert abs(f() - 4.0) < 1e-6", 4.0), ("assert abs(4.0 - f()) <= 1e-6", 4.0), ("assert math.fabs(f() - 4) < 1", 4),
        ("assert 4 in f()", [3, 4]), ("assert 'a' in f()", "abc"), ("assert f() in [3, 4]", 4), ("assert f() in {3: 4}", 3),
    ],
)  # fmt: skip
def test_an_object_that_differs_from_nothing_meets_a_wrong_expectation(check: str, right: Any) -> None:
    """A number that is near, and what does contain it, do not."""
    assert is_right(check, f=lambda: right, math=math)
    assert not is_right(check, f=Near, math=math)
