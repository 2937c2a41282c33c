"""DROP's and TriviaQA's figures."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.scoring.metrics import texts
from model_accuracy_eval.scoring.metrics.texts import drop_em, drop_f1, triviaqa_em

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
