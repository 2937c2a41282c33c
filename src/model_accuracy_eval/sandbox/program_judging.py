"""Judges a program on a worker: apart from its tests, together with them, or by its exit code."""

import builtins
import random
import sys
from collections.abc import Sequence
from typing import NamedTuple, get_args

import msgspec

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.records.code import CaseProgram, ExecutionVerdict, Integrity, Program
from model_accuracy_eval.sandbox.inside.messages import EXECUTES, NOT_DATA, JobOrder, JobResult, Toolchain
from model_accuracy_eval.sandbox.inside.tests_ends import CHECKED, names_of_tests
from model_accuracy_eval.sandbox.program_environment import find_toolchain, toolchain_commands
from model_accuracy_eval.sandbox.worker import JobRunner
from model_accuracy_eval.scoring.code.code_syntax import free_names, imports_of, parse_source
from model_accuracy_eval.scoring.code.negate_tests import Control, negate_tests

# Which names tests take from the program: what they use and nobody else supplies.
#
# | A name that the tests use | is supplied by |
# |---|---|
# | an entry point of the task | the program |
# | what the tests define, helpers of the task's prompt included | the tests |
# | a builtin | Python, in the tests' process |
# | a module of the standard library | Python, in the tests' process, if the program binds that name, too |
# | anything else | the program, and the integrity of a pass says so |


_OF_PYTHON = frozenset(dir(builtins)) | sys.stdlib_module_names


def borrowed_names(program: Program) -> tuple[str, ...]:
    """Names beside the entry points; where none is declared and the tests use a single one, that is the entry point."""
    source = f"{program.helpers}\n{program.tests}" if program.helpers else program.tests
    return tuple(sorted(free_names(source) - _OF_PYTHON - {*program.entry_points}))


def split_integrity(program: Program) -> Integrity:
    """`split` only if the program supplies nothing but what the task asks it for."""
    borrowed = borrowed_names(program)
    return "split+names" if borrowed and (program.entry_points or len(borrowed) > 1) else "split"


VERDICTS: dict[str, ExecutionVerdict] = {verdict: verdict for verdict in get_args(ExecutionVerdict)}
_HOST_VERDICTS = {"tampered", "harness_error"}
"""Verdicts that no worker gives: they are found here."""
_TRIES = 2
"""Control runs of one kind: a program that draws lots itself may fail a check once."""


_EXECUTED = "The tests would have executed what the program gave them"


class JudgedProgram(NamedTuple):
    """The worker's result, and how sure a pass is."""

    result: JobResult
    integrity: Integrity


def judge(runner: JobRunner, program: Program) -> JudgedProgram:
    if isinstance(program, CaseProgram):
        return JudgedProgram(_run_cases(runner, program), "split")
    if program.language != "python":
        return JudgedProgram(_run_language(runner, program), "exit code")
    if program.mode == "shared":
        return _Judging(runner, program).doubted()
    result = _Judging(runner, program).plain()
    if result.verdict == NOT_DATA:
        return _judged_again(runner, program, result.detail)
    if result.verdict == EXECUTES:
        if not program.reference:
            return _judged_again(runner, program, f"what its tests execute ({result.detail})")
        result = result._replace(verdict="error", detail=f"{_EXECUTED}: {result.detail}.")
    return JudgedProgram(result, split_integrity(program))


def _judged_again(runner: JobRunner, program: Program, what: str) -> JudgedProgram:
    """Tests or program hand over something else than data, such as a generator for a list: that is no fault. Nor is it
    where the tests execute something, and no solution has shown that beforehand."""
    judged = _Judging(runner, msgspec.structs.replace(program, mode="shared")).doubted()
    why = f"(judged in one process with its tests, because of {what})"
    detail = f"{judged.result.detail} {why}".strip()
    return judged._replace(result=judged.result._replace(detail=detail))


def _run_cases(runner: JobRunner, program: CaseProgram) -> JobResult:
    """Where all cases are wanted, one that ends the program's processes costs a new start for those after it."""
    order = make_order(program.kind, program)._replace(all_cases=program.all_cases)
    if program.language != "python":
        order = order._replace(toolchain=_toolchain(runner, program), compile_seconds=program.limits.compile_seconds)
    results = [runner.run(order, program.tests, program)]
    while program.all_cases and _ended_early(results[-1]):
        order = order._replace(first_case=results[-1].cases[-1].number + 1)
        results.append(runner.run(order, program.tests, program))
    # The clock's verdict counts first: it may depend on the machine, and then the whole program runs again.
    told = next((result for result in results if result.verdict == "timeout"), None)
    told = told or next((result for result in results if result.verdict != "passed"), results[-1])
    if told.verdict == EXECUTES:
        told = told._replace(detail=f"{_EXECUTED}: {told.detail}.")
    return told._replace(
        verdict=told.verdict if told.verdict in VERDICTS and told.verdict != "tampered" else "error",
        cases=[case for result in results for case in result.cases],
        all_cases=max(result.all_cases for result in results),
    )


def _ended_early(result: JobResult) -> bool:
    """Whether the case in which the job ended may not be the last one; another start finds out."""
    ended = result.verdict in {"timeout", "crashed", "exited", "out_of_memory", "output_limit"}
    return ended and bool(result.cases) and result.cases[-1].number + 1 < result.all_cases


def _run_language(runner: JobRunner, program: Program) -> JobResult:
    toolchain = _toolchain(runner, program)
    order = make_order("exit_code", program)
    order = order._replace(toolchain=toolchain, compile_seconds=program.limits.compile_seconds)
    return _run_tests(runner, order, program.tests, program)


