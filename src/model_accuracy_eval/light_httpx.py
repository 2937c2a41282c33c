"""Imports httpx without its command line, for which it imports rich and Pygments: half of its time to load.

A package that needs httpx imports this first. What is skipped is skipped here alone: whoever imported httpx before has
all of it, and `httpx._main` can be imported afterwards.
"""

import importlib
import sys

_COMMAND_LINE = "httpx._main"

if "httpx" not in sys.modules:
    # A module that stands for None cannot be imported, and httpx does without it.
    sys.modules[_COMMAND_LINE] = None  # type: ignore[assignment]
    try:
        importlib.import_module("httpx")
    finally:
        del sys.modules[_COMMAND_LINE]
