"""Replies to exam questions → answers, as BIG-Bench Hard, MMLU-Pro and GAOKAO-Bench read them.

GAOKAO-Bench is read as its own script reads it, but where letters stand right after 【答案】, those of an explanation
that follows do not count. The published replies have none, because they had to end there.
"""

import json
import re
from typing import Any

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.answers.stated_letters import another_letter

_OPTION = re.compile(r"\(([A-Z])\)")
_BARE_LETTER = re.compile(r"[\s*_:：$\\(\[]{0,8}([A-Z])(?![A-Za-z0-9'’])")


def bbh_answer(text: str, problem: Problem, *, anywhere: bool = False) -> str | None:
    """What follows the last "answer is" on its line, without a final period; only the (B) of "(B) because …", and
    nothing of "(A) or (B)".

    `anywhere` also reads replies that say "answer:" or neither: their last line. Where a right answer is (B), B is then
    as good.
    """
    *before, answer = re.split(r"answer(?: is|:)" if anywhere else "answer is", text, flags=re.IGNORECASE)
    if not before and not anywhere:
        return None
    lines = answer.strip().split("\n")
    line = lines[0 if before else -1].strip(' :*_`"$')
    option = _OPTION.match(line)
    if anywhere and _OPTION.fullmatch(problem.references[0]):
        option = option or _BARE_LETTER.match(line) or (None if before else _only_option(line))
    if option:
        return None if another_letter(line, option.end(1), option[1]) else f"({option[1]})"
    return line.rstrip(".").rstrip('*_`"$') or None


def _only_option(line: str) -> re.Match[str] | None:
    """The option in brackets, if the line has one alone."""
    options = list(_OPTION.finditer(line))
    return options[0] if len({option[1] for option in options}) == 1 else None


_MMLU_PRO = (re.compile(r"answer is \(?([A-J])"), re.compile(r"(?:.*)[aA]nswer:\s*([A-J])"))
_STANDS_ALONE = re.compile(r"\b[A-J]\b")


def mmlu_pro_answer(text: str, problem: Problem) -> str | None:
    """The first letter after "answer is", else after "answer:", else the last capital of A to J that stands alone."""
    found = next((match for pattern in _MMLU_PRO if (match := pattern.search(text))), None)
    letters = _STANDS_ALONE.findall(text)[-1:] if found is None else [found[1]]
    return letters[0] if letters else None


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

    `strict` reads only what stands right after 【答案】, and only as many letters as there are questions.
    """
    paper = problem.category or ""
    letters: str | None
    if strict:
        letters = _strictly(paper, _blocks(text), _questions(problem))
    elif "Physics" in paper:
        letters = gaokao_multi_choice(text, problem)
    elif "Cloze" in paper:
        letters = gaokao_five_out_of_seven(text, problem)
    elif _questions(problem) > 1 or any(name in paper for name in _QUESTION_BY_QUESTION):
        letters = gaokao_multi_question_choice(text, problem)
    else:
        letters = gaokao_single_choice(text, problem)
    return ("" if "Physics" in paper else ",").join(letters) if letters else None


def gaokao_single_choice(text: str, problem: Problem) -> str | None:
    """The last capital of A to D: of those right after the last 【答案】, else of the whole reply."""
    letters = re.findall("[A-D]", _last_block(text)) or re.findall("[A-D]", text)
    return letters[-1] if letters else None


def gaokao_multi_question_choice(text: str, problem: Problem) -> str | None:
    """As many letters as there are questions: the first after every 【答案】, else all right after the last one or
    after all of them, if their number is right, else the first capitals of the reply."""
    questions = _questions(problem)
    blocks = _blocks(text)
    for letters in ("".join(_FIRST_OF_BLOCK.findall(text)), _last_block(text), "".join(blocks)):
        if len(letters) == questions:
            return letters
    return "".join(re.findall("[A-Z]", text)[:questions]) or None


def gaokao_multi_choice(text: str, problem: Problem) -> str | None:
    """All letters right after the last 【答案】, else those of the last ten characters that are not blanks."""
    letters = _last_block(text) or "".join(text.split())[-10:]
    return "".join(sorted(set(re.findall("[A-D]", letters)))) or None


def gaokao_five_out_of_seven(text: str, problem: Problem) -> str | None:
    """The first five capitals of A to G: of those right after the last 【答案】, else of the whole reply."""
    return "".join(re.findall("[A-G]", _last_block(text) or text)[:5]) or None


def _questions(problem: Problem) -> int:
    return len(problem.references[0].split(","))


def _blocks(text: str) -> list[str]:
    """The letters after each 【答案】: up to the end of the answer if that is marked, else those right after it."""
    blocks = []
    for answer in text.split(_MARK)[1:]:
        inside, end, _ = answer.partition(_END)
        first = _LETTERS.match(answer)
        blocks.append("".join(_LETTER.findall(inside if end else first[1] if first else "")))
    return [block for block in blocks if block]


def _last_block(text: str) -> str:
    return next(reversed(_blocks(text)), "")


def _strictly(paper: str, blocks: list[str], questions: int) -> str:
    """The last block, or all of them where each has the letter of one question."""
    last = next(reversed(blocks), "")
    if "Physics" in paper:
        return "".join(sorted(set(last) & set("ABCD")))
    if len(blocks) == questions and all(len(block) == 1 for block in blocks):
        return "".join(blocks)
    return last if len(last) == questions else ""


# A reply → a short answer in it: yes or no, some words, or that there is none.


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


EXAM_EXTRACTORS = {
    "bbh_answer": bbh_answer,
    "mmlu_pro_answer": mmlu_pro_answer,
    "gaokao_answer": gaokao_answer,
    "gaokao_single_choice": gaokao_single_choice,
    "gaokao_multi_question_choice": gaokao_multi_question_choice,
    "gaokao_multi_choice": gaokao_multi_choice,
    "gaokao_five_out_of_seven": gaokao_five_out_of_seven,
    "yes_or_no": yes_or_no,
    "short_answer": short_answer,
    "unanswerable": unanswerable,
    "solution_grid": solution_grid,
}
