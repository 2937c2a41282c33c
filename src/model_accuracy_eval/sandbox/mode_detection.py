"""A sandbox that finds out, with a task's own solution, in which mode the task's programs are to be judged.

The solution must pass and a wrong one must fail. The mode must never depend on the program that is judged.
"""

import ast
import asyncio
import hashlib
from collections.abc import Sequence
from weakref import WeakValueDictionary

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.ports import Sandbox
from model_accuracy_eval.records.code import CaseProgram, Execution, Isolation, Mode, Program
from model_accuracy_eval.sandbox.pool import WorkerPool
from model_accuracy_eval.scoring.code.code_syntax import parse_expression, parse_source

_MODES: tuple[Mode, ...] = ("split", "shared")
"""The one that cannot be cheated first."""

_NOT_AN_ANSWER = "..."
"""Equal to nothing that tests expect, and of no type that they ask for."""
_EXECUTING_MODULES = frozenset(
    {"pickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal", "importlib", "runpy", "imp", "code"}
    | {"jinja2", "mako"}
)
"""They load objects or modules from files, or run texts: code of whoever wrote these."""
_EXECUTING_FUNCTIONS = frozenset({"eval", "exec", "compile", "__import__"})
_EXECUTING_METHODS = frozenset(
    {"read_pickle", "load_model", "load_module", "exec_module", "unsafe_load", "full_load"}
    | {"UnsafeLoader", "dictConfig", "fileConfig", "sympify", "parse_expr"}
    | {"run_docstring_examples", "DocTestFinder", "DocTestRunner", "DocTestSuite"}
)
_EXECUTING_KEYWORDS = frozenset({"allow_pickle"})


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
            return await self._pool.run(program)
        if program.language != "python" or isinstance(program, CaseProgram):
            return await self._run_checked(program)
        try:
            mode = await self._mode(program)
        except BadData as error:
            return self._pool.harness_error(program, f"{error.sentence} {error.detail}")
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
                self._modes[key] = await detect_mode(self._pool, "this task", solution)
        return self._modes[key]


def _key(program: Program) -> str:
    return hashlib.sha256(msgspec.json.encode(program)).hexdigest()


async def detect_mode(sandbox: Sandbox, task: str, reference: Program) -> Mode:
    """The first mode in which the reference passes and a wrong solution does not."""
    objections = []
    modes = _MODES
    if may_execute(reference.tests):
        modes, objections = ("shared",), ["split: the tests may execute what a program gives them"]
    for mode in modes:
        right = msgspec.structs.replace(reference, mode=mode)
        wrong = msgspec.structs.replace(right, code=break_functions(reference.code))
        passing, failing = await asyncio.gather(sandbox.run(right), sandbox.run(wrong))
        if passing.passed and failing.passed:  # such as of a class of data, or a lambda
            failing = await sandbox.run(
                msgspec.structs.replace(right, code=break_all(reference.code, reference.entry_points))
            )
        for execution in (passing, failing):
            if execution.passed is None:  # the next mode can be cheated: no trouble of this machine may lead there
                raise BadData(f"It is not known in which mode {task} is judged.", detail=execution.detail)
        if passing.passed and not passing.integrity.startswith(mode):
            objections.append(f"{mode}: {passing.detail}")
        elif passing.passed and not failing.passed:
            return mode
        elif passing.passed:
            objections.append(f"{mode}: a wrong solution was not seen to fail ({failing.verdict})")
        else:
            objections.append(f"{mode}: the solution did not pass ({passing.verdict}: {passing.detail})")
    raise BadData(
        f"The tests of {task} cannot judge programs: in neither mode do they tell its own solution from a wrong one.",
        detail="\n".join(objections),
    )


def may_execute(tests: str) -> bool:
    """Whether the tests may execute what a program gives them: then a process of their own is no protection. Those that
    cannot be read do not run at all."""
    try:
        tree = parse_source(tests)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(_names_a_way(node) for node in ast.walk(tree))


def _names_a_way(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] in _EXECUTING_MODULES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in _EXECUTING_MODULES
    if isinstance(node, ast.Name):
        return node.id in _EXECUTING_FUNCTIONS | _EXECUTING_MODULES
    if isinstance(node, ast.Attribute):
        return node.attr in _EXECUTING_METHODS
    return isinstance(node, ast.keyword) and node.arg in _EXECUTING_KEYWORDS


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
