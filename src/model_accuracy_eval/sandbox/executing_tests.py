"""Whether tests may execute what a program gives them: then a process of their own is no protection."""

import ast

from model_accuracy_eval.scoring.code.code_syntax import parse_source

_MODULES = frozenset(
    {"pickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal", "importlib", "runpy", "imp", "code"}
    | {"jinja2", "mako"}
)
"""They load objects or modules from files, or run texts: code of whoever wrote these."""
_FUNCTIONS = frozenset({"eval", "exec", "compile", "__import__"})
_METHODS = frozenset(
    {"read_pickle", "load_model", "load_module", "exec_module", "unsafe_load", "full_load"}
    | {"UnsafeLoader", "dictConfig", "fileConfig", "sympify", "parse_expr"}
    | {"run_docstring_examples", "DocTestFinder", "DocTestRunner", "DocTestSuite"}
)
_KEYWORDS = frozenset({"allow_pickle"})


def may_execute(tests: str) -> bool:
    """Whether they name a way to do so; tests that cannot be read do not run at all."""
    try:
        tree = parse_source(tests)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(_names_a_way(node) for node in ast.walk(tree))


def _names_a_way(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] in _MODULES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in _MODULES
    if isinstance(node, ast.Name):
        return node.id in _FUNCTIONS | _MODULES
    if isinstance(node, ast.Attribute):
        return node.attr in _METHODS
    return isinstance(node, ast.keyword) and node.arg in _KEYWORDS
