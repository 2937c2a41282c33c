"""Replies → answers, as the makers of single benchmarks read them: BIG-Bench Hard, MMLU-Pro, GAOKAO-Bench, ZebraLogic.

Each is a named view beside the reader's own, and the headline where the benchmark's published prompt is asked.
"""

import json
import re
from typing import Any

from msgspec import structs

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.answers.letters import another_letter, choice_letter
from model_accuracy_eval.scoring.answers.reader import what_is_said
from model_accuracy_eval.scoring.answers.stated_texts import words_at_end

# BIG-Bench Hard.


_OPTION = re.compile(r"\(([A-Z])\)")
_OPTIONS = ("",) * 18
"""Questions have up to (R), and their options stand in their texts alone."""


def bbh_answer(text: str, problem: Problem, *, anywhere: bool = False) -> str | None:
    """What follows the last "answer is" on its line, without a final period; only the (B) of "(B) because …", and
    nothing of "(A) or (B)". A reply of one line that does not say it is the answer itself, as its authors ask directly.

    `anywhere` reads as all other tasks are read: the letter where a right answer is one, else the words.
    """
    if anywhere:
        if not _OPTION.fullmatch(problem.references[0]):
            return words_at_end(text, problem)
        letter = choice_letter(text, structs.replace(problem, choices=_OPTIONS), by_wording=True)
        return f"({letter})" if letter else None
    said = what_is_said(text, problem)
    *before, answer = re.split("answer is", said or "", flags=re.IGNORECASE)
    lines = answer.strip().split("\n")
    if not before and len(lines) > 1:
        return None
    line = lines[0].strip(' :*_`"$')
    if option := _OPTION.match(line):
        return None if another_letter(line, option.end(1), option[1]) else f"({option[1]})"
    return line.rstrip(".").rstrip('*_`"$') or None


# MMLU-Pro.


_ANSWER_IS = re.compile(r"answer is \(?([A-J])")
_ANSWER = re.compile(r"^.*[aA]nswer:\s{0,99}([A-J])", re.MULTILINE)
_STANDS_ALONE = re.compile(r"\b[A-J]\b")


def mmlu_pro_answer(text: str, problem: Problem) -> str | None:
    """The first letter after "answer is", else the last after "answer:" on the first line that has one, else the last
    capital of A to J that stands alone."""
    if found := _ANSWER_IS.search(text) or _ANSWER.search(text):
        return found[1]
    return next(reversed(_STANDS_ALONE.findall(text)), None)


# GAOKAO-Bench, but where letters stand right after 【答案】, those of an explanation that follows do not count. The
# published replies have none, because they had to end there.


_MARK = "【答案】"
_END = "<eoa>"
"""The end of an answer, where a reply writes it as the published prompts want it."""
_LETTER = re.compile("(?<![A-Za-z])[A-G](?![a-z])|(?<=[A-G])[A-G](?![a-z])")
_LETTERS = re.compile(
    r"[\s:：*]{0,8}([A-G](?:[ \t,，、.;；/和与及或]{0,4}[A-G]|\n{1,2}[A-G](?=[ \t]*(?:\n|$))){0,40})(?![A-Za-z])"
)
"""Letters beside each other, or each alone on its line."""
_FIRST_OF_BLOCK = re.compile(r"【答案】\s*[:：]*\s*([A-Z])")
_QUESTION_BY_QUESTION = ("Lang_and_Usage", "Modern_Lit", "Fill_in_Blanks", "Reading_Comp", "Geography")
"""Papers whose blocks may have several questions."""


def gaokao_answer(text: str, problem: Problem, *, strict: bool = False) -> str | None:
    """The letters in a reply, with commas between several questions; the exam paper decides how to read them.

    `strict` reads the last 【答案】 alone, or all where each has one letter, and wants as many letters as questions.
    """
    paper, blocks = problem.category or "", _blocks(text)
    questions, last = len(problem.references[0].split(",")), next(reversed(blocks), "")
    if "Physics" in paper:  # several letters: those of the last ten characters that are not blanks, if none is marked
        said = last if strict else last or "".join(text.split())[-10:]
        return "".join(sorted(set(re.findall("[A-D]", said)))) or None
    if strict and len(blocks) == questions and all(len(block) == 1 for block in blocks):
        letters = "".join(blocks)
    elif strict:
        letters = last if len(last) == questions else ""
    elif "Cloze" in paper:  # the first five capitals of seven
        letters = "".join(re.findall("[A-G]", last or text)[:5])
    elif questions > 1 or any(name in paper for name in _QUESTION_BY_QUESTION):
        letters = _question_by_question(text, blocks, questions)
    else:
        letters = "".join((re.findall("[A-D]", last) or re.findall("[A-D]", text))[-1:])
    return ",".join(letters) or None


def _question_by_question(text: str, blocks: list[str], questions: int) -> str:
    """The first letter after every 【答案】, else all right after the last one or after all of them, if their number is
    right, else the first capitals of the reply."""
    for letters in ("".join(_FIRST_OF_BLOCK.findall(text)), next(reversed(blocks), ""), "".join(blocks)):
        if len(letters) == questions:
            return letters
    return "".join(re.findall("[A-Z]", text)[:questions])


def _blocks(text: str) -> list[str]:
    """The letters after each 【答案】: up to the end of the answer if that is marked, else those right after it."""
    blocks = []
    for answer in text.split(_MARK)[1:]:
        inside, end, _ = answer.partition(_END)
        first = _LETTERS.match(answer)
        blocks.append("".join(_LETTER.findall(inside if end else first[1] if first else "")))
    return [block for block in blocks if block]


# Replies with a grid: house → attribute → value, as JSON.


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


VIEWS = {
    "bbh_answer": bbh_answer,
    "mmlu_pro_answer": mmlu_pro_answer,
    "gaokao_answer": gaokao_answer,
    "solution_grid": solution_grid,
}
