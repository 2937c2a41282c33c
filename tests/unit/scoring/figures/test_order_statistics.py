"""Numbers that are too many for memory are in the order that `sorted` gives them."""

import os
from math import copysign

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.records import disk_numbers
from model_accuracy_eval.records.disk_numbers import DiskNumbers
from model_accuracy_eval.scoring.figures import distributions
from model_accuracy_eval.scoring.figures.distributions import ordered

NUMBERS = st.floats(allow_nan=False) | st.sampled_from([0.0, 1.0, 1.0 + 2**-52, -1.0, 1e-310])


def kept(numbers: list[float]) -> DiskNumbers:
    made = DiskNumbers()
    made.extend(numbers)
    return made


@given(st.lists(NUMBERS, max_size=40), st.integers(1, 3), st.integers(0, 4))
def test_each_place_has_the_number_of_a_sorted_list(numbers: list[float], block: int, in_memory: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk_numbers, "BLOCK", block)
        patch.setattr(distributions, "IN_MEMORY", in_memory)
        made = kept(numbers)
        found = ordered(made)
        assert list(made) == numbers
        assert [found[at] for at in range(len(found))] == sorted(numbers)
        assert list(found[-2:]) == sorted(numbers)[-2:]


def test_signs_and_last_digits_stay() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk_numbers, "BLOCK", 2)
        patch.setattr(distributions, "IN_MEMORY", 1)
        found = ordered(kept([5e-324, -5e-324, -0.0, float("inf"), 1.5, 1.5, 1.5]))
        assert list(map(repr, found)) == ["-5e-324", "-0.0", "5e-324", "1.5", "1.5", "1.5", "inf"]
        assert copysign(1.0, found[1]) == -1.0


def test_a_full_disk_costs_memory_and_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the disk fills up in the middle of a block."""
    monkeypatch.setattr(disk_numbers, "BLOCK", 2)
    real, written = os.pwrite, list[int]()

    def nearly_full(file: int, data: bytes, place: int) -> int:
        if sum(written) > 40:
            raise OSError(28, "No space left on device")
        written.append(real(file, bytes(data[:13]), place))
        return written[-1]

    monkeypatch.setattr(os, "pwrite", nearly_full)
    numbers = [at / 7 for at in range(50)]
    assert list(kept(numbers)) == numbers
    assert written
