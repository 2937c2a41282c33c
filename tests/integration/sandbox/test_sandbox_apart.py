"""Values, objects and names that cross between a program and its tests: right programs pass, and no lie of theirs does."""

from collections.abc import Mapping

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
    """Apart from their tests where data alone crosses; the others in one process with them, and they say so."""
    done = judged({**HONEST_VALUES, **HONEST_OBJECTS}, run_all)
    assert {name: (one.verdict, one.detail) for name, one in done.items() if one.verdict != "passed"} == {}
    apart = {name for name, one in done.items() if one.integrity == "split"}
    assert len(apart) >= 12
    assert all("judged in one process" in one.detail for name, one in done.items() if name not in apart)


def test_no_lie_about_names_copies_or_objects_passes(kind: str, run_all: RunAll) -> None:
    """Each of them is wrong, and most pass where program and tests share a process."""
    done = judged(FORGING_VALUES, run_all)
    assert {name: one.detail for name, one in done.items() if one.passed is not False} == {}
