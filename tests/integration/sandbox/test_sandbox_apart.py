"""Values, objects and names that cross between a program and its tests: right programs pass, and no lie of theirs does."""

from collections.abc import Mapping

import msgspec
import pytest
from tests.integration.sandbox.conftest import RunAll
from tests.integration.sandbox.programs.forging_values import FORGING_VALUES
from tests.integration.sandbox.programs.honest_objects import HONEST_OBJECTS
from tests.integration.sandbox.programs.honest_values import HONEST_VALUES
from tests.integration.sandbox.programs.sample import Sample

from model_accuracy_eval.records.code import Execution, Limits, Program


def judged(samples: Mapping[str, Sample], run_all: RunAll) -> dict[str, Execution]:
    programs = [
        Program(code=it.code, tests=it.tests, entry_points=("f", "bisect"), limits=Limits(wall_seconds=20.0))
        for it in samples.values()
    ]
    return dict(zip(samples, run_all(programs), strict=True))


def test_right_programs_pass(kind: str, run_all: RunAll) -> None:
    """Apart from their tests where data alone crosses; the others in one process with them, and the label says so."""
    done = judged({**HONEST_VALUES, **HONEST_OBJECTS}, run_all)
    assert {name: (one.verdict, one.detail) for name, one in done.items() if one.verdict != "passed"} == {}
    apart = {name for name, one in done.items() if one.integrity == "split"}
    assert len(apart) >= 12
    assert {one.integrity for name, one in done.items() if name not in apart} <= {
        "split+names",
        "shared",
        "shared+control",
    }


def test_no_lie_about_names_copies_or_objects_passes(kind: str, run_all: RunAll) -> None:
    """Each of them is wrong, and most pass where program and tests share a process."""
    done = judged(FORGING_VALUES, run_all)
    assert {name: one.detail for name, one in done.items() if one.passed is not False} == {}


LIST = Program(
    code="", tests="assert sum(f(3)) == 3\nassert list(f(2)) == [0, 1]", entry_points=("f",),
    reference="def f(n): return list(range(n))",
)  # fmt: skip
ANSWERS = {
    "a list": ("def f(n): return [*range(n)]", "split"),
    "a generator": ("def f(n): yield from range(n)", "shared+control"),
    "a list of its own": ("class L(list): pass\ndef f(n): return L(range(n))", "shared+control"),
    "a class": (
        "class f:\n    def __init__(s, n): s.n = n\n    def __iter__(s): return iter(range(s.n))",
        "shared+control",
    ),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_is_no_data_is_judged_beside_its_tests(answer: str, run_any: RunAll) -> None:
    """A right one passes, a wrong one fails, and both say where they were judged and why."""
    code, integrity = ANSWERS[answer]
    wrong = code.replace("range(", "range(1 + ")
    right, other = run_any([msgspec.structs.replace(LIST, code=it) for it in (code, wrong)])
    assert (right.verdict, right.integrity, other.verdict) == ("passed", integrity, "failed"), (right, other)
    assert [("because of" in one.detail) for one in (right, other)] == [integrity != "split"] * 2
