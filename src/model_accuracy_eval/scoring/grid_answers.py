"""Replies with a grid: house → attribute → value, as JSON."""

import json
from typing import Any

from model_accuracy_eval.records import Problem

_DECODER = json.JSONDecoder(strict=False)
_TRIES = 1000
"""Opening braces that begin nothing that can be read: a reply of braces alone takes no longer."""


def solution_grid(text: str, problem: Problem) -> str | None:
    """The last JSON object of the reply that has a `solution` with houses, or houses itself, as one line of JSON."""
    found: Any = None
    start, tries = text.find("{"), 0
    while start >= 0 and tries < _TRIES:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError):
            tries, end = tries + 1, start + 1
        else:
            solution = value.get("solution", value)
            found = solution if _has_houses(solution) else found
        start = text.find("{", end)
    return None if found is None else json.dumps(found, ensure_ascii=False)


def _has_houses(solution: Any) -> bool:
    return isinstance(solution, dict) and any(
        plain(name).startswith("house") and isinstance(value, dict) for name, value in solution.items()
    )


def plain(value: Any) -> str:
    """Of a list the first entry, as the benchmark's own script takes it."""
    first = next(iter(value), "") if isinstance(value, list) else value
    return str(first).strip().lower()


GRID_EXTRACTORS = {"solution_grid": solution_grid}
