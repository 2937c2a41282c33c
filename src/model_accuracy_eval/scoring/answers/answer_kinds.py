"""How replies are read and judged where nobody has said so: the right answers themselves decide."""

import re
from collections.abc import Sequence

import msgspec

from model_accuracy_eval.records import MetricUse, Problem, Step
from model_accuracy_eval.scoring import maths
from model_accuracy_eval.scoring.answers.maths_answers import as_number, number_answer


class AnswerKind(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    noun: str
    """What each right answer is."""
    reading: str
    """What of a reply counts."""
    filter: Step
    metric: MetricUse


_NUMBERS = AnswerKind(
    name="number",
    noun="a number",
    reading="the number",
    filter=Step(name="number_answer"),
    metric=MetricUse(name="number", label="accuracy"),
)
_FORMULAS = AnswerKind(
    name="formula",
    noun="a formula",
    reading="the formula",
    filter=Step(name="maths_answer"),
    metric=MetricUse(name="math_equal", label="accuracy"),
)
_TEXTS = AnswerKind(
    name="text",
    noun="a text",
    reading="the whole text",
    filter=Step(name="stripped"),
    metric=MetricUse(name="exact", label="accuracy", args={"ignore_case": True, "ignore_blanks": True}),
)
LETTERS = AnswerKind(
    name="letter",
    noun="a letter",
    reading="the letter",
    filter=Step(name="choice_letter"),
    metric=MetricUse(name="exact", label="accuracy"),
)
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
