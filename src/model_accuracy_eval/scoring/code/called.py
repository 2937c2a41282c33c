"""Which function the asserts of a task call: by their syntax tree, since names also stand in wrappers around it."""

import ast
import builtins
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from model_accuracy_eval.scoring.code.syntax import parse

_KNOWN = {name for name in dir(builtins) if not name.startswith("_")}


def called(asserts: Sequence[str]) -> str:
    """The name that most asserts call; empty where they call nothing of their own.

    `assert set(similar(1)) == {1}`, `assert math.isclose(f(1), 2)` and `assert not f(2)` speak of similar, f and f.
    A builtin is the entry point only where nothing else is called: one task defines a `sum` of its own.
    """
    own: Counter[str] = Counter()
    builtin: Counter[str] = Counter()
    for source in asserts:
        names = list(dict.fromkeys(_names(source)))
        # The outermost call of its own is the subject: what stands inside it makes its arguments.
        own.update([name for name in names if name not in _KNOWN][:1])
        builtin.update([name for name in names if name in _KNOWN][:1])
    return next((name for name, _ in (own or builtin).most_common(1)), "")


def _names(source: str) -> Iterator[str]:
    """Called names from the outside in, left to right; methods and functions of modules are none."""
    tree = parse(source.strip())
    for node in ast.walk(tree) if tree else ():
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id not in sys.stdlib_module_names
        ):
            yield node.func.id
