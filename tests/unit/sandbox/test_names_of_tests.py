"""Who supplies the names that tests use."""

import pytest

from model_accuracy_eval.records.code import Program
from model_accuracy_eval.sandbox.program_judging import borrowed_names, split_integrity


@pytest.mark.parametrize(
    ("tests", "borrowed", "integrity"),
    [
        ("assert f(2) == 4", (), "split"),
        ("assert math.isclose(f(2), 4) and sorted([f(1)])", (), "split"),
        ("def check(candidate):\n    import copy\n    it = [g for g in copy.copy([1])]\n    assert candidate(it)\ncheck(f)", (), "split"),
        ("assert f(twice(1)) == 4", ("twice",), "split+names"),
        ("def twice(x): return 2 * x\nassert f(twice(1)) == 4", (), "split"),
        ("class T:\n    def test(self):\n        assert f(Node(1)).left == self", ("Node",), "split+names"),
        ("def make():\n    global kept\n    kept = 1\nmake()\nassert f(kept) == 1", (), "split"),
        ("assert [helper(x) for x in f(1)]", ("helper",), "split+names"),
        ("assert f(\n", (), "split"),
    ],
)  # fmt: skip
def test_what_nobody_else_supplies_comes_from_the_program(
    tests: str, borrowed: tuple[str, ...], integrity: str
) -> None:
    """Builtins, modules of the standard library and what the tests define do not; anything else is told."""
    program = Program(code="", tests=tests, entry_points=("f",))
    assert borrowed_names(program) == borrowed
    assert split_integrity(program) == integrity


@pytest.mark.parametrize(
    ("tests", "integrity"), [("assert g(2) == 4", "split"), ("assert g(2) == h(4)", "split+names")]
)
def test_the_single_name_of_tests_without_an_entry_point_is_the_entry_point(tests: str, integrity: str) -> None:
    """With two of them it is not known which one is judged by the other."""
    assert split_integrity(Program(code="", tests=tests)) == integrity
