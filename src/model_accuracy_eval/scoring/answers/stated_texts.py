"""Formulas and words as replies state them."""

import re
from functools import partial

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring import maths
from model_accuracy_eval.scoring.answers import markers
from model_accuracy_eval.scoring.answers.reader import (
    BOXED,
    RESTATED,
    ClaimedAnswer,
    Doubtful,
    SaidText,
    Value,
    Wanted,
    is_hash,
    read,
)
from model_accuracy_eval.scoring.answers.stated_numbers import ENDING, has_open_end, number_of_last_sentence

# A formula.


_SENTENCE = re.compile(r"(?:\.(?=\s|$)|。|\n|, where\b).*", re.DOTALL)
_FORMULA = re.compile(
    r"(?<!\\)\$\$?([^$]{1,500}?)(?<!\\)\$\$?(?!\d)|\\\((.{1,500}?)\\\)|\\\[(.{1,500}?)\\\]", re.DOTALL
)

_DISPLAY = re.compile(r"[\s*_]{0,8}(?:\$\$|\\\[)(.{1,500}?)(?:\$\$|\\\])", re.DOTALL)


def _formula_at(reply: SaidText, claim: ClaimedAnswer) -> Value | None:
    text = reply.text
    if claim.strength == BOXED:
        boxes = maths.last_boxes(text[max(0, claim.place - ENDING) : claim.end + 1])
        inside = ", ".join(boxes[-1:] if any(map(_STEP.search, boxes[:-1])) else boxes).strip()
        said = None if _I_CANNOT.search(inside) else _conclusion(inside)
        return Value(said, claim.start, claim.end) if inside else None
    if is_hash(reply, claim) and text[claim.end :].strip():
        return None  # a heading
    if (display := _DISPLAY.match(text, claim.start)) and "nswer" not in display[1]:
        return Value(display[1].strip(), claim.start, display.end())
    said = _SENTENCE.sub("", text[claim.start : claim.end].lstrip("} \n*_`")).strip(" *_\"'`")
    formula = _formula_in(said)
    most_blanks = _MOST_BLANKS if claim.strength != RESTATED else 0
    if formula == said and formula.count(" ") > most_blanks and not maths.is_readable(formula):
        return None  # nothing but words
    end = text.find(formula, claim.start) + len(formula) if formula else claim.end
    return Value(formula, claim.start, end) if formula else None


_STEP = re.compile(r"\\implies|\\Rightarrow|\.\}?\Z|\\text\{[^{}]*\w \w[^{}]*\w \w")
"""In a box that others follow: it is a step on the way."""
_I_CANNOT = re.compile(r"\bI (?:can|do|could)(?:not|n?['’]t)\b")
_WORDS = re.compile(r"(?:(?<![\\{A-Za-z])[A-Za-z]{2,}[^A-Za-z]+){3}")


def _conclusion(box: str) -> str | None:
    """What a sentence in a box comes to, or all that the box has; None where it only explains."""
    said = markers.WRAPPED.sub(r"\1", box)
    if not (said.endswith(".") and (_WORDS.search(said) or "\\Rightarrow" in said) and any(map(str.isdecimal, said))):
        return box
    value = said.rpartition("=")[2].strip(" .").removesuffix("\\)")
    result = value if maths.is_readable(value) else _concluded(said)
    return result and Doubtful(result)


def _formulas(text: str) -> list[str]:
    if "$" not in text and r"\(" not in text and r"\[" not in text:
        return []
    return [formula.strip() for found in _FORMULA.findall(text) for formula in found if formula.strip()]


def _formula_in(sentence: str) -> str | None:
    """The sentence, if all of it is mathematics; else the first formula in it, or all of it where there is none."""
    formulas = _formulas(sentence)
    if len(formulas) == 1 and len(formulas[0]) + 4 >= len(sentence):
        return formulas[0]
    if formulas and not maths.is_readable(sentence):
        return _concluded(sentence) or formulas[0]
    if not any(map(str.isalnum, sentence)):
        return None
    return (not formulas and _concluded(sentence)) or sentence


_MOST_BLANKS = 12
_IS = re.compile(r"\b(?:is|are|equals|be)\b(?:\s(?:approximately|about|exactly))?")


