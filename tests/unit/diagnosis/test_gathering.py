"""Where odd replies gather: said where it is more than chance, by an exact test, and else nothing."""

import random
from math import comb

import pytest

from model_accuracy_eval.diagnosis import gathering
from model_accuracy_eval.diagnosis.gathering import Circumstances, at_least


@pytest.mark.parametrize(
    ("found", "inside", "odd", "total"), [(3, 4, 3, 9), (0, 4, 3, 9), (19, 40, 21, 1000), (5, 5, 5, 5)]
)
def test_the_test_is_fishers(found: int, inside: int, odd: int, total: int) -> None:
    """Counted out: of all ways to choose, those with as many odd ones or more."""
    ways = sum(comb(odd, n) * comb(total - odd, inside - n) for n in range(found, min(odd, inside) + 1))
    assert at_least(found, inside, odd, total) == pytest.approx(ways / comb(total, inside), rel=1e-9)


def run(problems: int, n: int = 1) -> dict[tuple[int, int], Circumstances]:
    """A run in which the number of requests in flight and the length of prompts have nothing to do with each other."""
    draw = random.Random(3)
    return {
        (problem, index): Circumstances(in_flight=draw.randrange(64), prompt_tokens=draw.randrange(900))
        for problem in range(problems)
        for index in range(n)
    }


def test_the_load_from_which_replies_break_is_named() -> None:
    """19 of 21 at that load and above; both numbers are said, and how many of all replies that are."""
    known = run(1000)
    busy = [name for name, of in known.items() if (of.in_flight or 0) >= 48]
    calm = [name for name, of in known.items() if (of.in_flight or 0) < 48]
    said = gathering.where({*busy[:19], *calm[:2]}, known)
    assert "19 of 21 at ≥ 48 other requests in flight" in said
    assert f"where {len(busy)} of all 1,000 replies are" in said
    assert "prompt" not in said


def test_nothing_is_said_of_chance() -> None:
    """Drawn without regard to anything, hardly any set of replies is told to gather."""
    known = run(400)
    told = 0
    for seed in range(200):
        told += bool(gathering.where(set(random.Random(seed).sample(sorted(known), 12)), known))
    assert told <= 4


def test_a_problem_counts_once() -> None:
    """Eight samples of one long prompt that the model cannot answer are one case, and one case says nothing."""
    known = run(200, 8)
    longest = max(known, key=lambda name: known[name].prompt_tokens or 0)[0]
    known |= {(longest, index): Circumstances(in_flight=5, prompt_tokens=5000) for index in range(8)}
    assert gathering.where({(longest, index) for index in range(8)}, known) == ""


def test_the_odd_sample_of_a_problem_says_where() -> None:
    """The others were asked at another time, and are well."""
    known = {
        (problem, index): Circumstances(in_flight=60 if index else 5) for problem in range(60) for index in range(2)
    }
    odd = {name for name, of in known.items() if of.in_flight == 60 and name[0] < 20}
    assert "20 of 20 at ≥ 60 other requests in flight" in gathering.where(odd, known)


def test_a_replica_is_a_circumstance() -> None:
    """It is no number, so each of them is a side of its own."""
    known = {(problem, 0): Circumstances(replica="ab"[problem % 2]) for problem in range(100)}
    assert "20 of 20 from the replica b" in gathering.where({(problem, 0) for problem in range(1, 40, 2)}, known)


@pytest.mark.parametrize("odd", [0, 2, 100])
def test_few_or_all_gather_nowhere(odd: int) -> None:
    """Two are no crowd, and all are everywhere."""
    known = run(100)
    assert gathering.where(set(sorted(known)[:odd]), known) == ""
