"""Tests made wrong on purpose: a right program fails each of their checks."""

import random
import unittest
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.sandbox.inside.shared_process import CHECKED
from model_accuracy_eval.sandbox.negate_tests import negate_tests

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


def outcomes(tests: str, **names: Any) -> list[bool]:
    """What the checks of falsified tests report."""
    control = negate_tests(tests, random.Random(1))
    assert control
    found: list[bool] = []
    with pytest.raises(AssertionError):
        exec(control.tests, {**names, CHECKED: lambda _, held: found.append(held)})
    assert control.checks >= 1
    return found


@given(literals)
def test_a_right_program_fails_every_falsified_check(value: Any) -> None:
    """Whatever value is expected, and on whichever side it stands."""
    assert outcomes(f"assert f() == {value!r}\nassert {value!r} == f()", f=lambda: value) == [False, False]


class Liar:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__


def test_a_liar_holds_them() -> None:
    """That is what gives it away."""
    assert outcomes("for n in range(3):\n    assert f(n) == [1, 2]", f=lambda _: Liar()) == [True] * 3


def test_checks_go_on_after_a_failure() -> None:
    """Each is seen, nested ones too."""
    tests = "def check(f):\n    assert f(1) == 1\n    if True:\n        assert f(2) == 2\ncheck(f)"
    assert outcomes(tests, f=lambda x: x) == [False, False]


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
    tests = "unittest.TestCase().assertAlmostEqual(f(), [1, 2])\nraise AssertionError"
    assert outcomes(tests, unittest=unittest, f=lambda: [1, 2]) == [False]


def test_unit_tests_fail_in_each_method() -> None:
    """Checks in the usual forms are falsified, others stay, and no method can end well."""
    control = negate_tests(UNITS)
    assert control
    assert control.checks == 4
    assert control.tests.count("raise AssertionError") == 2
    assert "self.assertIn(1, f([1]))" in control.tests


@pytest.mark.parametrize(
    "tests", ["assert f(1)", "assert f(1) == g(1)", "assert 1 == 1", "x = 3", "assert f(", "assert f() == 1e999"]
)
def test_without_a_written_expectation_there_is_no_control(tests: str) -> None:
    """Nothing is made up: such tests are labelled instead."""
    assert negate_tests(tests) is None


def test_wrong_values_differ_each_time() -> None:
    """A program cannot know them by heart."""
    assert negate_tests("assert f() == 1") != negate_tests("assert f() == 1")
