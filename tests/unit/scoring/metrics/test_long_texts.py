"""LongBench's metrics: values that its own script gives for the same texts."""

import pytest

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.metrics.metric_table import metric


def value(name: str, answer: str, *references: str, **extras: list[str]) -> float:
    row = metric(name)
    problem = Problem(id=0, messages=(), references=references, extras=dict(extras))
    return float(row.score(answer, problem if row.reads == "answers in their problem" else references))


@pytest.mark.parametrize(
    ("answer", "right", "expected"),
    [
        ("The cat sat. On a mat.", "On the mat sat the cat", 0.545454540495868),
        ("a a a. a b", "a b", 0.999999995),
        ("a b. c", "c a b.", 0.999999995),
        (" . a", "a", 0.666666662222222),
        ("", "a", 0.0),
        ("...", "a", 0.0),
        ("c b a", "a b c", 0.333333328333333),
    ],
)
def test_rouge_counts_different_words_of_pairs_of_sentences(answer: str, right: str, expected: float) -> None:
    """A sentence of blanks has one empty word, and repeated words count once."""
    assert value("sentence_rouge_l", answer, right) == pytest.approx(expected, abs=1e-12)


def test_a_sentence_of_two_thousand_words_is_compared_like_any_other() -> None:
    """The package that the script calls ends in a recursion that is too deep."""
    text = " ".join(f"w{number}" for number in range(1000))
    assert value("sentence_rouge_l", text, text) == pytest.approx(1.0, abs=1e-6)


def test_of_several_right_answers_the_best_counts() -> None:
    """For words as for lines."""
    assert value("words_f1", "Maud Carey", "Carey", "the Maud Carey!") == 1.0
    assert value("next_line", "x = 2", "y", "x = 2") == 1.0


def test_only_some_parts_of_the_right_name_are_passed_over() -> None:
    """As in the script, which removes names from the list that it walks through: of B and C, C stays."""
    classes = ["A", "B", "C", "BC", "ABC"]
    assert value("one_class", "ABC", "ABC", all_classes=classes) == 1 / 3
    assert value("one_class", "BC", "BC", all_classes=classes) == 1 / 2
    assert value("one_class", "A", "BC", all_classes=classes) == 0.0


@pytest.mark.parametrize(
    ("answer", "right", "expected"),
    [("```python\nreturn c + a\n```", "return c - a", 0.92), ("# why\nx", "", 0.0), ("`", "", 1.0), ("", "x", 0.0)],
)
def test_lines_are_compared_in_whole_per_cents(answer: str, right: str, expected: float) -> None:
    """11 of 12 letters are 92 %; what is left of an answer without code is an empty line."""
    assert value("next_line", answer, right) == expected


def test_chinese_is_cut_into_words(capfd: pytest.CaptureFixture[str]) -> None:
    """Marks do not count, blanks neither, and the dictionary is read in silence."""
    assert value("words_f1_zh", "公园，散步！", "去 公园 散步") == pytest.approx(0.8)
    assert value("sentence_rouge_l_zh", "我们去公园散步", "我们散步") == pytest.approx(2 / 3)
    assert capfd.readouterr().err == ""
