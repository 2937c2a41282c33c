"""Metrics of answers that are texts: worked examples, properties, and oracles that count in another way."""

from functools import cache
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.metrics import texts
from model_accuracy_eval.scoring.metrics.metric_table import metric
from model_accuracy_eval.scoring.metrics.texts import drop_em, drop_f1, edit_distance, triviaqa_em

WORDS = st.lists(st.sampled_from("abc"), max_size=6)


def score(name: str, answer: str, *references: str, **args: object) -> float:
    return float(metric(name).score(answer, references, **args))


def marked(name: str, answer: str, right: str, choices: tuple[str, ...] = (), gold: int = 0, **extras: object) -> float:
    asked = Problem(id=0, messages=(), references=(right,), choices=choices, gold=(gold,), extras=extras)
    return float(metric(name).score(answer, asked))


def test_l23_exact_match_ignores_in_lm_evals_order() -> None:
    """Patterns go first, then case, punctuation and digits."""
    assert score("exact_match", "A.", "a") == 0
    assert score("exact_match", "A.", "a", ignore_case=True, ignore_punctuation=True) == 1
    assert score("exact_match", "$1,234", "1234", regexes_to_ignore=[",", r"\$"]) == 1
    assert score("exact_match", "The A", "a", regexes_to_ignore=["the "], ignore_case=True) == 0
    assert score("exact_match", "x1y2", "xy", ignore_numbers=True) == 1


@given(st.text(max_size=12), st.lists(st.text(max_size=12), min_size=1, max_size=3), st.booleans(), st.booleans())
def test_l23_any_of_several_right_answers_is_right(
    answer: str, references: list[str], case: bool, punctuation: bool
) -> None:
    """Several right answers are right as soon as one of them alone is."""
    args = {"ignore_case": case, "ignore_punctuation": punctuation}
    alone = [score("exact_match", answer, one, **args) for one in references]
    assert score("exact_match", answer, *references, **args) == max(alone)
    assert score("exact_match", answer, answer, **args) == 1


def test_u12_matches_of_ultraeval() -> None:
    """Beginning, containment in a list, equality without spaces, and words in common."""
    assert score("prefix_match", "Apple", "A") == 1
    assert score("prefix_match", "A", "Apple") == 0
    assert score("in_match", "Yes", "yes", "true") == 1
    assert score("in_match", "Yes", "Yes") == 0
    assert score("exact_match", "Par is", "Paris", ignore_spaces=True) == 1
    assert score("f1_score", "the cat", "the cat sat") == pytest.approx(0.8)


def test_u15_qa_match_wants_a_letter_alone_or_the_wording_in_front() -> None:
    """A letter that clings to a word is none; the question may be said again."""
    options, question = ("red", "blue"), "Which?"
    for reply in ("(B)", "B.", "B", "I say B", "blue it is", "Which? blue"):
        assert marked("qa_match", reply, "(B)", options, 1, question=question) == 1, reply
    for reply in ("answer:B", "(A)", "red", "(B"):
        assert marked("qa_match", reply, "(B)", options, 1, question=question) == 0, reply


def test_u16_gaokaobench_gives_part_of_the_points() -> None:
    """Letter by letter at its place; of two readings the one of the right length."""
    assert marked("gaokaobench_match", "ABD", "ABC") == pytest.approx(2 / 3)
    assert marked("gaokaobench_match", "A[SEP]ABD", "ABC") == pytest.approx(2 / 3)
    assert marked("gaokaobench_match", "ABC[SEP]D", "ABC") == 1
    assert marked("gaokaobench_match", "", "ABC") == 0


@given(st.text("ab c", max_size=7), st.text("ab c", max_size=7))
def test_edits_are_the_fewest(one: str, other: str) -> None:
    """Against the recursion that tries all three edits at every place."""

    @cache
    def fewest(left: int, right: int) -> int:
        if not left or not right:
            return left + right
        same = one[left - 1] != other[right - 1]
        return min(fewest(left - 1, right) + 1, fewest(left, right - 1) + 1, fewest(left - 1, right - 1) + same)

    assert edit_distance(one, other) == fewest(len(one), len(other))
    assert score("edit_similarity", one, other) == pytest.approx(
        1 - fewest(len(one), len(other)) / max(len(one), len(other), 1)
    )


@given(WORDS, WORDS)
def test_the_longest_common_subsequence_is_the_longest(said: list[str], right: list[str]) -> None:
    """Against trying every subsequence, longest first."""

    def subsequences(words: list[str], size: int) -> set[tuple[str, ...]]:
        return set(combinations(words, size))

    longest = max(size for size in range(len(said) + 1) if subsequences(said, size) & subsequences(right, size))
    expected = 2 * longest / (len(said) + len(right)) if longest else 0.0
    assert score("rougeL", " ".join(said), " ".join(right)) == pytest.approx(expected)


