"""Replies to exam questions → answers, as BIG-Bench Hard and GAOKAO-Bench read them."""

import re

from model_accuracy_eval.records import Problem

_BRACKETED = re.compile(r"\([A-Z]\)")
_MARK = "【答案】"


def bbh_answer(text: str, problem: Problem) -> str | None:
    """What follows the last "the answer is" on its line, without a final period; of "(B) because …" the (B)."""
    *before, said = re.split(r"answer is", text, flags=re.IGNORECASE)
    if not before:
        return None
    said = said.strip().split("\n")[0].strip(' :*_`"$')
    option = _BRACKETED.match(said)
    return option[0] if option else said.rstrip(".").rstrip('*_`"$') or None


def gaokao_answer(text: str, problem: Problem) -> str | None:
    """The letters of a reply, of several questions with commas between them; how they are read depends on the paper."""
    paper, questions = problem.category or "", len(problem.references[0].split(","))
    if "Physics" in paper:
        return gaokao_multi_choice(text, problem)
    if "Cloze" in paper:
        found = gaokao_five_out_of_seven(text, problem)
    elif questions > 1:
        found = gaokao_multi_question_choice(text, problem)
    else:
        return gaokao_single_choice(text, problem)
    return ",".join(found) if found else None


def gaokao_single_choice(text: str, problem: Problem) -> str | None:
    """The last capital of A to D."""
    found = re.findall("[A-D]", text)
    return found[-1] if found else None


def gaokao_multi_question_choice(text: str, problem: Problem) -> str | None:
    """As many letters as there are questions: those behind the marks, if they are so many, else the first ones."""
    questions = len(problem.references[0].split(","))
    marked = "".join(re.findall("[A-D]", "".join(text.split(_MARK)[1:])))
    if len(marked) == questions:
        return marked
    return "".join(re.findall("[A-D]", text)[:questions]) or None


def gaokao_multi_choice(text: str, problem: Problem) -> str | None:
    """All letters behind the first mark, else those of the last ten characters."""
    _, mark, behind = text.partition(_MARK)
    return "".join(sorted(set(re.findall("[A-D]", behind if mark else text[-10:])))) or None


def gaokao_five_out_of_seven(text: str, problem: Problem) -> str | None:
    """The first five capitals of A to G: behind the last mark, where there is one."""
    return "".join(re.findall("[A-G]", text.rpartition(_MARK)[2])[:5]) or None


EXAM_EXTRACTORS = {
    "bbh_answer": bbh_answer,
    "gaokao_answer": gaokao_answer,
    "gaokao_single_choice": gaokao_single_choice,
    "gaokao_multi_question_choice": gaokao_multi_question_choice,
    "gaokao_multi_choice": gaokao_multi_choice,
    "gaokao_five_out_of_seven": gaokao_five_out_of_seven,
}
