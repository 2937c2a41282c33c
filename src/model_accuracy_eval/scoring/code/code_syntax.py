"""Python as the parser sees it: how much of a text is code, what it defines, and what tests take from a program."""

import ast
import builtins
import contextlib
import re
import symtable
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

# Python read into a tree, by one thread at a time.
#
# CPython 3.11 and 3.12 count how deep a tree is in one number for all threads: where two of them parse at once, one may
# get a SystemError about a source that has no fault. The filters of warnings are one list for all threads, too.


_LOCK = threading.RLock()


@contextlib.contextmanager
def no_warnings() -> Iterator[None]:
    """Warnings about a source are for its authors."""
    with _LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def parse_source(source: str) -> ast.Module:
    with no_warnings():
        return ast.parse(source)


def parse_expression(source: str) -> ast.Expression:
    with no_warnings():
        return ast.parse(source, mode="eval")


_GUIDED_CUTS = 24
"""How often the parser's error position is taken as the end of the code; after that, cuts double in size."""


class Code(NamedTuple):
    """Source and its syntax tree."""

    source: str
    tree: ast.Module

    def defines(self, name: str) -> bool:
        """What returns at its top level is a function's body: it has variables, and defines nothing for others."""
        return any(name in names_of(node) for node in self.tree.body) and not any(map(returns, self.tree.body))

    def upto(self, node: ast.stmt) -> "Code":
        """The code before one of its statements."""
        source = "\n".join(self.source.split("\n")[: first_line(node) - 1])
        return Code(source, ast.Module(self.tree.body[: self.tree.body.index(node)], []))


EMPTY = Code("", ast.Module([], []))
_DECLARING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def parse(source: str) -> ast.Module | None:
    """None if the source is not Python, or nested too deeply to parse."""
    try:
        return parse_source(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def longest_prefix(text: str) -> Code:
    """The longest run of lines from the start that is Python."""
    lines = text.replace("\r\n", "\n").split("\n")
    end, cut = len(lines), 1
    for attempt in range(_GUIDED_CUTS + 64):
        source = "\n".join(lines[:end])
        try:
            return Code(source, parse_source(source))
        except SyntaxError as error:
            fault = (error.lineno or end) - 1
        except (ValueError, MemoryError, RecursionError):
            fault = end - 1
        if attempt >= _GUIDED_CUTS:
            cut *= 2
        end = max(0, min(fault, end - cut))
    return EMPTY


def first_line(node: ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def names_of(node: ast.stmt) -> Iterator[str]:
    """The names that a top-level statement binds."""
    if isinstance(node, _DECLARING):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))


def returns(statement: ast.stmt) -> bool:
    """Whether a return or yield is in the statement, at any depth but not in a function or class that it contains."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (*_DECLARING, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))
    return False


def is_declaration(node: ast.stmt) -> bool:
    """A function, class, import or assignment: something that others may need and that does nothing by itself."""
    return isinstance(node, (*_DECLARING, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign))


def is_talk(node: ast.stmt) -> bool:
    """Words that happen to be Python: "Human", "- item", "Note: this". As code they raise or do nothing."""
    if isinstance(node, ast.AnnAssign):
        return node.value is None
    calls = (ast.Call, ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)
    return (
        isinstance(node, ast.Expr)
        and not isinstance(node.value, ast.Constant)
        and not any(isinstance(part, calls) for part in ast.walk(node))
    )


_STARTS = re.compile(
    r"^(?:(?:async[ ]+)?def[ ]+\w+[ ]*\(|class[ ]+\w+[ ]*[(:]|@\w"
    r"|from[ ]+[\w.]+[ ]+import\b|import[ ]+[\w.]+(?:[ ]+as[ ]+\w+)?[ ]*(?:[,#;]|$)|[A-Z][A-Z0-9_]*[ ]*=[ ]*[^\s=])"
)


_STARTING_LINES = 4
"""Talk may look like a line of code, such as `x = 5 apples`; the code is then tried from the next such line."""


def starts(text: str, entry_point: str) -> Iterator[str]:
    """The text from each place where code may begin: the first lines of code, the entry point's first and last head."""
    lines = text.split("\n")
    code = [place for place, line in enumerate(lines) if _STARTS.match(line)]
    heads = (f"def {entry_point}(", f"async def {entry_point}(")
    target = [place for place in code if lines[place].startswith(heads)]
    for place in dict.fromkeys([*code[:_STARTING_LINES], *target[:1], *target[-1:]]):
        yield "\n".join(lines[place:])


_BUILTINS = {name for name in dir(builtins) if not name.startswith("_")}


def called_function(asserts: Sequence[str]) -> str:
    """The function that most of the asserts test; empty if they call none.

    `assert set(similar(1)) == {1}`, `assert math.isclose(f(1), 2)` and `assert not f(2)` test similar, f and f.
    A builtin counts only if nothing else is called: one task defines its own `sum`.
    """
    functions: Counter[str] = Counter()
    builtin: Counter[str] = Counter()
    for source in asserts:
        names = list(dict.fromkeys(_called_names(source)))
        # The outermost call is the subject; calls inside it make its arguments.
        functions.update([name for name in names if name not in _BUILTINS][:1])
        builtin.update([name for name in names if name in _BUILTINS][:1])
    return next((name for name, _ in (functions or builtin).most_common(1)), "")


def _called_names(source: str) -> Iterator[str]:
    """Called names from the outside in, left to right, without methods and functions of modules."""
    for node in _nodes(source.strip()):
        function = node.func if isinstance(node, ast.Call) else None
        if isinstance(function, ast.Name) and function.id not in sys.stdlib_module_names:
            yield function.id


# What the source of tests says: which names they take from elsewhere, and how they may reach into a program.


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


@lru_cache(maxsize=16)  # samples of a problem come together, and their tests may have megabytes
def free_names(source: str) -> frozenset[str]:
    """Names that the source uses and does not bind at its top level; none for what is no Python."""
    try:
        with no_warnings():
            table = symtable.symtable(source, "<tests>", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    scopes = [table]
    for scope in scopes:
        scopes += scope.get_children()
    symbols = [it for scope in scopes for it in scope.get_symbols() if scope is table or it.is_global()]
    bound = {it.get_name() for it in symbols if it.is_assigned() or it.is_imported()}
    used = {it.get_name() for it in symbols if it.is_referenced()}
    return frozenset(name for name in used - bound if not name.startswith("__"))


def called_names(source: str) -> list[str]:
    """The functions and classes that a source calls and neither defines, imports nor has from Python."""
    calls = (node.func for node in _nodes(source) if isinstance(node, ast.Call))
    called = {function.id for function in calls if isinstance(function, ast.Name)}
    return sorted(called & free_names(source) - {*dir(builtins)})


@lru_cache(maxsize=16)
def imports_of(source: str) -> str:
    """What the source imports at its top level, as source."""
    tree = parse(source) if re.search(r"^(import|from)\s", source, re.MULTILINE) else None
    nodes = tree.body if tree else []
    return "\n".join(ast.unparse(node) for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)))


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
    tree = parse(source)
    return list(ast.walk(tree)) if tree else []
