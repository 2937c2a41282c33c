"""Metrics that have no file of their own: an example of each,
and a case in which a likely mistake would show itself."""

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
OPTIONS = {"question": "Which?"}
SCENE, FORMULA = {"dataset": "IIIT5K"}, {"dataset": "HME100k"}
CLASSES = {"all_classes": ["A", "B", "C", "BC", "ABC"]}
DROP = [
    ("4", ("4", "4 points"), 1, 1), ("4 points", ("4",), 0, 0.67), ("12 yards", ("12-yard",), 0, 0.5),
    ("the Lions", ("Lions",), 1, 1), ("Cole\nBaker", ("Baker\nCole",), 1, 1), ("Baker", ("Baker\nCole",), 0, 0.5),
    ("Baker, Cole", ("Baker\nCole",), 0, 0.33), ("Cole\nCole", ("Baker\nCole",), 0, 0.5), ("x", (" ",), 0, 0),
    ("15 points", ("14 points",), 0, 0), ("3 May 1808", ("3 May 1808",), 1, 1), ("1,200", ("1200",), 1, 1),
]  # fmt: skip
RELAXED = [
    ("105", "100", 1), ("105.1", "100", 0), ("95", "100", 1), ("-95", "-100", 1), ("-95", "100", 0),
    ("12%", "0.12", 1), ("12.5%", "0.12", 1), ("12", "0.12", 0), ("12", "12%", 0), ("0.1", "0", 0), ("0", "0", 1),
    ("Peru", "peru", 1), ("Peru ", "Peru", 1), ("In Peru", "Peru", 0), ("about 100", "100", 0), ("1,000", "1000", 0),
]  # fmt: skip
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
        ("equal_in_kind", "1,000.0", ("1000",), 1, KINDS["number"]),
        ("equal_in_kind", "1,000.0", ("1000",), 0, KINDS["text"]),
        ("own_equal", "**Paris**.", ("Paris",), 1, KINDS["text"]),
        ("own_equal", "Paris, not Rome", ("Paris",), 0, KINDS["text"]),
        ("math_within", "3.2", ("3.14",), 1, ERROR), ("math_within", "3.25", ("3.14",), 0, ERROR),
        ("word_error_rate", "the cat sat", ("the cat sat down",), 0.25, {}),
        ("word_error_rate", "a b c", ("a",), 2, {}),
        ("triviaqa_f1", "John Ono Lennon", ("Ringo", "john lennon"), 0.8, {}), ("triviaqa_f1", "", ("the",), 0, {}),
        ("number_share", "Paragraph 5, not 12", ("Paragraph 5",), 0.5, {}), ("number_share", "15", ("5",), 0, {}),
        ("grid_solved", WHOLE, ("",), 1, GRID), ("grid_solved", HALF, ("",), 0, GRID),
        ("grid_cells", HALF, ("",), (2, 4), GRID), ("grid_cells", "", ("",), (0, 4), GRID),
        ("whole_group", "B", ("B",), (1, "7", 4), ROTATION), ("whole_group", "", ("B",), (0, "7", 4), ROTATION),
        ("sentence_bleu", "the cat sat on the mat", ("the cat sat on the mat",), 1, {}),
        ("sentence_bleu", "", ("the cat",), 0, {}),
        ("sentence_chrf", "the cat sat on the mat", ("the cat sat on the mat",), 1, {}),
        ("sentence_chrf", "", ("the cat",), 0, {}),
        # equal values are equal, neighbours are not, and what is no number equals nothing
        *(("number", said, (right,), 1, {}) for said, right in
          [("1234.0", "1,234"), ("-$5", "-5"), ("−5", "-5"), ("0.1", "0.10")]),
        *(("number", said, (right,), 0, {}) for said, right in
          [("000", "1000"), ("5", "-5"), ("10000000000000000001", "10000000000000000000"), ("many", "12"),
           ("0.30000000000000004", "0.3"), ("nan", "nan"), ("", "0")]),
        # numbers of charts may be off by 5 % of the right one, unless that is 0; per cents are shares
        *(("relaxed_number", said, (right,), value, {}) for said, right, value in RELAXED),
        # text in pictures has to occur, whatever its case, but for formulas
        ("ocrbench", "It says Centre.", ("CENTRE",), 1, SCENE), ("ocrbench", "It says center.", ("CENTRE",), 0, SCENE),
        ("ocrbench", "Main\nStreet", ("main street",), 1, SCENE),
        ("ocrbench", r"\frac{a}{b}", (r"\frac { a } { b }",), 1, FORMULA),
        ("ocrbench", r"\frac{A}{b}", (r"\frac { a } { b }",), 0, FORMULA),
        # the best of the right answers, whatever case and blanks; nothing below one half
        ("anls", "8  January\n1993", ("1/8/93", "8 january 1993"), 1, {}), ("anls", "abcd", ("abcx",), 0.75, {}),
        ("anls", "abcd", ("abxy",), 0.5, {}), ("anls", "abcd", ("axyz",), 0, {}),
        # where nobody else was asked, one person's answer is right
        ("vqa_accuracy", "Yes!", ("yes",), 1, {}), ("vqa_accuracy", "No", ("yes",), 0, {}),
        # U16: right, half right, wrong; another number of answers than of questions is worth nothing
        ("exam_points", "A,B,D", ("A,B,C",), 2 / 3, {}), ("exam_points", "A", ("AC",), 0.5, {}),
        ("exam_points", "CA", ("AC",), 1, {}), ("exam_points", "AB", ("AC",), 0, {}),
        ("exam_points", "", ("AC",), 0, {}), ("exam_points", "A,B", ("A,B,C",), 0, {}),
        # as the package rouge-score computes them, without stemming
        *((name, "the cat is on the mat", ("the cat sat on the mat",), value, {})
          for name, value in (("rouge1", 5 / 6), ("rouge2", 0.6), ("rougeL", 5 / 6))),
        *((name, "A dog is in the park.", ("there is a dog in the park",), value, {})
          for name, value in (("rouge1", 12 / 13), ("rouge2", 6 / 11), ("rougeL", 10 / 13))),
        *((name, "one two three", ("three two one",), value, {})
          for name, value in (("rouge1", 1), ("rouge2", 0), ("rougeL", 1 / 3))),
        # what UltraEval's figures are made of
        ("prefix_match", "Apple", ("A",), 1, {}), ("prefix_match", "A", ("Apple",), 0, {}),
        ("in_match", "Yes", ("yes", "true"), 1, {}),
        ("in_match", "Yes", ("Yes",), 0, {}), ("f1_score", "the cat", ("the cat sat",), 0.8, {}),
        *(("qa_match", said, ("(B)",), 1, OPTIONS) for said in ("(B)", "B.", "B", "I say B", "blue it is",
         "Which? blue")),
        *(("qa_match", said, ("(B)",), 0, OPTIONS) for said in ("answer:B", "(A)", "red", "(B", "B)", "()")),
        ("gaokaobench_match", "ABD", ("ABC",), 2 / 3, {}), ("gaokaobench_match", "A[SEP]ABD", ("ABC",), 2 / 3, {}),
        ("gaokaobench_match", "ABC[SEP]D", ("ABC",), 1, {}), ("gaokaobench_match", "", ("ABC",), 0, {}),
        ("rouge", "我爱北京", ("我爱上海",), 0.5, {}),
        # SQuAD forgets case, articles and punctuation; without anything to say, saying nothing is right
        ("squad", "The Cat!", ("a cat",), {"em": 1, "f1": 1}, {}),
        ("squad", "big cat", ("cat",), {"em": 0, "f1": 2 / 3}, {}),
        ("squad_f1", "", ("",), 1, {}), ("squad_f1", "something", ("",), 0, {}),
        # DROP by its official rules: words as sets, numbers have to be there, two decimals
        *(("drop_em", said, right, em, {}) for said, right, em, _ in DROP),
        *(("drop_f1", said, right, f1, {}) for said, right, _, f1 in DROP),
        # TriviaQA: underscores and quotation marks are blanks
        ("triviaqa_em", "‘The_Beatles’", ("fab four", "Beatles"), 1, {}),
        ("triviaqa_em", "Beatles band", ("Beatles",), 0, {}),
        # LongBench: different words of pairs of sentences; one of blanks has an empty word, and repeated words count once
        ("sentence_rouge_l", "The cat sat. On a mat.", ("On the mat sat the cat",), 0.545454540495868, {}),
        ("sentence_rouge_l", "a a a. a b", ("a b",), 0.999999995, {}),
        ("sentence_rouge_l", "a b. c", ("c a b.",), 0.999999995, {}),
        ("sentence_rouge_l", " . a", ("a",), 0.666666662222222, {}), ("sentence_rouge_l", "", ("a",), 0, {}),
        ("sentence_rouge_l", "...", ("a",), 0, {}), ("sentence_rouge_l", "c b a", ("a b c",), 0.333333328333333, {}),
        ("words_f1", "Maud Carey", ("Carey", "the Maud Carey!"), 1, {}), ("next_line", "x = 2", ("y", "x = 2"), 1, {}),
        # as in its script, which removes names from the list that it walks through: of B and C, C stays
        ("one_class", "ABC", ("ABC",), 1 / 3, CLASSES), ("one_class", "BC", ("BC",), 1 / 2, CLASSES),
        ("one_class", "A", ("BC",), 0, CLASSES),
        # 11 of 12 letters are 92 %; what is left of an answer without code is an empty line
        ("next_line", "```python\nreturn c + a\n```", ("return c - a",), 0.92, {}),
        ("next_line", "# why\nx", ("",), 0, {}),
        ("next_line", "`", ("",), 1, {}), ("next_line", "", ("x",), 0, {}),
    ],
)  # fmt: skip
def test_answers(name: str, answer: str, right: tuple[str, ...], value: Any, extras: dict[str, Any]) -> None:
    row = metric(name)
    problem = Problem(id=0, messages=(), references=right, choices=("red", "blue"), gold=(1,), extras=extras)
    found = row.score(answer, problem if row.reads == "answers in their problem" else right)
    assert found == (value if isinstance(value, tuple) else pytest.approx(value, abs=1e-12))


