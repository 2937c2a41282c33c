"""Logic puzzles whose answer is a grid: house → attribute → value, as JSON in the reply."""

import json
from collections.abc import Mapping

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.grid_answers import plain
from model_accuracy_eval.scoring.metrics.metric_type import Metric

Grid = dict[tuple[str, str], str]
"""(house, attribute) → value, in small letters."""

_HOUSE = "House"


def grid_solved(answer: str, problem: Problem) -> float:
    """1 if every cell is right."""
    hits, cells = grid_cells(answer, problem)
    return float(hits == cells)


def grid_cells(answer: str, problem: Problem) -> tuple[int, int]:
    """Right cells and all cells."""
    right = _right(problem)
    given = _given(answer)
    return sum(given.get(cell) == value for cell, value in right.items()), len(right)


def _right(problem: Problem) -> Grid:
    """From the column `solution`: a header whose first column is the house, and rows."""
    solution = problem.extras.get("solution")
    if not isinstance(solution, Mapping) or not {"header", "rows"} <= solution.keys():
        raise BadData(f"Problem {problem.id} has no 'solution' with a header and rows.")
    header = [str(name) for name in solution["header"]]
    if header[:1] != [_HOUSE]:
        raise BadData(f"Problem {problem.id}: the first column of the solution is {header[:1]}, not '{_HOUSE}'.")
    return {
        (plain(f"{_HOUSE} {number}"), plain(name)): plain(value)
        for number, row in enumerate(solution["rows"], start=1)
        for name, value in zip(header[1:], row[1:], strict=True)
    }


def _given(answer: str) -> Grid:
    houses = json.loads(answer) if answer else {}
    return {
        (plain(house), plain(name)): plain(value)
        for house, attributes in houses.items()
        if isinstance(attributes, dict)
        for name, value in attributes.items()
    }


def _cell_limits(problem: Problem) -> tuple[tuple[int, int], tuple[int, int]]:
    cells = len(_right(problem))
    return (0, cells), (cells, cells)


GRID_METRICS = {
    "grid_solved": Metric(score=grid_solved, reads="answers in their problem", yes_or_no=True),
    "grid_cells": Metric(score=grid_cells, reads="answers in their problem", aggregation="pooled", limits=_cell_limits),
}
