"""Replies → the number or the formula that they state as their answer; and what kind of answers a dataset has."""

import re
from collections.abc import Sequence
from decimal import Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import NamedTuple

from model_accuracy_eval.records import MetricUse, Problem, Step
from model_accuracy_eval.scoring import maths

_SIGN = r"(?:(?<![\w)\]])([-−+]))?\\?[$€£¥]?"  # the - of 10-5 and of "pages 3-7" is not a sign
_DIGITS = r"((?<!\d,)\d{1,3}(?:,\d{3})+(?![,\d]\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"  # 1,2,3 is a list
_NUMBER = re.compile(_SIGN + _DIGITS)
_MARKED = re.compile(rf"####[\s:=*_$\\(]*{_SIGN}{_DIGITS}")
_HAS_EXPONENT = re.compile(r"[0-9][eE][-−+0-9]")
_HAS_POWER = re.compile(r"10\s*[\^*⁰¹²³⁴-⁹⁺⁻]")
_TIMES = r"\s*(?:[×·*xX]|\\times|\\cdot)\s*"
_EXPONENT = r"[-−+]?\d{1,3}"
_SCIENTIFIC = re.compile(
    rf"(?<![\w.,^])(?:(\d+(?:\.\d+)?|\.\d+)[eE]({_EXPONENT})(?!\d)"
    rf"|(?:(\d+(?:\.\d+)?|\.\d+){_TIMES})?10\s*(?:(?:\^|\*\*)\s*(?:[{{(]\s*({_EXPONENT})\s*[}})]|({_EXPONENT})(?!\w))"
    r"|([⁺⁻]?[⁰¹²³⁴-⁹]{1,3})))"
)
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻−", "0123456789+--")
_IN_NUMBERS = frozenset("-−+\\$€£¥,.")
_LATEX_COMMA = re.compile(r"(?<=\d)(?:\{,\}|,?\\[,!;])(?=\d{3})")
_STATED = re.compile(
    r"(?:####|(?i:\banswer\b(?:[^.:\n]{0,40}?\bis\b|\s*:)|答案(?:是|为)?)\s*[:：]?)[\s*_]*(\S.*)", re.MULTILINE
)
_SENTENCE = re.compile(r"(?:\.(?=\s|$)|。|\n).*", re.DOTALL)
_FORMULA = re.compile(r"(?<!\\)\$\$?([^$]{1,500}?)(?<!\\)\$\$?|\\\((.{1,500}?)\\\)|\\\[(.{1,500}?)\\\]", re.DOTALL)
_DIGITS_OF_DECIMALS = Context(prec=40)


def last_number(text: str, problem: Problem) -> str | None:
    """The last number of the text, with commas and sign: "… is $1,234.50." gives 1,234.50, "-$5" gives -5."""
    return _last_number(_without_powers(_without_latex_commas(text)))


def _last_number(text: str) -> str | None:
    end = next((place for place in range(len(text) - 1, -1, -1) if text[place].isdecimal()), None)
    if end is None:
        return None
    # A number is a run of signs and digits, so the text before that run need not be searched.
    start = end
    while start and (text[start - 1] in _IN_NUMBERS or text[start - 1].isdecimal()):
        start -= 1
    return "".join(_NUMBER.findall(text, start)[-1])


def _without_latex_commas(text: str) -> str:
    return _LATEX_COMMA.sub(",", text) if "\\" in text or "{,}" in text else text


def _without_powers(text: str) -> str:
    """Numbers in scientific notation, such as 1.2e-3 and 6.02 × 10²³, with all their digits: the last digits of a text
    would be an exponent, which is no answer."""
    has_any = _HAS_POWER.search(text) or _HAS_EXPONENT.search(text)  # Two fast searches; most texts have none.
    return _SCIENTIFIC.sub(_digits_of, text) if has_any else text


def _digits_of(scientific: re.Match[str]) -> str:
    short, its_exponent, mantissa, *exponents = scientific.groups("")
    exponent = "".join((its_exponent, *exponents)).translate(_PLAIN)
    return f"{Decimal(f'{short or mantissa or 1}e{exponent}'):f}"


def number_answer(text: str, problem: Problem) -> str | None:
    r"""The number right after the last `####`, else in the last `\boxed{…}`, else the last number of the text.

    "#### Step 2: …" is a Markdown heading, and its 2 is not an answer. A box with a fraction or a calculation has its
    value; one with several values or with a formula has no number.
    """
    text = _without_powers(_without_latex_commas(text))
    marked = _MARKED.findall(text) if "####" in text else []
    if marked:
        return "".join(marked[-1])
    boxed = maths.last_box(text) if "box" in text else None
    if boxed is not None and (number := _NUMBER.search(boxed)):
        return _value(boxed, "".join(number.groups("")))
    return _last_number(text)


def _value(formula: str, first_number: str) -> str | None:
    """The value of a formula; its first number if it is not mathematics, as in "42 eggs for 7 days"."""
    try:
        value = maths.value_of(formula)
    except maths.Unreadable:
        return first_number
    return None if value is None else _decimal(value)


def _decimal(value: Fraction) -> str:
    return f"{_DIGITS_OF_DECIMALS.divide(Decimal(value.numerator), Decimal(value.denominator)):f}"


def maths_answer(text: str, problem: Problem) -> str | None:
    r"""The content of the last `\boxed{…}` and of those joined to it, else what follows the last "answer is" or `####`,
    else the last formula between dollars, else the last number, else all of a single line."""
    if "box" in text and (boxes := maths.last_boxes(text)):
        return ", ".join(boxes).strip() or None
    stated = _STATED.findall(text)
    if stated:
        return _formula_in(_SENTENCE.sub("", stated[-1].strip()).strip(" *_"))
    formulas = _formulas(text)
    if formulas:
        return formulas[-1]
    return text.strip() if _is_one_answer(text) else last_number(text, problem)


def _is_one_answer(text: str) -> bool:
    """Whether a reply is nothing but its answer: mathematics, or a line without numbers."""
    line = text.strip()
    return bool(line) and "\n" not in line and (maths.is_readable(line) or not any(map(str.isdecimal, line)))


def _formulas(text: str) -> list[str]:
    return [formula.strip() for found in _FORMULA.findall(text) for formula in found if formula.strip()]


def _formula_in(sentence: str) -> str | None:
    """The sentence, if all of it is mathematics; else the first formula in it, or all of it where there is none."""
    formulas = _formulas(sentence)
    if formulas and not maths.is_readable(sentence):
        return formulas[0]
    return sentence or None


# Texts that are numbers.


_DECORATION = re.compile(r"[$€£¥]|%$")
_COMMAS = re.compile(r"(?<![\d,])(\d{1,3}(?:,\d{3})+)(?![\d,])")
"""Commas between thousands. 1,2 and 1,0000 are no numbers."""


def as_number(text: str) -> Decimal | None:
    """The number that the text is. Decimal, not float: 0.1 is 0.1, and 20 digits stay 20 digits."""
    if text.isascii() and text.isdecimal():  # most right answers: no need to look for commas and currencies
        return Decimal(text)
    bare = _DECORATION.sub("", text.strip()).replace("−", "-").rstrip(".")
    bare = _COMMAS.sub(lambda thousands: thousands[0].replace(",", ""), bare)
    try:
        value = Decimal(bare)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


# How replies are read and judged where nobody has said so: the right answers themselves decide.


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
_TEXTS = AnswerKind("text", "the whole text", Step(name="stripped"), _TEXT)
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
