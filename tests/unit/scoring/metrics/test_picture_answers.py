"""Answers about pictures, against the values that the benchmarks' own rules give."""

from typing import Any

import pytest

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.metrics.exams import as_vqa
from model_accuracy_eval.scoring.metrics.metric_table import METRICS

RELAXED = [
    ("105", "100", 1), ("105.1", "100", 0), ("95", "100", 1), ("-95", "-100", 1), ("-95", "100", 0),
    ("12%", "0.12", 1), ("12.5%", "0.12", 1), ("12", "0.12", 0), ("12", "12%", 0), ("0.1", "0", 0), ("0", "0", 1),
    ("Peru", "peru", 1), ("Peru ", "Peru", 1), ("In Peru", "Peru", 0), ("about 100", "100", 0), ("1,000", "1000", 0),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "right", "value"), RELAXED)
def test_numbers_of_charts_may_be_a_little_off(answer: str, right: str, value: float) -> None:
    """By 5 % of the right one, unless that is 0; per cents are shares; anything else must be the same but for case."""
    assert METRICS["relaxed_number"].score(answer, (right,)) == value


NORMAL = [
    ("The Dog", "dog"), ("two dogs", "2 dogs"), ("none", "0"), ("dont know", "don't know"), ("Yes.", "yes"),
    ("5.5", "5.5"), ("1,000", "1000"), ("red/blue", "red blue"), ("red / blue", "red blue"), ("what?", "what"),
    ("it's an apple", "it's apple"), ("a\nb", "b"), ("well-known", "well known"), ("", ""), ("the a an", ""),
    ("couldve", "could've"), ("3:00 p.m.", "3:00 pm"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "normal"), NORMAL)
def test_answers_are_compared_as_vqa_does(answer: str, normal: str) -> None:
    """Words are left whole; doing it twice changes nothing more."""
    assert as_vqa(answer) == normal
    assert as_vqa(normal) == normal


@pytest.mark.parametrize(("same", "value"), [(0, 0.0), (1, 0.3), (2, 0.6), (3, 0.9), (4, 1.0), (10, 1.0)])
def test_an_answer_is_right_if_three_others_gave_it(same: int, value: float) -> None:
    """Each of the ten people is left out once: 3 · 2/3 + 7 · 1 of ten are 0.9."""
    people = ["Stop"] * same + [f"word{number}" for number in range(10 - same)]
    assert METRICS["vqa_accuracy"].score("the stop", people) == pytest.approx(value)


def test_one_reference_is_right_or_wrong() -> None:
    """Where nobody else was asked."""
    assert METRICS["vqa_accuracy"].score("Yes!", ("yes",)) == 1.0
    assert METRICS["vqa_accuracy"].score("No", ("yes",)) == 0.0


@pytest.mark.parametrize(
    ("dataset", "answer", "right", "value"),
    [
        ("IIIT5K", "It says Centre.", "CENTRE", 1.0),
        ("IIIT5K", "It says center.", "CENTRE", 0.0),
        ("IIIT5K", "Main\nStreet", "main street", 1.0),
        ("HME100k", r"\frac{a}{b}", r"\frac { a } { b }", 1.0),
        ("HME100k", r"\frac{A}{b}", r"\frac { a } { b }", 0.0),
    ],
)
def test_text_in_pictures_has_to_occur(dataset: str, answer: str, right: str, value: float) -> None:
    """Whatever its case, but for formulas."""
    row: dict[str, Any] = {"dataset": dataset}
    problem = Problem(id=0, messages=(), references=(right,), extras=row)
    assert METRICS["ocrbench"].score(answer, problem) == value


def test_similar_answers_of_documents_count_in_part() -> None:
    """The best of the right answers, whatever case and blanks; nothing below one half."""
    anls = METRICS["anls"].score
    assert anls("8  January\n1993", ("1/8/93", "8 january 1993")) == 1.0
    assert anls("abcd", ("abcx",)) == 0.75
    assert anls("abcd", ("abxy",)) == 0.5
    assert anls("abcd", ("axyz",)) == 0.0
