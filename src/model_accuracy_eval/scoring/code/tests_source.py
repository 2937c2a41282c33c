"""What the source of tests says: which names they take from elsewhere, and how they may reach into a program."""

import ast
import re
import symtable
from collections.abc import Iterator
from functools import lru_cache

from model_accuracy_eval.scoring.code.code_syntax import no_warnings, parse_source

_IMPORT = re.compile(r"^(import|from)\s", re.MULTILINE)
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
    scopes = [table, *_inner_scopes(table)]
    symbols = [it for scope in scopes for it in scope.get_symbols() if scope is table or it.is_global()]
    bound = {it.get_name() for it in symbols if it.is_assigned() or it.is_imported()}
    used = {it.get_name() for it in symbols if it.is_referenced()}
    return frozenset(name for name in used - bound if not name.startswith("__"))


@lru_cache(maxsize=16)
def imports_of(source: str) -> str:
    """What the source imports at its top level, as source."""
    if not _IMPORT.search(source):
        return ""
    try:
        tree = parse_source(source)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    return "\n".join(ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)))


def _inner_scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _inner_scopes(child)


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
