"""The child's side of UltraEval's transforms: each row is called with once, and gets what came of it as columns."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from model_accuracy_eval.rim.python_tasks.dataset import Row

_MADE = ("input", "output", "processed_output")


def transformed(rows: Iterable[Row], function: Callable[..., Any], told: Mapping[str, Any]) -> Iterator[Row]:
    """Every row has a generator of its own, so that a slice is asked what the whole is asked."""
    for place, row in enumerate(rows):
        draw = random.Random(told["seed"] + place)  # noqa: S311 - an order of options, no secret
        made = function(dict(row), told["shots"], draw, told["task"])
        missing = [name for name in _MADE if name not in made]
        if missing:
            raise KeyError(f"of row {place + 1}, the transform gives no '{missing[0]}'")
        right = made["processed_output"]
        yield {
            **row,
            "input": made["input"],
            "output": _shown(made["output"], told["shots"]),
            "answers": [str(one) for one in right] if isinstance(right, list) else [str(right)],
        }


def _shown(output: Any, shots: int) -> str:
    """The answer of a solved example: of several the first."""
    first = output[0] if isinstance(output, list) and output else output
    if shots and not isinstance(first, str):
        raise TypeError(f"the transform's output is {output!r}, but a solved example shows a text")
    return str(first)
