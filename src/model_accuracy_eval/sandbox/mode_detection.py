"""A sandbox that finds out, with a task's own solution, in which mode the task's programs are to be judged.

The solution must pass and a wrong one must fail. The mode must never depend on the program that is judged.
"""

import ast
import asyncio
import hashlib
import platform
import re
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from weakref import WeakValueDictionary

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records.code import CaseProgram, Execution, Isolation, Mode, Program
from model_accuracy_eval.sandbox.pool import WorkerPool
from model_accuracy_eval.scoring.code.code_syntax import parse_expression, parse_source

Run = Callable[..., Awaitable[Execution]]
"""As `WorkerPool.run`."""
_NOT_AN_ANSWER = "..."
"""Equal to nothing that tests expect, and of no type that they ask for."""
_COMMANDED = frozenset({"dictConfig", "unsafe_load", "full_load", "UnsafeLoader", "FullLoader"})
"""What calls functions by names that stand in data. Python tells of texts that are executed, and not of this."""
_COMPUTING = frozenset({
    "abc", "array", "base64", "bisect", "calendar", "cmath", "collections", "concurrent", "contextlib", "copy", "csv",
    "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "io", "itertools",
    "json", "math", "numbers", "numpy", "operator", "pandas", "pprint", "random", "re", "statistics", "string",
    "struct", "sys", "textwrap", "threading", "time", "types", "typing", "unicodedata", "unittest", "uuid", "zoneinfo",
})  # fmt: skip
"""Modules whose functions change nothing that two processes do not share."""
_REACHING = frozenset({
    "globals", "locals", "vars", "setattr", "delattr", "mock", "__builtins__", "__import__",
    "argv", "modules", "setrecursionlimit", "assertWarns", "assertWarnsRegex", "assertLogs", "assertNoLogs",
})  # fmt: skip


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
    wrong = _wrong_solutions(task, reference)
    modes: tuple[Mode, ...] = ("split", "shared")  # the one that cannot be cheated first
    objections = []
    if calls_by_data(reference.tests):
        modes, objections = ("shared",), ["split: the tests may call what a program names"]
    for mode in modes:
        objection = await _objection(run, task, msgspec.structs.replace(reference, mode=mode), wrong)
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


def _wrong_solutions(task: str, reference: Program) -> list[str]:
    """The second one breaks more, such as classes of data, or a lambda."""
    try:
        return [break_functions(reference.code), break_all(reference.code, reference.entry_points)]
    except (SyntaxError, ValueError, RecursionError) as error:
        python = platform.python_version()
        raise BadData(f"The solution of {task} cannot be read by Python {python}: {error}.") from error


async def _objection(run: Run, task: str, right: Program, wrong: Sequence[str]) -> str:
    """Why programs cannot be judged in this mode; empty if they can."""
    passing = failing = await run(right)
    for code in wrong:
        if failing.passed:
            failing = await run(_broken(right, code, passing), once=True)
    for execution in (passing, failing):
        if execution.passed is None:  # the next mode can be cheated: no trouble of this machine may lead there
            raise BadData(f"It is not known in which mode {task} is judged.", detail=execution.detail)
    if not passing.passed:
        return f"the solution did not pass ({passing.verdict}: {passing.detail})"
    if not passing.integrity.startswith(right.mode):
        return passing.detail
    return f"a wrong solution was not seen to fail ({failing.verdict})" if failing.passed else ""


def _broken(right: Program, code: str, passing: Execution) -> Program:
    """It may hang: what takes far longer than the solution is no pass either."""
    seconds = min(right.limits.wall_seconds, max(1.0, 4 * (passing.cpu_seconds or right.limits.wall_seconds)))
    limits = msgspec.structs.replace(right.limits, wall_seconds=seconds)
    return msgspec.structs.replace(right, code=code, limits=limits)


def calls_by_data(tests: str) -> bool:
    """Whether the tests call what data names: then a process of their own is no protection."""
    return any(getattr(node, name, None) in _COMMANDED for node in _nodes(tests) for name in ("id", "attr", "name"))


def is_plain(tests: str) -> bool:
    """Whether the tests do no more than call, compute and compare. All others may need the program's own process: they
    patch, inspect, set variables, or expect warnings or log records."""
    return all(map(_is_plain, _nodes(tests)))


def _is_plain(node: ast.AST) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        return all(it.partition(".")[0] in _COMPUTING and "mock" not in it.split(".") for it in modules)
    if isinstance(node, ast.Attribute):
        is_own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
        return (is_own or isinstance(node.ctx, ast.Load)) and node.attr not in _REACHING
    if isinstance(node, (ast.Name, ast.alias)):
        return (node.id if isinstance(node, ast.Name) else node.name) not in _REACHING
    return not isinstance(node, (ast.AsyncFunctionDef, ast.Await))


def _nodes(source: str) -> list[ast.AST]:
    """None of what cannot be read, which does not run at all."""
    try:
        return list(ast.walk(parse_source(source)))
    except (SyntaxError, ValueError, RecursionError):
        return []


def break_functions(code: str) -> str:
    """The code with every function of its top level, methods too, returning what cannot be right."""
    tree = parse_source(code)
    scopes: list[ast.Module | ast.ClassDef] = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    for node in (node for scope in scopes for node in scope.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name != "__init__":
            node.body = [ast.Return(parse_expression(_NOT_AN_ANSWER).body)]
    return ast.unparse(ast.fix_missing_locations(tree))


def break_all(code: str, entry_points: Sequence[str]) -> str:
    """The same, with every class of its top level taking anything and holding nothing, and any other name of it, such
    as of a lambda or of what was imported, as a function of this kind."""
    tree = parse_source(break_functions(code))
    definitions = [it for it in tree.body if isinstance(it, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
    for node in definitions:
        if isinstance(node, ast.ClassDef):
            node.bases, node.keywords, node.decorator_list = [], [], []
            node.body = parse_source("def __init__(self, *values, **named): pass").body
    assigned = [
        it.id for node in tree.body if isinstance(node, ast.Assign) for it in node.targets if isinstance(it, ast.Name)
    ]
    others = dict.fromkeys([*assigned, *entry_points]).keys() - {node.name for node in definitions}
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    kept = ast.unparse(ast.fix_missing_locations(ast.Module([*imports, *definitions], [])))
    return "\n".join([kept, *(f"def {name}(*values, **named): return {_NOT_AN_ANSWER}" for name in sorted(others))])