ROUGE = [  # computed once with the rouge-score package, without stemming
    ("the cat is on the mat", "the cat sat on the mat", 0.8333333, 0.6, 0.8333333),
    ("A dog is in the park.", "there is a dog in the park", 0.9230769, 0.5454545, 0.7692308),
    ("one two three", "three two one", 1.0, 0.0, 0.3333333),
]


@pytest.mark.parametrize(("said", "right", "one", "two", "longest"), ROUGE)
def test_rouge_is_what_the_usual_package_computes(
    said: str, right: str, one: float, two: float, longest: float
) -> None:
    """ROUGE-1, -2 and -L, as F1."""
    found = [score(name, said, right) for name in ("rouge1", "rouge2", "rougeL")]
    assert found == pytest.approx([one, two, longest], abs=1e-6)


def test_rouge_takes_ultraevals_words_and_chinese_characters() -> None:
    """Precision and recall by name; a Chinese sentence is its characters; other names are refused."""
    assert score("rouge", "a b c d", "a c", n_gram="l", index="recall") == 1
    assert score("rouge", "a b c d", "a c", n_gram="l", index="precision") == 0.5
    assert score("rouge", "我爱北京", "我爱上海") == 0.5
    with pytest.raises(BadValue, match="there is no '3'"):
        score("rouge", "a", "a", n_gram="3")


@given(st.text(max_size=15), st.lists(st.text(max_size=15), min_size=1, max_size=3))
def test_shares_are_shares_and_the_best_right_answer_counts(answer: str, references: list[str]) -> None:
    """Between 0 and 1, never below what one of the right answers alone would give, and 1 for a perfect answer."""
    for name in ("token_f1", "squad_em", "squad_f1", "edit_similarity", "anls", "rouge1", "rouge2", "rougeL"):
        alone = [score(name, answer, one) for one in references]
        assert 0 <= min(alone) <= max(alone) == score(name, answer, *references) <= 1
    assert score("edit_similarity", answer, answer) == score("squad_f1", answer, answer) == 1


def test_squad_forgets_case_articles_and_punctuation() -> None:
    """Two figures at once; without anything to say, saying nothing is right."""
    assert metric("squad").score("The Cat!", ("a cat",)) == {"em": 1.0, "f1": 1.0}
    assert metric("squad").score("big cat", ("cat",)) == {"em": 0.0, "f1": pytest.approx(2 / 3)}
    assert score("squad_f1", "", "") == 1
    assert score("squad_f1", "something", "") == 0


MATRICES = st.integers(1, 4).flatmap(
    lambda rows: st.integers(rows, 5).flatmap(
        lambda columns: st.lists(
            st.lists(st.floats(0, 1), min_size=columns, max_size=columns), min_size=rows, max_size=rows
        )
    )
)


@given(MATRICES)
def test_answers_are_paired_in_the_best_way(values: list[list[float]]) -> None:
    """As trying all orders finds it."""
    best = max(
        sum(row[column] for row, column in zip(values, order, strict=False))
        for order in permutations(range(len(values[0])), len(values))
    )
    assert texts._best_pairs(values) == pytest.approx(best)


@pytest.mark.parametrize(
    ("answer", "rights", "em", "f1"),
    [
        ("4", ["4", "4 points"], 1, 1),
        ("4 points", ["4"], 0, 0.67),
        ("12 yards", ["12-yard"], 0, 0.5),
        ("the Lions", ["Lions"], 1, 1),
        ("Cole\nBaker", ["Baker\nCole"], 1, 1),
        ("Baker", ["Baker\nCole"], 0, 0.5),
        ("Baker, Cole", ["Baker\nCole"], 0, 0.33),
        ("15", ["14"], 0, 0),
        ("3 May 1808", ["3 May 1808"], 1, 1),
        ("1,200", ["1200"], 1, 1),
        ("x", [" "], 0, 0),
    ],
)
def test_drop(answer: str, rights: list[str], em: float, f1: float) -> None:
    """Computed by hand from the official rules: words as sets, numbers have to be there, two decimals."""
    assert (drop_em(answer, rights), drop_f1(answer, rights)) == (em, f1)


def test_triviaqa_takes_every_name() -> None:
    """Underscores and quotation marks are blanks."""
    assert triviaqa_em("‘The_Beatles’", ["fab four", "Beatles"]) == 1
    assert triviaqa_em("Beatles band", ["Beatles"]) == 0


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
