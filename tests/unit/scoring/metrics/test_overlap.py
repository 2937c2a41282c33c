"""Metrics of answers that are texts: worked examples, properties, and oracles that count in another way."""

from functools import cache
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.scoring.metrics.metric_table import metric
from model_accuracy_eval.scoring.metrics.texts import best_pairs, edit_distance

WORDS = st.lists(st.sampled_from("abc"), max_size=6)


def score(name: str, answer: str, *references: str, **args: object) -> float:
    return float(metric(name).score(answer, references, **args))


@given(st.text(max_size=12), st.lists(st.text(max_size=12), min_size=1, max_size=3), st.booleans(), st.booleans())
def test_l23_any_of_several_right_answers_is_right(
    answer: str, references: list[str], case: bool, punctuation: bool
) -> None:
    """Several right answers are right as soon as one of them alone is."""
    args = {"ignore_case": case, "ignore_punctuation": punctuation}
    alone = [score("exact_match", answer, one, **args) for one in references]
    assert score("exact_match", answer, *references, **args) == max(alone)
    assert score("exact_match", answer, answer, **args) == 1


def test_rouge_has_three_sizes() -> None:
    with pytest.raises(BadValue, match="there is no '3'"):
        score("rouge", "a", "a", n_gram="3")


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


@given(st.text(max_size=15), st.lists(st.text(max_size=15), min_size=1, max_size=3))
def test_shares_are_shares_and_the_best_right_answer_counts(answer: str, references: list[str]) -> None:
    """Between 0 and 1, never below what one of the right answers alone would give, and 1 for a perfect answer."""
    for name in ("token_f1", "squad_em", "squad_f1", "edit_similarity", "anls", "rouge1", "rouge2", "rougeL"):
        alone = [score(name, answer, one) for one in references]
        assert 0 <= min(alone) <= max(alone) == score(name, answer, *references) <= 1
    assert score("edit_similarity", answer, answer) == score("squad_f1", answer, answer) == 1


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
    assert best_pairs(values) == pytest.approx(best)


def test_a_sentence_of_two_thousand_words_is_compared_like_any_other() -> None:
    """The package that the script calls ends in a recursion that is too deep."""
    text = " ".join(f"w{number}" for number in range(1000))
    assert score("sentence_rouge_l", text, text) == pytest.approx(1.0, abs=1e-6)


def test_chinese_is_cut_into_words(capfd: pytest.CaptureFixture[str]) -> None:
    """Marks do not count, blanks neither, and the dictionary is read in silence."""
    assert score("words_f1_zh", "公园，散步！", "去 公园 散步") == pytest.approx(0.8)
    assert score("sentence_rouge_l_zh", "我们去公园散步", "我们散步") == pytest.approx(2 / 3)
    assert capfd.readouterr().err == ""