@pytest.mark.parametrize(
    ("name", "answer", "right", "args", "value"),
    [
        # case and blanks count, each until its switch is set
        ("exact", "Paris", "paris", {}, 0), ("exact", "Paris", "paris", {"ignore_case": True}, 1),
        ("exact", "straße", "STRASSE", {"ignore_case": True}, 1), ("exact", "New  York", "New York", {}, 0),
        ("exact", " New \n York", "New York", {"ignore_blanks": True}, 1),
        # patterns go first, then case, punctuation and digits, as in lm-eval
        ("exact_match", "A.", "a", {}, 0),
        ("exact_match", "A.", "a", {"ignore_case": True, "ignore_punctuation": True}, 1),
        ("exact_match", "$1,234", "1234", {"regexes_to_ignore": [",", r"\$"]}, 1),
        ("exact_match", "The A", "a", {"regexes_to_ignore": ["the "], "ignore_case": True}, 0),
        ("exact_match", "x1y2", "xy", {"ignore_numbers": True}, 1),
        ("exact_match", "Par is", "Paris", {"ignore_spaces": True}, 1),
        ("rouge", "a b c d", "a c", {"n_gram": "l", "index": "recall"}, 1),
        ("rouge", "a b c d", "a c", {"n_gram": "l", "index": "precision"}, 0.5),
    ],
)  # fmt: skip
def test_arguments(name: str, answer: str, right: str, args: dict[str, Any], value: float) -> None:
    assert metric(name).score(answer, (right,), **args) == value


def ended(verdict: ExecutionVerdict, *cases: ExecutionVerdict, all_cases: int = 0) -> Execution:
    results = tuple(CaseResult(verdict=case) for case in cases)
    return Execution(verdict=verdict, isolation="none", integrity="split", cases=results, all_cases=all_cases)


@pytest.mark.parametrize(
    ("name", "finding", "value"),
    [
        ("judge_no", Opinion(text="No, it declines."), 1), ("judge_no", Opinion(text="Yes."), 0),
        ("judge_no", Opinion(text="?"), None),
        ("code_eval", ended("passed"), 1), ("code_eval", ended("timeout"), 0),
        ("code_eval", ended("harness_error"), None),
        ("code_cases", ended("failed", "passed", "failed", all_cases=4), 0.25),
        ("code_cases", ended("harness_error"), None),
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
