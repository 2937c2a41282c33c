"""Which names tests take from the program: what they use and nobody else supplies.

| A name that the tests use | is supplied by |
|---|---|
| an entry point of the task | the program |
| what the tests define, helpers of the task's prompt included | the tests |
| a builtin | Python, in the tests' process |
| a module of the standard library | Python, in the tests' process, if the program binds that name, too |
| anything else | the program, and the integrity of a pass says so |
"""

import ast
import builtins
import re
import symtable
import sys
from collections.abc import Iterator
from functools import lru_cache

from model_accuracy_eval.records.code import Integrity, Program
from model_accuracy_eval.scoring.code.code_syntax import no_warnings, parse_source

_OF_PYTHON = frozenset(dir(builtins)) | sys.stdlib_module_names
_IMPORT = re.compile(r"^(import|from)\s", re.MULTILINE)


def borrowed_names(program: Program) -> tuple[str, ...]:
    """Names beside the entry points; where none is declared and the tests use a single one, that is the entry point."""
    source = f"{program.helpers}\n{program.tests}" if program.helpers else program.tests
    return tuple(sorted(free_names(source) - _OF_PYTHON - {*program.entry_points}))


def split_integrity(program: Program) -> Integrity:
    """`split` only if the program supplies nothing but what the task asks it for."""
    borrowed = borrowed_names(program)
    return "split+names" if borrowed and (program.entry_points or len(borrowed) > 1) else "split"


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
