"""Runs of a program and of its task's solution and whether each test ran to its end in them."""

import random
from collections.abc import Sequence
from typing import get_args

import msgspec

from model_accuracy_eval.records.code import ExecutionVerdict, Program
from model_accuracy_eval.sandbox.inside.messages import JobOrder, JobResult
from model_accuracy_eval.sandbox.inside.test_ends import names_of_tests
from model_accuracy_eval.sandbox.names_of_tests import borrowed_names, imports_of
from model_accuracy_eval.sandbox.worker import JobRunner
from model_accuracy_eval.scoring.code.code_syntax import parse_source

VERDICTS: dict[str, ExecutionVerdict] = {verdict: verdict for verdict in get_args(ExecutionVerdict)}
_HOST_VERDICTS = {"tampered", "harness_error"}
"""Verdicts that no worker gives: they are found here."""


def make_order(kind: str, program: Program) -> JobOrder:
    limits = program.limits
    return JobOrder(
        kind=kind,
        entry_points=list(program.entry_points),
        toolchain=None,
        wall_seconds=limits.wall_seconds,
        compile_seconds=0.0,
        memory_mb=limits.memory_mb,
        processes=limits.processes,
        file_mb=limits.file_mb,
        output_bytes=limits.output_kb << 10,
        helpers=program.helpers,
    )


def run_tests(runner: JobRunner, order: JobOrder, tests: str, program: Program) -> JobResult:
    result = runner.run(order, tests, program)
    if result.verdict not in VERDICTS or result.verdict in _HOST_VERDICTS:
        return result._replace(verdict="error", detail="The report of the tests has a verdict that does not exist.")
    return result


Seen = dict[int, set[bool]]
"""What was reported under each number."""


class NoAnswer(Exception):
    """A further run ran out of time or was ended from outside, which then is the program's result."""

    def __init__(self, result: JobResult) -> None:
        super().__init__()
        self.result = result


class TestRuns:
    """The runs of one program and of its task's solution in one mode."""

    def __init__(self, runner: JobRunner, program: Program) -> None:
        self._runner, self._program = runner, program
        self._order = make_order(program.mode, program)
        if program.mode == "split":
            names = list(borrowed_names(program))
            self._order = self._order._replace(borrowed=names, imports=imports_of(program.tests))
        self._ends = _numbered_ends(program.tests)

    def first(self) -> JobResult:
        """The program's result, where a pass means that its tests ran to the ends that the solution reaches."""
        order = self._order._replace(ends=list(self._ends))
        result = run_tests(self._runner, order, self._program.tests, self._program)
        if result.verdict != "passed":
            return result
        try:
            missing = self._missing(seen_in(result))
        except NoAnswer as none:
            return none.result
        if missing:
            result = result._replace(verdict="failed", detail=result.detail or f"{missing} did not run to its end.")
        return result

    def _missing(self, seen: Seen) -> str:
        """The first test whose end the program did not reach, though the solution does."""
        missing = [number for number in self._ends if number not in seen]
        if missing and self._program.reference:
            of_solution = self.further(self._program.tests, self._solution, list(self._ends))
            missing = [number for number in missing if number in of_solution]
        return self._ends[missing[0]] if missing else ""

    def control(self, tests: str, *, solution: bool = False) -> Seen:
        return self.further(tests, self._solution if solution else self._program)

    def further(self, tests: str, program: Program, ends: Sequence[int] = ()) -> Seen:
        result = run_tests(self._runner, self._order._replace(ends=list(ends)), tests, program)
        if result.verdict == "timeout" or result.doubtful:
            raise NoAnswer(result)
        return seen_in(result)

    @property
    def _solution(self) -> Program:
        return msgspec.structs.replace(self._program, code=self._program.reference)


def _numbered_ends(tests: str) -> dict[int, str]:
    """A number for each test's end. Tests that cannot be read have none, and fail by themselves."""
    try:
        names = names_of_tests(tests, parse_source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    generator = random.SystemRandom()
    return {generator.getrandbits(52): name for name in names}


def seen_in(result: JobResult) -> Seen:
    seen: Seen = {}
    for check in result.checks:
        seen.setdefault(check.number, set()).add(check.held)
    return seen
