"""Replies as the makers of BIG-Bench Hard, MMLU-Pro and GAOKAO-Bench read them, and the points for exams."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.answers.published_readings import VIEWS
from model_accuracy_eval.scoring.metrics.exams import exam_points


def read(step: str, text: str, reference: str = "A", paper: str = "", **args: bool) -> str | None:
    problem = Problem(id=0, messages=(), references=(reference,), category=paper)
    return VIEWS[step](text, problem, **args)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("So the answer is (B).\n\nQ", "(B)"),
        ("First the answer is (A). No: the answer is (C) because of the rain.", "(C)"),
        ("So the answer is **valid**.", "valid"),
        ("The answer is: True", "True"),
        ("So the answer is ] ] ) }.", "] ] ) }"),
        ("First rain.\nI do not know.", None),
        (" (B)", "(B)"),
        ("valid.", "valid"),
        ("So the answer is (A) or (B).", None),
        ("So the answer is (A)/(B)", None),
        ("So the answer is (B), because (A) and (C) are wrong.", "(B)"),
    ],
)
def test_u11_bbh_reads_what_follows_the_answer_is(text: str, answer: str | None) -> None:
    """The last one counts, its final period does not; a reply of one line is the answer, as in its direct form."""
    assert read("bbh_answer", text) == answer


@pytest.mark.parametrize(
    ("text", "reference", "answer"),
    [
        ("So the answer is (A) or (B).", "(A)", None),
        ("(B)", "(A)", "(B)"),
        ("Rain.\n\nAnswer: (B)", "(A)", "(B)"),
        ("**Answer:** B", "(A)", "(B)"),
        ("The answer is **B**", "(A)", "(B)"),
        ("The answer is: B) rain", "(A)", "(B)"),
        ("So the answer is (Q).", "(A)", "(Q)"),
        ("First rain, then snow.\nThe right one is (B).", "(A)", "(B)"),
        ("It is (A) or it is (B).", "(A)", None),
        ("Thus\n\nvalid.", "invalid", "valid"),
        ("", "A", None),
    ],
)
def test_bbh_reads_other_words_where_they_are_wanted(text: str, reference: str, answer: str | None) -> None:
    """As in all other tasks, and its last line if it is short; a bare letter is as good as one in brackets where an
    option is wanted."""
    assert read("bbh_answer", text, reference, anywhere=True) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The answer is (B). Wait, the answer is (C).", "B"),
        ("The answer is B or C", "B"),
        ("A? No.\nAnswer: C, then answer: D", "D"),
        ("It is C, I think: D", "D"),
        ("nothing", None),
    ],
)
def test_mmlu_pro_is_read_as_it_was_published(text: str, answer: str | None) -> None:
    """The first letter after "answer is", else after "answer:", else the last that stands alone."""
    assert read("mmlu_pro_answer", text) == answer


ENGLISH, CHINESE = "2010-2022_English_Reading_Comp", "2010-2022_Chinese_Lang_and_Usage_MCQs"
PHYSICS, HISTORY, CLOZE = "2010-2022_Physics_MCQs", "2010-2022_History_MCQs", "2012-2022_English_Cloze_Test"


@pytest.mark.parametrize(
    ("paper", "reference", "text", "published", "strict"),
    [
        # each paper is read in its own way, and answers of several questions get commas
        (PHYSICS, "AC", "先看A。【答案】CA", "AC", "AC"),
        (PHYSICS, "BD", "AB都不对，所以选的是 B、D 两项", "BD", None),
        (HISTORY, "C", "选A吧 答案是C。", "C", None),
        (ENGLISH, "A,B", "【答案】A 【答案】：B", "A,B", "A,B"),
        (ENGLISH, "A,B", "1. C 2. D 3. A", "C,D", None),
        (ENGLISH, "A,B", "【答案】A", "A", None),
        (CLOZE, "A,B,G,C,D", "ABGXCDEF", "A,B,G,C,D", None),
        (CLOZE, "E,G,B,A,C", "A Good Dog. 【答案】EGBAC", "E,G,B,A,C", "E,G,B,A,C"),
        (CLOZE, "E,G,B,A,C", "【答案】EGBAC", "E,G,B,A,C", "E,G,B,A,C"),
        (ENGLISH, "A,B,C,D", "【答案】A B C D", "A,B,C,D", "A,B,C,D"),
        (HISTORY, "D", "【答案】D", "D", "D"),
        # what stands right after 【答案】 is the answer; letters of explanations do not count
        (HISTORY, "B", "【答案】B。解析：A项错误，D项不符合题意。", "B", "B"),
        (PHYSICS, "AC", "【答案】A、C。B错误，D错误", "AC", "AC"),
        (CLOZE, "E,G,B,A,C", "【答案】EGBAC 因为 A 说的是 D", "E,G,B,A,C", "E,G,B,A,C"),
        (ENGLISH, "A,B", "（1）【答案】A 解析：C错。（2）【答案】B 解析：D错。", "A,B", "A,B"),
        (ENGLISH, "A,B", "John said that C is no answer. Therefore D.\n【答案】A B", "A,B", "A,B"),
        (ENGLISH, "A,B,C", "【答案】\nA\nB\nC", "A,B,C", "A,B,C"),
        (CHINESE, "A", "【答案】A\n解析：B错", "A", "A"),
        # forms that the script reads in its own way
        (HISTORY, "A", "【答案】A. ①② B. ①③ C. ②④ D. ③④ <eoa>", "D", None),
        (HISTORY, "A", "所以选 A", "A", None),
        (CHINESE, "A", "D项错。【答案】: A、B、C <eoa>", "A", None),
        (CHINESE, "A", "【答案】: A，C <eoa>", "A", None),
        (
            ENGLISH,
            "B,C,A",
            "56. 【答案】The passage does not say. <eoa>\n57. 【答案】 C <eoa>\n58. 【答案】 A <eoa>",
            "T,C,A",
            None,
        ),
        (
            ENGLISH,
            "A,B,C,D",
            "48. 【答案】 A <eoa>\n49. The text.\n50. The text.\n51. 【答案】 D <eoa>",
            "A,T,T,D",
            None,
        ),
    ],
)
def test_gaokao_papers_are_read_in_their_own_way(
    paper: str, reference: str, text: str, published: str, strict: str | None
) -> None:
    """As published, where the paper says which way; and strictly, what stands right after 【答案】 alone."""
    assert read("gaokao_answer", text, reference, paper) == published
    assert read("gaokao_answer", text, reference, paper, strict=True) == strict


@given(st.lists(st.sets(st.sampled_from("ABCD"), min_size=1).map(lambda one: "".join(sorted(one))), min_size=1))
def test_all_points_for_the_right_answers_alone(right: list[str]) -> None:
    """Full marks for the key, fewer for the key with one question spoilt."""
    key = ",".join(right)
    assert exam_points(key, [key]) == 1.0
    spoilt = ["E", *right[1:]]
    assert exam_points(",".join(spoilt), [key]) == pytest.approx(1 - 1 / len(right))
