"""A sandbox that finds out, with a task's own solution, in which mode the task's programs are to be judged.

The solution must pass and a wrong one must fail. The mode must never depend on the program that is judged.
"""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable
from functools import lru_cache
from weakref import WeakValueDictionary

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records.code import CaseProgram, Execution, Isolation, Mode, Program
from model_accuracy_eval.sandbox.pool import WorkerPool
from model_accuracy_eval.scoring.code.code_syntax import calls_by_data, is_plain

Run = Callable[..., Awaitable[Execution]]
"""As `WorkerPool.run`."""
BREAK_FUNCTIONS = """
def _broken(*values, **named): return ...
def _break(name, it, put):
    source = getattr(it, "fget", it)
    code = getattr(getattr(source, "__wrapped__", getattr(source, "__func__", source)), "__code__", None)
    if getattr(code, "co_filename", "") == _broken.__code__.co_filename and name not in ("_break", "__init__"):
        put(name, property(_broken) if isinstance(it, property) else _broken)
for _name, _it in [*globals().items()]:
    _break(_name, _it, globals().__setitem__)
    if isinstance(_it, type) and _it.__module__ == __name__:
        for _part in [*vars(_it).items()]: _break(*_part, lambda name, value: setattr(_it, name, value))
"""
"""Put after a solution: its functions, methods too, give what equals nothing and has no type that tests ask for."""
BREAK_ALL = """
def _broken(*values, **named): return ...
for _name in {{*{names!r}, *globals()}}:
    _it = globals().get(_name)
    _is_own = getattr(_it, "__module__", __name__) == __name__ and not isinstance(_it, type(__import__("sys")))
    if _is_own and isinstance(_it, type):
        globals()[_name] = type(_name, (), dict(__init__=lambda *values, **named: None))
    elif (_is_own and _name[:2] != "__") or _name in {names!r}:
        globals()[_name] = _broken
"""
"""The same with every class taking anything and holding nothing, and any other name being such a function."""


class ModeDetectingSandbox:
    """Implements `ports.Sandbox` over a pool; a task's mode is detected once, when its first program comes."""

    def __init__(self, pool: WorkerPool) -> None:
        self.isolation: Isolation = pool.isolation
        self.image = pool.image
        self.passed_over = pool.passed_over
        self._pool = pool
        self._modes: dict[str, Mode] = {}
        self._references: dict[str, Execution] = {}
        # Locks belong to the event loop that waited for them, so none outlives those who wait.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run(self, program: Program) -> Execution:
        """Tests that cannot tell the reference from a wrong solution say nothing about a program."""
        if not program.reference:
            return await self._pool.run(_without_solution(program))
        if program.language != "python" or isinstance(program, CaseProgram):
            return await self._run_checked(program)
        try:
            mode = await self._mode(program)
        except BadData as error:
            return self._pool.harness_error(program, f"{error.sentence} {error.detail}".rstrip())
        return await self._pool.run(msgspec.structs.replace(program, mode=mode))

    async def close(self) -> None:
        await self._pool.close()

    def end(self) -> None:
        """Blocks until every worker is gone."""
        self._pool.end()

    async def _run_checked(self, program: Program) -> Execution:
        """Where not even the reference passes, a failure says nothing; it runs when the first program fails."""
        execution = await self._pool.run(program)
        if execution.passed is not False:
            return execution
        solution = msgspec.structs.replace(program, code=program.reference)
        key = _key(solution)
        async with self._locks.setdefault(key, asyncio.Lock()):
            reference = self._references.get(key) or await self._pool.run(solution)
            if reference.passed is not None:
                self._references[key] = reference
        if reference.passed:
            return execution
        reason = f"The task's own solution does not pass here ({reference.verdict}: {reference.detail})"
        return self._pool.harness_error(program, reason)

    async def _mode(self, program: Program) -> Mode:
        solution = msgspec.structs.replace(program, code=program.reference, mode="split")
        key = _key(solution)
        async with self._locks.setdefault(key, asyncio.Lock()):
            if key not in self._modes:
                self._modes[key] = await detect_mode(self._pool.run, "this task", solution)
        return self._modes[key]


def _without_solution(program: Program) -> Program:
    """Nothing has shown that a right program passes apart from these tests: it is judged there if they are plain."""
    is_split = program.language == "python" and not isinstance(program, CaseProgram) and program.mode == "split"
    if not is_split or _may_be_apart(f"{program.helpers}\n{program.tests}"):
        return program
    return msgspec.structs.replace(program, mode="shared")


@lru_cache(maxsize=16)  # samples of a problem come together
def _may_be_apart(tests: str) -> bool:
    return is_plain(tests) and not calls_by_data(tests)


def _key(program: Program) -> str:
    return hashlib.sha256(msgspec.json.encode(program)).hexdigest()


async def detect_mode(run: Run, task: str, reference: Program) -> Mode:
    """The first mode in which the reference passes and a wrong solution does not."""
    modes: tuple[Mode, ...] = ("split", "shared")  # the one that cannot be cheated first
    objections = []
    if calls_by_data(reference.tests):
        modes, objections = ("shared",), ["split: the tests may call what a program names"]
    for mode in modes:
        objection = await _objection(run, task, msgspec.structs.replace(reference, mode=mode))
        if not objection:
            return mode
        objections.append(f"{mode}: {objection}")
    if missing := re.search(r"No module named '(\w+)", objections[-1]):
        raise BadData(
            f"The solution of {task} needs {missing[1]}, which is not in the sandbox: take --sandbox docker, and with "
            "--sandbox-image an image that has it."
        )
    raise BadData(
        f"The tests of {task} cannot judge programs: in neither mode do they tell its own solution from a wrong one.",
        detail="\n".join(objections),
    )


async def _objection(run: Run, task: str, right: Program) -> str:
    """Why programs cannot be judged in this mode; empty if they can."""
    passing = failing = await run(right)
    for breaking in (BREAK_FUNCTIONS, BREAK_ALL):
        if failing.passed:
            failing = await run(_broken(right, breaking, passing), once=True)
    for execution in (passing, failing):
        if execution.passed is None:  # the next mode can be cheated: no trouble of this machine may lead there
            raise BadData(f"It is not known in which mode {task} is judged.", detail=execution.detail)
    if re.match(r"\w+Error: [^\n]*\(program\.py, line", passing.detail):
        raise BadData(f"The solution of {task} is no Python that the sandbox can read ({passing.detail}).")
    if not passing.passed:
        return f"the solution did not pass ({passing.verdict}: {passing.detail})"
    if not passing.integrity.startswith(right.mode):
        return passing.detail
    return f"a wrong solution was not seen to fail ({failing.verdict})" if failing.passed else ""


def _broken(right: Program, breaking: str, passing: Execution) -> Program:
    """It may hang: what takes far longer than the solution is no pass either."""
    seconds = min(right.limits.wall_seconds, max(1.0, 4 * (passing.cpu_seconds or right.limits.wall_seconds)))
    limits = msgspec.structs.replace(right.limits, wall_seconds=seconds)
    return msgspec.structs.replace(
        right, code=f"{right.code}\n{breaking.format(names=right.entry_points)}", limits=limits
    )
