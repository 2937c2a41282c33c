"""The catalogue of programs in every kind of isolation: the right verdict, and nothing of one for the next."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

import pytest
from _pytest.mark import ParameterSet
from tests.integration.sandbox.conftest import RunAll, opened, runner
from tests.integration.sandbox.programs.catalogue import CATALOGUE, THEMES
from tests.integration.sandbox.programs.forging import FORGING
from tests.integration.sandbox.programs.forging_tests import FORGING_TESTS
from tests.integration.sandbox.programs.hostile_shell import HOSTILE_SHELL
from tests.integration.sandbox.programs.probe import PROBE
from tests.integration.sandbox.programs.sample import NO_PASS, PASSED, RIGHT, SHARE_THE_MACHINE, SQUARES, Sample

from model_accuracy_eval.ports import Sandbox
from model_accuracy_eval.records.code import CaseProgram, Execution, Limits, Program
from model_accuracy_eval.system.clock import run

PLAIN = Program(code=RIGHT, tests=SQUARES, entry_points=("f",))
NEXT = Program(code=PROBE, tests="assert f(2) == 4", entry_points=("f",))
EVERY = 8
"""Of each theme's programs, one of so many is run in `make test`, in the kind that needs no engine and no rights."""
JUDGED = {"honest", "wrong", "forging", "forging_answers", "forging_objects", "forging_tests"}
"""Themes that the same code judges in every kind: all of their programs are run in that one, and one of so many in others."""


def cases() -> Iterator[ParameterSet]:
    for theme, samples in THEMES.items():
        for place, name in enumerate(samples):
            for kind in ("docker", "bwrap", "uid", "none"):
                if theme in JUDGED and kind != "bwrap" and place % EVERY:
                    continue
                marks = [] if kind == "bwrap" and place % EVERY == 0 else [pytest.mark.slow]
                yield pytest.param(f"{theme}: {name}", kind, id=f"{theme}: {name}-{kind}", marks=marks)


def program(sample: Sample, mode: str = "split") -> Program:
    seconds = 0.6 if "timeout" in sample.wants and sample.wants != PASSED else 6.0
    limits = Limits(wall_seconds=seconds, output_kb=1024)
    return Program(code=sample.code, tests=sample.tests, entry_points=("f", "sum", "bisect"), mode=mode, limits=limits)  # type: ignore[arg-type]


def seen(probe: Execution) -> dict[str, list[object]]:
    """What the program after another one saw."""
    assert (probe.verdict, probe.attempts) == ("passed", 1), probe
    return {name: values for name, *values in map(json.loads, probe.output.splitlines())}


@lru_cache
def seen_on_a_fresh_worker(kind: str) -> dict[str, list[object]]:
    box = opened(kind, workers=1)
    try:
        return seen(runner(box)([NEXT])[0])
    finally:
        run(box.close())


@pytest.mark.parametrize(("name", "kind"), [*cases()])
def test_every_program_gets_its_verdict_and_harms_nobody(
    name: str, kind: str, boxes: Callable[[str], Sandbox], run_all: RunAll
) -> None:
    """The verdict is right, and a program that comes after it passes and sees what it would see on a fresh worker."""
    sample = CATALOGUE[name]
    isolation = boxes(kind).isolation
    if isolation in sample.not_in:
        pytest.skip(f"the isolation {isolation} does not bound this")
    done = run_all([program(sample)])[0]
    assert done.verdict in sample.wants, done
    assert "It ended its worker" not in done.detail
    if isolation in SHARE_THE_MACHINE:
        after = run_all([PLAIN])[0]
        assert (after.verdict, after.attempts) == ("passed", 1), after
    else:
        assert seen(run_all([NEXT])[0]) == seen_on_a_fresh_worker(kind)


@pytest.mark.parametrize("cheats", [FORGING, pytest.param(FORGING_TESTS, marks=pytest.mark.slow)])
def test_cheats_do_not_pass_beside_their_tests_either(cheats: Mapping[str, Sample], run_any: RunAll) -> None:
    """In one process with the tests, where forging is possible, the control run gives the usual cheats away."""
    done = dict(zip(cheats, run_any(program(it, "shared") for it in cheats.values()), strict=True))
    assert {name: one for name, one in done.items() if one.verdict not in cheats[name].wants} == {}
    assert run_any([PLAIN])[0].verdict == "passed"


def test_the_catalogue_is_as_large_as_it_is_said_to_be() -> None:
    """Of honest programs and of hostile ones; each has a verdict, and none is there twice."""
    assert len({sample.code + sample.tests for sample in CATALOGUE.values()}) == len(CATALOGUE)
    assert len(THEMES["honest"]) >= 80
    assert sum(len(samples) for theme, samples in THEMES.items() if theme not in ("honest", "wrong")) >= 120


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["docker", "bwrap"])
@pytest.mark.parametrize("code", HOSTILE_SHELL)
def test_programs_of_the_shell_harm_nobody_either(code: str, kind: str, run_all: RunAll) -> None:
    """Judged by the exit code, and by what it prints for an input that has two right outputs."""
    cases = json.dumps({"cases": [[{"input": "2", "output": "4"}, {"input": "2", "output": "5"}]], "checker": "tokens"})
    limits = Limits(wall_seconds=0.6, output_kb=1024)
    for judged in (
        Program(code=code, tests="exit 1", language="bash", limits=limits),
        CaseProgram(code=code, tests=cases, language="bash", kind="stdin", all_cases=True, limits=limits),
    ):
        done = run_all([judged])[0]
        assert done.verdict in NO_PASS, done
        assert seen(run_all([NEXT])[0]) == seen_on_a_fresh_worker(kind)
