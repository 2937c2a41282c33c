"""Metrics that have no file of their own: an example of each, and a case in which a likely mistake would show itself."""

from typing import Any

import pytest

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.records import Opinion, Problem
from model_accuracy_eval.records.code import CaseResult, Execution, ExecutionVerdict
from model_accuracy_eval.scoring.figures.aggregations import aggregation
from model_accuracy_eval.scoring.figures.reductions import reduction
from model_accuracy_eval.scoring.metrics.exams import as_vqa
from model_accuracy_eval.scoring.metrics.metric_table import METRICS, metric

KINDS: dict[str, Any] = {"number": {"kind": "number"}, "text": {"kind": "text"}}
ERROR = {"error": "1e-1"}
ROTATION = {"group": {"name": "7", "rows": 4}}
GRID = {"solution": {"header": ["House", "Name", "Pet"], "rows": [["1", "Ann", "cat"], ["2", "Bo", "dog"]]}}
HALF = '{"House 1": {"Name": "ann", "Pet": "dog"}, "House 2": {"Name": "Bo"}}'
WHOLE = '{"house 1": {"Name": "Ann", "Pet": ["cat"]}, "House 2": {"Pet": "dog", "name": " bo"}}'


@pytest.mark.parametrize(
    ("name", "answer", "right", "value", "extras"),
    [
        ("math_equal", r"x = \frac{1}{2}", ("0.5",), 1, {}), ("math_equal", "1/3", ("0.33",), 0, {}),
        ("contains", "It is Paris.", ("Paris",), 1, {}), ("contains", "It is paris.", ("Paris",), 0, {}),
        ("contains_words", "It is paris.", ("Paris",), 1, {}), ("contains_words", "It is Parisian.", ("Paris",), 0, {}),
        ("contains_all", "It is 12 and AB.", ("12", "ab", "c"), 2 / 3, {}), ("contains_all", "none", ("12",), 0, {}),
        ("equal_in_kind", "1,000.0", ("1000",), 1, KINDS["number"]), ("equal_in_kind", "1,000.0", ("1000",), 0, KINDS["text"]),
        ("own_equal", "**Paris**.", ("Paris",), 1, KINDS["text"]), ("own_equal", "Paris, not Rome", ("Paris",), 0, KINDS["text"]),
        ("math_within", "3.2", ("3.14",), 1, ERROR), ("math_within", "3.25", ("3.14",), 0, ERROR),
        ("word_error_rate", "the cat sat", ("the cat sat down",), 0.25, {}), ("word_error_rate", "a b c", ("a",), 2, {}),
        ("triviaqa_f1", "John Ono Lennon", ("Ringo", "john lennon"), 0.8, {}), ("triviaqa_f1", "", ("the",), 0, {}),
        ("number_share", "Paragraph 5, not 12", ("Paragraph 5",), 0.5, {}), ("number_share", "15", ("5",), 0, {}),
        ("grid_solved", WHOLE, ("",), 1, GRID), ("grid_solved", HALF, ("",), 0, GRID),
        ("grid_cells", HALF, ("",), (2, 4), GRID), ("grid_cells", "", ("",), (0, 4), GRID),
        ("whole_group", "B", ("B",), (1, "7", 4), ROTATION), ("whole_group", "", ("B",), (0, "7", 4), ROTATION),
        ("sentence_bleu", "the cat sat on the mat", ("the cat sat on the mat",), 1, {}), ("sentence_bleu", "", ("the cat",), 0, {}),
        ("sentence_chrf", "the cat sat on the mat", ("the cat sat on the mat",), 1, {}), ("sentence_chrf", "", ("the cat",), 0, {}),
    ],
)  # fmt: skip
def test_answers(name: str, answer: str, right: tuple[str, ...], value: Any, extras: dict[str, Any]) -> None:
    row = metric(name)
    problem = Problem(id=0, messages=(), references=right, extras=extras)
    found = row.score(answer, problem if row.reads == "answers in their problem" else right)
    assert found == pytest.approx(value) if isinstance(value, float | int) else found == value


def ended(verdict: ExecutionVerdict, *cases: ExecutionVerdict, all_cases: int = 0) -> Execution:
    results = tuple(CaseResult(verdict=case) for case in cases)
    return Execution(verdict=verdict, isolation="none", integrity="split", cases=results, all_cases=all_cases)


@pytest.mark.parametrize(
    ("name", "finding", "value"),
    [
        ("judge_no", Opinion(text="No, it declines."), 1), ("judge_no", Opinion(text="Yes."), 0), ("judge_no", Opinion(text="?"), None),
        ("code_eval", ended("passed"), 1), ("code_eval", ended("timeout"), 0), ("code_eval", ended("harness_error"), None),
        ("code_cases", ended("failed", "passed", "failed", all_cases=4), 0.25), ("code_cases", ended("harness_error"), None),
        ("tests_cases", ended("passed", "passed", "passed", all_cases=2), 1), ("tests_cases", ended("error"), 0),
        ("best_of_n", ended("passed"), 1), ("best_of_n", ended("harness_error"), None),
    ],
)  # fmt: skip
def test_findings(name: str, finding: Opinion | Execution, value: float | None) -> None:
    """Unknown is only unknown, and never 0."""
    problem = Problem(id=0, messages=(), references=("right",))
    assert metric(name).score(finding, problem=problem) == value


def test_standard_errors_of_shares() -> None:
    """Of all items together, and of groups, one of which lacks a row."""
    pooled, groups = (
        [((1, 1),), ((0, 3),), ((2, 2),), ((1, 2),)],
        [((1, "a", 1),), ((0, "b", 1),), ((1, "c", 2),), ((1, "c", 2),)],
    )
    assert aggregation("pooled").stderr(pooled) == pytest.approx(0.23775, abs=1e-5)
    assert aggregation("whole_groups").stderr(groups) == pytest.approx(1 / 3)
    assert aggregation("whole_groups").over_runs([*groups, ((1, "d", 2),)]) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("name", "values", "k", "expected"),
    [
        ("runs", [1.0], (1,), {"": 1.0}), ("take_first", [0.0, 1.0, 1.0], (), {"": 0.0}),
        ("runs", [1.0, 0.0, 0.0], (3,), {"": 1 / 3, "avg@3": 1 / 3, "pass@3": 1.0, "cons@3": 0.0}),
        ("pass@k", [1.0, 0.0, 0.0, 1.0, 0.0], (1, 3), {"pass@1": 0.4, "pass@3": 0.9}),
        ("majority", [0.0, 1.0, 1.0], (), {"": 1.0}), ("majority", [0.0, 1.0], (), {"": 0.0}),
    ],
)  # fmt: skip
def test_reductions(name: str, values: list[float], k: tuple[int, ...], expected: dict[str, float]) -> None:
    assert reduction(name)(values, k) == pytest.approx(expected)


def test_only_right_and_wrong_can_be_counted() -> None:
    with pytest.raises(EvalError):
        reduction("pass@k")([0.5, 1.0], (1,))


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
