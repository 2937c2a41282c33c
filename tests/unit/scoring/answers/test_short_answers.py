"""Short answers in replies: yes and no, words of a passage, and that there is none."""

import pytest

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.filters.filters import EXTRACTORS

PROBLEM = Problem(id=0, messages=(), references=("x",))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("ANSWER: yes", "yes"),
        ("Yes, there is no doubt of it.", "yes"),
        ("No. The answer to the first part is yes, but\nANSWER: **No**", "no"),
        ("We see that it is so.\n\nYes", "yes"),
        ("The answer is \\boxed{\\text{no}}.", "no"),
        ("The passage says nothing.", None),
        ("There is no bridge.", None),
        ("I know it: noble", None),
        ("Answer: not at all", None),
    ],
)
def test_yes_and_no_are_what_is_stated(text: str, word: str | None) -> None:
    """A "no" inside a sentence states nothing."""
    assert EXTRACTORS["yes_or_no"](text, PROBLEM) == word


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Paris.", "Paris"),
        ("It is clear.\nAnswer: the Seine\nbecause it is.", "the Seine"),
        ("First answer: x\nThe answer is **Rome**.", "Rome"),
        ("5.0", "5.0"),
        ("  \n ", None),
        ("Answer:", None),
    ],
)
def test_a_short_answer_is_what_follows_the_last_mark(text: str, answer: str | None) -> None:
    """Or the first line of the reply."""
    assert EXTRACTORS["short_answer"](text, PROBLEM) == answer


def test_several_answers_are_lines() -> None:
    """Where the benchmark has several."""
    assert EXTRACTORS["short_answer"]("So.\nAnswer: Baker\n\nCole.", PROBLEM, lines=True) == "Baker\nCole"


def test_that_there_is_no_answer_may_be_said_in_a_sentence() -> None:
    """Anything else stays an answer."""
    assert EXTRACTORS["unanswerable"]("The question is unanswerable.", PROBLEM) == "unanswerable"
    assert EXTRACTORS["unanswerable"]("in 1820", PROBLEM) == "in 1820"
