"""The mean of all values, proven from the first of them: how often it is wrong, and what it saves."""

from collections.abc import Sequence
from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.scoring.verdicts.sequential import MeanAtLeast, MeanDecider

SHARES = st.floats(0, 1).map(lambda value: round(value, 6))


def decided(values: Sequence[float], line: float, error: float = 0.05) -> tuple[bool | None, int]:
    """Whether the mean was found to reach the line, and after how many values."""
    decider = MeanDecider(len(values), (line - 1e-9, line), (error, error), binary=True)
    for read, value in enumerate(values, 1):
        decider.tell(value, value)
        if decider.is_decided:
            return decider.is_above, read
    return None, len(values)


def drawn(random: np.random.Generator, problems: int, n: int) -> list[float]:
    """Samples of problems of unlike difficulty in random order."""
    chances = random.beta(0.7, 0.3, problems)
    right = random.binomial(n, chances)
    order = random.permutation(problems * n)
    samples: list[float] = (np.arange(n)[None, :] < right[:, None]).astype(float).ravel()[order].tolist()
    return samples


@pytest.mark.slow
@pytest.mark.parametrize("reaches", [True, False])
def test_at_the_line_it_is_wrong_in_one_of_twenty(*, reaches: bool) -> None:
    """A mean that lies exactly on the line, or just below it, is taken for the other in at most 5 % of orders."""
    random, wrong, runs = np.random.default_rng(5), 0, 400
    for _ in range(runs):
        values = drawn(random, 40, 5)
        line = fsum(values) / len(values) + (0.0 if reaches else 1e-6)
        is_above, _ = decided(values, line)
        wrong += is_above is not reaches
    assert wrong / runs < 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_what_it_saves_is_what_was_published() -> None:
    """Five points from the line, 1,319 problems with five samples: some 9 % of the requests."""
    random, asked = np.random.default_rng(6), []
    for _ in range(25):
        values = drawn(random, 1319, 5)
        is_above, read = decided(values, fsum(values) / len(values) - 0.05)
        assert is_above
        asked.append(read / len(values))
    assert abs(fsum(asked) / 25 - 0.09) < 0.03


@given(values=st.lists(SHARES, min_size=1, max_size=60), line=SHARES)
def test_at_the_end_nothing_is_wrong_that_was_not_decided_before(values: list[float], line: float) -> None:
    """Once all values are read, a mean that reaches the line is proven; one that does not may have been, by chance."""
    proof = MeanAtLeast(len(values), line, 1e-9, binary=False)
    for value in values:
        proof.tell(value)
    reaches = fsum(values) >= len(values) * line
    assert proof.is_proven or not reaches
    assert reaches or not proof.is_proven or fsum(values) > len(values) * line - 1e-6


@given(values=st.lists(SHARES, min_size=1, max_size=80), line=SHARES)
def test_any_values_can_be_told(values: list[float], line: float) -> None:
    """Whatever the values, the stake stays positive: a logarithm of it exists."""
    decider = MeanDecider(len(values), (line / 2, line), (0.025, 0.025), binary=False)
    for value in values:
        decider.tell(value, value)
    mean = fsum(values) / len(values)
    assert decider.is_above or mean < line + 1e-6


@given(
    values=st.lists(st.sampled_from([0.0, 1.0, None]), min_size=1, max_size=80),
    filled=st.sampled_from([0.0, 1.0]),
    line=st.floats(0.05, 0.95),
)
def test_a_lost_value_helps_neither_proof(values: list[float | None], filled: float, line: float) -> None:
    """Whatever a lost sample would have been worth, a proof with it would have come no later."""
    lost = MeanDecider(len(values), (line, line), (0.05, 0.05), binary=True)
    known = MeanDecider(len(values), (line, line), (0.05, 0.05), binary=True)
    for value in values:
        lost.tell(0.0 if value is None else value, 1.0 if value is None else value)
        known.tell(*(2 * (filled if value is None else value,)))
        assert known.is_above or not lost.is_above or filled == 0.0
        assert known.is_below or not lost.is_below or filled == 1.0


def test_a_line_that_no_mean_reaches_is_never_proven() -> None:
    """With a few problems not even all right answers would clear the line of the whole run: then none is drawn."""
    proof = MeanAtLeast(10, 1.1, 0.05, binary=True)
    for _ in range(10):
        proof.tell(1.0)
    assert not proof.is_proven