def _toolchain(runner: JobRunner, program: Program) -> Toolchain:
    toolchain = find_toolchain(program.language)
    missing = sorted(toolchain_commands(toolchain) - set(runner.tools))
    if missing:
        raise Refused(
            f"The sandbox has no {' and no '.join(missing)}, which {program.language.partition('_')[0]} programs "
            "need; type: docker build -t mae-humaneval-x docker/humaneval_x, and add --sandbox docker "
            "--sandbox-image mae-humaneval-x."
        )
    return toolchain


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


def _run_tests(runner: JobRunner, order: JobOrder, tests: str, program: Program) -> JobResult:
    result = runner.run(order, tests, program)
    known = {*VERDICTS, NOT_DATA, EXECUTES} if order.kind == "split" else VERDICTS
    if result.verdict not in known or result.verdict in _HOST_VERDICTS:
        return result._replace(verdict="error", detail="The report of the tests has a verdict that does not exist.")
    return result


_Seen = dict[int, set[bool]]
"""What was reported under each number."""


class _NoAnswer(Exception):
    """A further run ran out of time or was ended from outside, which then is the program's result."""

    def __init__(self, result: JobResult) -> None:
        super().__init__()
        self.result = result


class _Judging:
    """The runs of one program and of its task's solution in one mode.

    `doubted` is for a program that shares a process with its tests, where whatever is reported may be forged. A pass is
    believed if the program then meets none of the expectations that were made wrong, and all others. Where it differs,
    the task's own solution says what a right program does.
    """

    def __init__(self, runner: JobRunner, program: Program) -> None:
        self._runner, self._program = runner, program
        self._solution = msgspec.structs.replace(program, code=program.reference)
        self._order = make_order(program.mode, program)
        if program.mode == "split":
            names = list(borrowed_names(program))
            self._order = self._order._replace(borrowed=names, imports=imports_of(program.tests))
        self._ends = _numbered_ends(program.tests)
        self._controlled = False
        """Whether the program came to a check that can be made wrong."""

    def plain(self) -> JobResult:
        """The program's result, where a pass means that its tests ran to the ends that the solution reaches."""
        order = self._order._replace(ends=list(self._ends))
        result = _run_tests(self._runner, order, self._program.tests, self._program)
        if result.verdict != "passed":
            return result
        try:
            missing = self._missing(_seen_in(result))
        except _NoAnswer as none:
            return none.result
        if missing:
            result = result._replace(verdict="failed", detail=result.detail or f"{missing} did not run to its end.")
        return result

    def doubted(self) -> JudgedProgram:
        controls = negate_tests(self._program.tests, CHECKED) or ()
        result = self.plain()
        try:
            if result.verdict == "passed" and (objection := next(filter(None, map(self._objection, controls)), "")):
                detail = f"The tests passed, but in a control run {objection}."
                result = result._replace(verdict="tampered", detail=detail)
        except _NoAnswer as none:
            result = none.result
        believed = self._controlled if result.verdict == "passed" else bool(controls)
        return JudgedProgram(result, "shared+control" if believed else "shared")

    def _missing(self, seen: _Seen) -> str:
        """The first test whose end the program did not reach, though the solution does."""
        missing = [number for number in self._ends if number not in seen]
        if missing and self._program.reference:
            of_solution = self._further(self._program.tests, self._solution, list(self._ends))
            missing = [number for number in missing if number in of_solution]
        return self._ends[missing[0]] if missing else ""

    def _objection(self, control: Control) -> str:
        """What the program does otherwise than a right one."""
        objection = ""
        for _ in range(_TRIES):
            seen = self._further(control.tests, self._program)
            self._controlled |= bool(seen)
            right = {number: {held} for number, held in control.expected.items()}
            if self._program.reference and _difference(seen, right):
                # Checks may be in a branch that no right program takes, or be equal to wrong values, too.
                of_solution = self._further(control.tests, self._solution)
                right = {number: of_solution.get(number, set()) for number in right}
            elif seen and not self._program.reference:
                right = {number: held for number, held in right.items() if number in seen}
            if not (objection := _difference(seen, right)):
                return ""
        return objection

    def _further(self, tests: str, program: Program, ends: Sequence[int] = ()) -> _Seen:
        result = _run_tests(self._runner, self._order._replace(ends=list(ends)), tests, program)
        if result.verdict == "timeout" or result.doubtful:
            raise _NoAnswer(result)
        return _seen_in(result)


def _numbered_ends(tests: str) -> dict[int, str]:
    """A number for each test's end. Tests that cannot be read have none, and fail by themselves."""
    try:
        names = names_of_tests(tests, parse_source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    generator = random.SystemRandom()
    return {generator.getrandbits(52): name for name in names}


def _seen_in(result: JobResult) -> _Seen:
    seen: _Seen = {}
    for check in result.checks:
        seen.setdefault(check.number, set()).add(check.held)
    return seen


def _difference(seen: _Seen, right: _Seen) -> str:
    """How the outcomes differ from those of a right program; empty if they do not."""
    wrong = [number for number, held in right.items() if held == {False}]
    if met := sum(True in seen.get(number, ()) for number in wrong):
        return f"{met} of {len(wrong)} wrong expectations were met"
    if other := sum(seen.get(number, set()) != held for number, held in right.items()):
        return f"{other} of {len(right)} checks did not come out as those of a right program"
    return ""
