"""Replies to exam questions → answers, as BIG-Bench Hard and GAOKAO-Bench read them."""

import re

from model_accuracy_eval.records import Problem

_BRACKETED = re.compile(r"\([A-Z]\)")
_MARK = "【答案】"


def bbh_answer(text: str, problem: Problem) -> str | None:
    """What follows the last "answer is" on its line, without a final period; only the (B) of "(B) because …"."""
    *before, answer = re.split(r"answer is", text, flags=re.IGNORECASE)
    if not before:
        return None
    answer = answer.strip().split("\n")[0].strip(' :*_`"$')
    option = _BRACKETED.match(answer)
    return option[0] if option else answer.rstrip(".").rstrip('*_`"$') or None


def gaokao_answer(text: str, problem: Problem) -> str | None:
    """The letters in a reply, with commas between several questions; the exam paper decides how to read them."""
    paper, questions = problem.category or "", len(problem.references[0].split(","))
    if "Physics" in paper:
        return gaokao_multi_choice(text, problem)
    if "Cloze" in paper:
        letters = gaokao_five_out_of_seven(text, problem)
    elif questions > 1:
        letters = gaokao_multi_question_choice(text, problem)
    else:
        return gaokao_single_choice(text, problem)
    return ",".join(letters) if letters else None


def gaokao_single_choice(text: str, problem: Problem) -> str | None:
    """The last capital of A to D."""
    letters = re.findall("[A-D]", text)
    return letters[-1] if letters else None


def gaokao_multi_question_choice(text: str, problem: Problem) -> str | None:
    """As many letters as there are questions: those after 【答案】 if their number is right, else the first ones."""
    questions = len(problem.references[0].split(","))
    marked = "".join(re.findall("[A-D]", "".join(text.split(_MARK)[1:])))
    if len(marked) == questions:
        return marked
    return "".join(re.findall("[A-D]", text)[:questions]) or None


def gaokao_multi_choice(text: str, problem: Problem) -> str | None:
    """All letters after the first 【答案】, else those of the last ten characters."""
    _, mark, rest = text.partition(_MARK)
    return "".join(sorted(set(re.findall("[A-D]", rest if mark else text[-10:])))) or None


def gaokao_five_out_of_seven(text: str, problem: Problem) -> str | None:
    """The first five capitals of A to G, after the last 【答案】 if there is one."""
    return "".join(re.findall("[A-G]", text.rpartition(_MARK)[2])[:5]) or None


EXAM_EXTRACTORS = {
    "bbh_answer": bbh_answer,
    "gaokao_answer": gaokao_answer,
    "gaokao_single_choice": gaokao_single_choice,
    "gaokao_multi_question_choice": gaokao_multi_question_choice,
    "gaokao_multi_choice": gaokao_multi_choice,
    "gaokao_five_out_of_seven": gaokao_five_out_of_seven,
}
