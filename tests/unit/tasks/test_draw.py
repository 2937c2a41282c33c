"""The order in which problems are drawn: nested samples in which every part has its share."""

from collections import Counter
from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_accuracy_eval.tasks.draw import drawn

SUBJECTS = [f"subject {number % 57 if number % 9 else 0}" for number in range(1403)]
PARTS = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=60)


def shares_kept(parts: list[str], order: list[int]) -> bool:
    """Whether every part has its share of every beginning, rounded down or up."""
    sizes, taken = Counter(parts), Counter[str]()
    for number, place in enumerate(order, 1):
        taken[parts[place]] += 1
        shares = {part: Fraction(number * size, len(parts)) for part, size in sizes.items()}
        if any(not floor(share) <= taken[part] <= ceil(share) for part, share in shares.items()):
            return False
    return True


@settings(deadline=None)
@given(PARTS, st.text(max_size=3))
def test_every_part_has_its_share_of_every_sample(parts: list[str], seed: str) -> None:
    """Whatever the sizes of the parts, at every size of the sample; at the end, everything was drawn once."""
    order = drawn(parts, len(parts), seed=seed)
    assert sorted(order) == list(range(len(parts)))
    assert shares_kept(parts, order)


def test_so_it_is_with_fifty_seven_subjects() -> None:
    """Which the table of a real dataset has."""
    assert shares_kept(SUBJECTS, drawn(SUBJECTS, 600))


@settings(deadline=None)
@given(PARTS, st.integers(0, 60), st.integers(0, 60))
def test_a_sample_is_part_of_every_larger_one(parts: list[str], some: int, more: int) -> None:
    """The first 100 of the 500 are the sample of 100; more than there are is all of them."""
    assert drawn(parts, some) == drawn(parts, some + more)[:some]
    assert len(drawn(parts, some)) == min(some, len(parts))


def test_the_sample_of_a_dataset_never_changes() -> None:
    """Neither from one machine to another nor with a release: kept runs could not be continued."""
    assert drawn(["a"] * 7 + ["b"] * 3, 6) == [6, 7, 2, 3, 8, 0]


def test_another_seed_is_another_sample() -> None:
    """For simulations."""
    assert len({tuple(drawn(SUBJECTS, 20, seed=str(number))) for number in range(5)}) == 5


@pytest.mark.parametrize("sizes", [(400,), (200, 200), (300, 60, 40), (10,) * 40])
def test_every_problem_is_about_as_likely_as_every_other(sizes: tuple[int, ...]) -> None:
    """In 400 seeds each is among the 40 of 400 that are drawn about 40 times, in small parts as in large ones."""
    parts = [str(part) for part, size in enumerate(sizes) for _ in range(size)]
    seen = Counter(parts[place] for number in range(400) for place in drawn(parts, 40, seed=str(number)))
    for part, size in enumerate(sizes):
        assert seen[str(part)] / 400 == pytest.approx(size / 10, abs=0.15), (part, sizes)


def test_what_counts_only_as_a_whole_is_drawn_as_a_whole() -> None:
    """Of 30 questions in four rotations, also where a row belongs to groups of two kinds; the last one may be cut."""
    rotations = [[("question", number % 30)] for number in range(120)]
    taken = Counter(place % 30 for place in drawn([""] * 120, 22, together=rotations))
    assert sorted(taken.values()) == [2, 4, 4, 4, 4, 4]
    chained = [
        [("question", number // 2), ("picture", (number + 1) // 2 if number % 4 else 99 + number)]
        for number in range(40)
    ]
    taken = Counter(place // 4 for place in drawn(["x"] * 40, 8, together=chained))
    assert sorted(taken.values()) == [4, 4]
