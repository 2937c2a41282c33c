"""Text → the answer in it: filters that read one reply, each from the text that the filter before it left.

None means "no answer found", which is counted apart from wrong answers.
"""

from collections.abc import Callable, Mapping
from functools import wraps

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.answers.answer_kinds import KINDS
from model_accuracy_eval.scoring.answers.exam_answers import EXAM_EXTRACTORS, GRID_EXTRACTORS, SHORT_ANSWER_EXTRACTORS
from model_accuracy_eval.scoring.answers.maths_answers import last_number, maths_answer, number_answer
from model_accuracy_eval.scoring.answers.stated_letters import choice_letter
from model_accuracy_eval.scoring.answers.ultraeval_answers import POSTPROCESS
from model_accuracy_eval.scoring.code.code_extractors import CODE_EXTRACTORS
from model_accuracy_eval.scoring.filters.lm_eval_filters import (
    first_token,
    format_span,
    multi_choice_regex,
    regex,
    regex_pos,
)

Extractor = Callable[..., str | None]


def strip_thoughts(text: str, problem: Problem) -> str | None:
    """Drops `<think>…</think>`, and everything before a `</think>` whose opening tag was in the prompt's template.

    A thought that was cut off before it closed contains no answer.
    """
    *closed, rest = text.split("</think>")
    answer = ""
    for part in closed:
        before, opening, _ = part.partition("<think>")
        answer = answer + before if opening else ""
    text = answer + rest
    before, opening, _ = text.partition("<think>")
    return before.strip() or None if opening else text


def cut_at(text: str, problem: Problem, *, marks: list[str]) -> str | None:
    """Keeps the text before the first of the marks: a next question that the model invents is not part of the answer.

    A mark at the very start is this question, repeated.
    """
    text = text.lstrip()
    ends = [place for mark in marks if (place := text.find(mark, 1)) >= 0]
    return text[: min(ends)] if ends else text


def stripped(text: str, problem: Problem) -> str | None:
    """The text without blanks around it."""
    return text.strip() or None


def noop(text: str, problem: Problem) -> str | None:
    """The text unchanged."""
    return text


def remove_whitespace(text: str, problem: Problem) -> str | None:
    """The text without blanks around it; an empty text stays a text."""
    return text.strip()


def lowercase(text: str, problem: Problem) -> str | None:
    """The text in small letters."""
    return text.lower()


def uppercase(text: str, problem: Problem) -> str | None:
    """The text in capitals."""
    return text.upper()


def mapped(
    text: str, problem: Problem, *, mapping_dict: Mapping[str, object] | None = None, default_value: object = None
) -> str | None:
    """The entry of a table for this text, else the default; without a default, no answer."""
    value = (mapping_dict or {}).get(text, default_value)
    return None if value is None else str(value)


def answer_in_kind(text: str, problem: Problem) -> str | None:
    """The number, formula, letter or text of the reply: what the row's `kind` says."""
    step = KINDS[problem.extras["kind"]].filter
    return EXTRACTORS[step.name](text, problem, **step.args)


def _postprocess(function: Callable[[str], str | None]) -> Extractor:
    """UltraEval returns an empty text where there is no answer."""

    @wraps(function)
    def extractor(text: str, problem: Problem) -> str | None:
        return function(text) or None

    return extractor


ULTRAEVAL_EXTRACTORS = {name: _postprocess(function) for name, function in POSTPROCESS.items()}

EXTRACTORS: dict[str, Extractor] = {
    "strip_thoughts": strip_thoughts,
    "cut_at": cut_at,
    "regex": regex,
    "multi_choice_regex": multi_choice_regex,
    "format_span": format_span,
    "regex_pos": regex_pos,
    "last_number": last_number,
    "number_answer": number_answer,
    "maths_answer": maths_answer,
    "choice_letter": choice_letter,
    "answer_in_kind": answer_in_kind,
    "first_token": first_token,
    "stripped": stripped,
    "remove_whitespace": remove_whitespace,
    "lowercase": lowercase,
    "uppercase": uppercase,
    "map": mapped,
    "noop": noop,
    **EXAM_EXTRACTORS,
    **GRID_EXTRACTORS,
    **SHORT_ANSWER_EXTRACTORS,
    **ULTRAEVAL_EXTRACTORS,
    **CODE_EXTRACTORS,
}
