"""Text → the answer in it. Each step takes the text that the step before left, and gives less text or None.

None means "no answer found", which is counted apart from wrong answers.
"""

import re
from collections.abc import Callable

from model_accuracy_eval.records import Problem

Extractor = Callable[..., str | None]

_NUMBER = re.compile(r"[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[-−+]?\.\d+")
_CLOSED_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)


def strip_thoughts(text: str, problem: Problem) -> str | None:
    """Drops `<think>…</think>`, and everything before a `</think>` whose opening the template had put in the prompt.

    A thought that was cut off before it closed holds no answer.
    """
    text = _CLOSED_THOUGHT.sub("", text)
    _, closing, after = text.rpartition("</think>")
    text = after if closing else text
    before, opening, _ = text.partition("<think>")
    return before.strip() or None if opening else text


def cut_at(text: str, problem: Problem, *, marks: list[str]) -> str | None:
    """Keeps what stands before the first of the marks: talk of a next question is not part of this answer."""
    ends = [place for mark in marks if (place := text.find(mark)) >= 0]
    return text[: min(ends)] if ends else text


def regex(text: str, problem: Problem, *, pattern: str, group: int = 1, take: str = "last") -> str | None:
    """The chosen group of the first or last match."""
    matches = list(re.finditer(pattern, text, re.MULTILINE))
    if not matches:
        return None
    return matches[-1 if take == "last" else 0].group(group).strip()


def last_number(text: str, problem: Problem) -> str | None:
    """The last number of the text, thousands commas and sign kept: "… is $1,234.50." gives 1,234.50."""
    found = _NUMBER.findall(text)
    return found[-1] if found else None


def number_answer(text: str, problem: Problem) -> str | None:
    r"""The number after the last `####`, else in the last `\boxed{…}`, else the last number of the text."""
    _, marker, after = text.rpartition("####")
    if marker and (found := _NUMBER.search(after)):
        return found.group()
    boxed = re.findall(r"\\boxed\{([^{}]*)\}", text)
    if boxed and (found := _NUMBER.search(boxed[-1])):
        return found.group()
    return last_number(text, problem)


_STATED = re.compile(
    r"(?i:\b(?:answer|option|choice)\b(?:\s+is)?\s*[:：]?|答案\s*(?:是|为)?\s*[:：]?)\s*[*_$\\]*(?:boxed\{|text\{)*[(\[（]?\s*"
    r"([A-Z])(?![A-Za-z])"
)
_ALONE = re.compile(r"^\s*[*_(\[（]*([A-Z])(?:[)\]）.:：,*_]|\s*$)", re.MULTILINE)


def choice_letter(text: str, problem: Problem) -> str | None:
    """The letter of the chosen option: as stated ("the answer is (B)"), else standing alone, else by its wording.

    Only letters that the question offers count. Wordings count when exactly one option's text occurs in the reply.
    """
    offered = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(problem.choices)]
    for pattern, take in ((_STATED, -1), (_ALONE, 0)):
        letters = [letter for letter in pattern.findall(text) if letter in offered]
        if letters:
            return str(letters[take])
    lowered = text.lower()
    worded = [letter for letter, choice in zip(offered, problem.choices, strict=True) if choice.lower() in lowered]
    return worded[0] if len(worded) == 1 else None


def stripped(text: str, problem: Problem) -> str | None:
    """The text without blanks around it."""
    return text.strip() or None


EXTRACTORS: dict[str, Extractor] = {
    "strip_thoughts": strip_thoughts,
    "cut_at": cut_at,
    "regex": regex,
    "last_number": last_number,
    "number_answer": number_answer,
    "choice_letter": choice_letter,
    "stripped": stripped,
}
