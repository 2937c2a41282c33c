"""Replies to exam questions, as BIG-Bench Hard and GAOKAO-Bench read them, and the points for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.exam_answers import EXAM_EXTRACTORS
from model_accuracy_eval.scoring.metrics.exams import exam_points


def read(step: str, text: str, reference: str = "A", paper: str = "") -> str | None:
    problem = Problem(id=0, messages=(), references=(reference,), category=paper)
    return EXAM_EXTRACTORS[step](text, problem)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("So the answer is (B).\n\nQ", "(B)"),
        ("First the answer is (A). No: the answer is (C) because of the rain.", "(C)"),
        ("So the answer is **valid**.", "valid"),
        ("So the answer is **valid.**", "valid"),
        ("The answer is: True", "True"),
        ("So the answer is -12.", "-12"),
        ("So the answer is ] ] ) }.", "] ] ) }"),
        ("I do not know.", None),
        ("So the answer is", None),
    ],
)
def test_u11_bbh_reads_what_follows_the_answer_is(text: str, answer: str | None) -> None:
    """The last one counts, its final period does not."""
    assert read("bbh_answer", text) == answer


@pytest.mark.parametrize(
    ("step", "text", "reference", "answer"),
    [
        ("gaokao_single_choice", "选A吧 答案是C。", "C", "C"),
        ("gaokao_single_choice", "不知道", "C", None),
        ("gaokao_multi_choice", "【答案】AC", "AC", "AC"),
        ("gaokao_multi_choice", "先看A。【答案】CA", "AC", "AC"),
        ("gaokao_multi_choice", "AB都不对，所以选的是 B、D 两项", "BD", "BD"),
        ("gaokao_multi_question_choice", "【答案】A 【答案】：B", "A,B", "AB"),
        ("gaokao_multi_question_choice", "1. C 2. D 3. A", "A,B", "CD"),
        ("gaokao_multi_question_choice", "【答案】A", "A,B", "A"),
        ("gaokao_five_out_of_seven", "ABGXCDEF", "A,B,G,C,D", "ABGCD"),
        ("gaokao_five_out_of_seven", "A Good Dog. 【答案】EGBAC", "E,G,B,A,C", "EGBAC"),
    ],
)
def test_u11_gaokao_reads_each_kind_of_question(step: str, text: str, reference: str, answer: str | None) -> None:
    """One letter, several, one a question, and five of seven."""
    assert read(step, text, reference) == answer


@pytest.mark.parametrize(
    ("paper", "reference", "text", "answer"),
    [
        ("2010-2022_Physics_MCQs", "AC", "【答案】AC", "AC"),
        ("2012-2022_English_Cloze_Test", "E,G,B,A,C", "【答案】EGBAC", "E,G,B,A,C"),
        ("2010-2022_English_Reading_Comp", "A,B,C,D", "【答案】A B C D", "A,B,C,D"),
        ("2010-2022_History_MCQs", "D", "【答案】D", "D"),
    ],
)
def test_gaokao_papers_are_read_in_their_own_way(paper: str, reference: str, text: str, answer: str) -> None:
    """The paper says which, and answers of several questions get commas."""
    assert read("gaokao_answer", text, reference, paper) == answer


@pytest.mark.parametrize(
    ("said", "right", "points"),
    [
        ("A,B,D", "A,B,C", 2 / 3),
        ("A", "AC", 0.5),
        ("CA", "AC", 1.0),
        ("AB", "AC", 0.0),
        ("ABC", "AC", 0.0),
        ("", "AC", 0.0),
        ("A,B", "A,B,C", 0.0),
        ("B", "A", 0.0),
    ],
)
def test_u16_points_are_given_question_by_question(said: str, right: str, points: float) -> None:
    """Right, half right, wrong; another number of answers than of questions is worth nothing."""
    assert exam_points(said, [right]) == pytest.approx(points)


@given(st.lists(st.sets(st.sampled_from("ABCD"), min_size=1).map(lambda one: "".join(sorted(one))), min_size=1))
def test_all_points_for_the_right_answers_alone(right: list[str]) -> None:
    """Full marks for the key, fewer for the key with one question spoilt."""
    key = ",".join(right)
    assert exam_points(key, [key]) == 1.0
    spoilt = ["E", *right[1:]]
    assert exam_points(",".join(spoilt), [key]) == pytest.approx(1 - 1 / len(right))
