"""What kind of answers a dataset has: how replies are read and judged where nobody has said so, and the right answers
themselves decide."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from model_accuracy_eval.records import MetricUse, Problem, Step
from model_accuracy_eval.scoring import maths
from model_accuracy_eval.scoring.answers.stated_numbers import as_number, number_answer


class AnswerKind(NamedTuple):
    name: str
    reading: str
    """What of a reply counts."""
    filter: Step
    metric: MetricUse


_EXACT = MetricUse(name="exact", label="accuracy")
_TEXT = MetricUse(name="exact", label="accuracy", args={"ignore_case": True, "ignore_blanks": True})
_NUMBERS = AnswerKind("number", "the number", Step(name="number_answer"), MetricUse(name="number", label="accuracy"))
_FORMULAS = AnswerKind(
    "formula", "the formula", Step(name="maths_answer"), MetricUse(name="math_equal", label="accuracy")
)
_TEXTS = AnswerKind("text", "the text", Step(name="short_answer", args={"whole": True}), _TEXT)
LETTERS = AnswerKind("letter", "the letter", Step(name="choice_letter"), _EXACT)
KINDS = {kind.name: kind for kind in (_NUMBERS, _FORMULAS, _TEXTS, LETTERS)}

_LATEX = re.compile(r"\\[A-Za-z]|\w\s*\^|^-?\d+/\d+$")
_MATHS = re.compile(r"[\d\\^=]")


_NO_PROBLEM = Problem(id=-1, messages=(), references=())


def is_number(answer: str) -> bool:
    """Whether an answer is a number that is read as itself in a reply: of 10^5 another one would be read."""
    value = as_number(answer)
    return value is not None and value == as_number(number_answer(answer, _NO_PROBLEM) or "")


def answer_kind(right_answers: Sequence[str]) -> AnswerKind:
    """Numbers, if every right answer is one; formulas, if LaTeX, powers or fractions occur and half of them or more are
    mathematics; else texts."""
    if all(map(is_number, right_answers)):
        return _NUMBERS
    if any(_LATEX.search(answer) for answer in right_answers):
        formulas = sum(bool(_MATHS.search(answer)) and maths.is_readable(answer) for answer in right_answers)
        if 2 * formulas >= len(right_answers):
            return _FORMULAS
    return _TEXTS
