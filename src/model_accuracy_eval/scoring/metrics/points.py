"""(answer, right answers) → the points that an exam gives, or how much of a working holds."""

from collections.abc import Sequence
from math import isclose

from model_accuracy_eval.scoring.calculator import calculate, parts
from model_accuracy_eval.scoring.metrics.row import Metric


def exam_points(answer: str, references: Sequence[str]) -> float:
    """Mean over a block's questions, whose answers have commas between them: 1 for the right letters, ½ for some of
    them and no wrong one, else 0. Another number of answers than of questions is worth nothing."""
    said, right = answer.split(","), references[0].split(",")
    if len(said) != len(right):
        return 0.0
    return sum(map(_worth, said, right)) / len(right)


def _worth(said: str, right: str) -> float:
    if set(said) == set(right):
        return 1.0
    return 0.5 if said and set(said) < set(right) else 0.0


def calculator_notes(answer: str, references: Sequence[str]) -> float:
    """Share of the answer's notes like <<3*4=12>> whose result is what the calculator says; without notes, 1."""
    told = [text for kind, text in parts(answer) if kind != "text"]
    pairs = list(zip(told[::2], told[1::2], strict=True))
    return sum(_holds(*pair) for pair in pairs) / len(pairs) if pairs else 1.0


def _holds(expression: str, result: str) -> bool:
    value, said = calculate(expression), calculate(result)
    return value is not None and said is not None and isclose(value, said, rel_tol=1e-6, abs_tol=0.01)


ROWS = {"exam_points": Metric(score=exam_points), "calculator_notes": Metric(score=calculator_notes)}
