"""Values, objects and names that cross between a program and its tests: right programs pass, and no lie of theirs does."""

from collections.abc import Mapping

from tests.integration.sandbox.conftest import RunAll
from tests.integration.sandbox.programs.forging_values import FORGING_VALUES
from tests.integration.sandbox.programs.honest_objects import HONEST_OBJECTS
from tests.integration.sandbox.programs.honest_values import HONEST_VALUES
from tests.integration.sandbox.programs.sample import Sample

from model_accuracy_eval.records.code import Execution, Limits, Program

RIGHT = {**HONEST_VALUES, **HONEST_OBJECTS}


def judged(samples: Mapping[str, Sample], run_all: RunAll, mode: str = "split") -> dict[str, Execution]:
    programs = [
        Program(
            code=sample.code, tests=sample.tests, entry_points=("f", "bisect"), mode=mode, limits=Limits(wall_seconds=20.0)  # type: ignore[arg-type]
        )
        for sample in samples.values()
    ]  # fmt: skip
    return dict(zip(samples, run_all(programs), strict=True))


def test_right_programs_pass_apart_from_their_tests(kind: str, run_all: RunAll) -> None:
    """Without a solution that could show that their tests need them in the same process."""
    assert len(RIGHT) >= 100
    done = judged(RIGHT, run_all)
    assert {name: (one.verdict, one.detail) for name, one in done.items() if one.verdict != "passed"} == {}
    assert {one.integrity for one in done.values()} == {"split", "split+names"}


def test_no_lie_about_names_copies_or_objects_passes(kind: str, run_all: RunAll) -> None:
    """Each of them is wrong, and most pass where program and tests share a process."""
    done = judged(FORGING_VALUES, run_all)
    assert {name: one.detail for name, one in done.items() if one.passed is not False} == {}


def test_right_programs_pass_in_plain_python_too(strongest: RunAll) -> None:
    """In one process with their tests: what passes apart is what Python itself finds right."""
    done = judged(RIGHT, strongest, "shared")
    assert {name: (one.verdict, one.detail) for name, one in done.items() if one.verdict != "passed"} == {}
