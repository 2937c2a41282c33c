"""A reply → a short answer in it: yes or no, some words, or that there is none."""

import re

from model_accuracy_eval.records import Problem

_WRAPPED = r"[\s*_\"'`$\\({\[]{0,6}(?:\\?(?:boxed|text|textbf)\{){0,2}"
_STATED = re.compile(
    rf"(?i:\banswer\b[^.:：\n]{{0,60}}?(?:\bis\b|[:：])|答案(?:是|为)?[:：]?){_WRAPPED}(?P<word>(?i:yes|no))\b"
)
_ALONE = re.compile(r"^[\W_]*(?P<word>(?i:yes|no))[\W_]*$", re.MULTILINE)
_FIRST = re.compile(r"^[\W_]*(?P<word>(?i:yes|no))\b")
_ANSWER = re.compile(r"(?i:\b(?:final )?answer(?: is|[ \t*_]*[:：]))[\s*_:：]*")
_EMPHASIS = ' \t*_`"“”'
_NONE = re.compile(r"(?i:\bunanswerable\b|\bno answer\b)")


def yes_or_no(text: str, problem: Problem) -> str | None:
    """Yes or no: the last that is stated as the answer, else the last that is a line by itself, else the first word of
    the reply. A "no" inside a sentence is none."""
    for pattern in (_STATED, _ALONE):
        if words := [match["word"] for match in pattern.finditer(text)]:
            return words[-1].lower()
    first = _FIRST.match(text)
    return first["word"].lower() if first else None


def short_answer(text: str, problem: Problem, *, lines: bool = False) -> str | None:
    """What follows the last "Answer:" or "the answer is", else the whole reply; of several lines the first, unless all
    `lines` are answers. A final period and marks of emphasis do not belong to it."""
    *_, rest = _ANSWER.split(text)
    kept = [line.strip(_EMPHASIS) for line in rest.strip().split("\n") if line.strip()]
    answers = [line.removesuffix(".").rstrip(_EMPHASIS) for line in kept]
    return "\n".join(answers if lines else answers[:1]) or None


def unanswerable(text: str, problem: Problem) -> str | None:
    """`unanswerable` for a reply that says so, every other reply unchanged."""
    return "unanswerable" if _NONE.search(text) else text


SHORT_ANSWER_EXTRACTORS = {"yes_or_no": yes_or_no, "short_answer": short_answer, "unanswerable": unanswerable}
