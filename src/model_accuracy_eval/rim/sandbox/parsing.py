"""Reading foreign source as a tree, without its warnings, which are for its authors."""

import ast
import threading
import warnings

_ONE_AT_A_TIME = threading.Lock()
"""Because the filters of warnings are one list for all threads."""


def parsed(source: str) -> ast.Module:
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)