def _concluded(sentence: str) -> str | None:
    """The formula behind the last "is"."""
    *before, said = _IS.split(sentence)
    said = said.strip(" *_.:")
    if found := _formulas(said):
        return found[0] if before else None
    return said if before and any(map(str.isdecimal, said)) and maths.is_readable(said) else None


def _formula_alone(reply: SaidText) -> Value | None:
    """All of a reply that is one line and nothing but mathematics, or a line without numbers."""
    text = reply.text.strip()
    if "\n" in text or len(text) > _LONGEST_LINE or has_open_end(text):
        return None
    formulas = _formulas(text)
    if formulas:
        return Value(formulas[0], 0, len(reply.text)) if len(formulas[0]) + 5 >= len(text) else None
    is_answer = maths.is_readable(text) or not any(map(str.isdecimal, text))
    return Value(text, 0, len(reply.text)) if is_answer else None


def _last_formula(reply: SaidText) -> str | None:
    """That of the last sentence, else the one that the reply ends with, else the number of the last sentence."""
    text = reply.text.strip()
    if has_open_end(text):
        return None
    found = _concluded(text.rpartition("\n")[2])
    if not found and (formulas := _formulas(text)):
        is_end = len(text) - text.rfind(formulas[-1]) - len(formulas[-1]) < _MOST_BEHIND
        return Doubtful(formulas[-1]) if is_end else None
    found = found or number_of_last_sentence(text)
    return found and Doubtful(found)


_MOST_BEHIND = 24
"""Characters behind the formula with which a reply ends: its brackets, a unit, a word or two."""


_A_FORMULA = Wanted(_formula_at, _formula_alone, _last_formula, joins=True)


def maths_answer(text: str, problem: Problem) -> str | None:
    r"""The formula that the reply states as its answer, such as the content of \boxed{…} and of those joined to it;
    else the last formula between dollars, else the number of the last sentence, else all of a single line."""
    return read(text, problem, _A_FORMULA)


# A text.


_SHORT = 60
_EMPHASIS = ' \t*_`"“”'
_NONE = re.compile(r"(?i:\bunanswerable\b|\bno answer\b)")


def _text_at(reply: SaidText, claim: ClaimedAnswer, *, lines: bool = False) -> Value:
    said = reply.text[claim.start : claim.end]
    if lines:
        said = reply.text[claim.start :]
    said = markers.WRAPPED.sub(r"\1", said).replace('\\"', '"')
    bold = _BOLD_END.search(said)
    return Value(_words(bold[1] if bold else said, lines=lines), claim.start, claim.end)


_BOLD_END = re.compile(r"\b(?:is|are|was)\s+\*\*([^*\n]{1,80})\*\*\.?\s*\Z")


def _words(text: str, *, lines: bool) -> str | None:
    said = (line.strip(_EMPHASIS).removeprefix("- ") for line in text.strip(" \n:：").split("\n"))
    kept = [line for line in said if line]
    answers = [line.removesuffix(".").rstrip(_EMPHASIS) for line in kept]
    return "\n".join(answers if lines else answers[:1]) or None


def short_answer(text: str, problem: Problem, *, lines: bool = False, whole: bool = False) -> str | None:
    """The words that the reply states as its answer, else the reply; of several lines the first, unless all `lines` are
    answers. A final period and marks of emphasis do not belong to it; a reply that states nothing may stay `whole`."""

    def last(reply: SaidText) -> str | None:
        first, _, others = reply.text.strip().partition("\n")
        is_reasoning = bool(others) and len(first) > _LONGEST_LINE and not lines
        return reply.text.strip() if whole else None if is_reasoning else _words(reply.text, lines=lines)

    return read(text, problem, Wanted(partial(_text_at, lines=lines), last=last, joins=True))


_LONGEST_LINE = 100
"""Of several lines the first is no answer if it is longer."""


def words_at_end(text: str, problem: Problem) -> str | None:
    """The same, but of several lines without a statement the last one, if it is short: what stands before it is
    reasoning."""

    def last(reply: SaidText) -> str | None:
        lines = [line for line in reply.text.replace("```", "").split("\n") if line.strip()]
        return _words(lines[-1], lines=False) if len(lines) == 1 or len(lines[-1]) < _SHORT else None

    return read(text, problem, Wanted(_text_at, last=last, joins=True))


def unanswerable(text: str, problem: Problem) -> str | None:
    """`unanswerable` for a reply that says so, every other reply unchanged."""
    return "unanswerable" if _NONE.search(text) else text
