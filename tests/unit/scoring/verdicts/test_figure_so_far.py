"""A figure while samples come in: of a beginning of the dataset, whatever order they come in."""

import random

import pytest

from model_accuracy_eval.scoring.figures import intervals
from model_accuracy_eval.scoring.verdicts.following import BeginningMean


def test_of_everything_it_is_the_figure_with_the_interval_of_the_report() -> None:
    """Whatever the order; two values are the least."""
    values = [random.Random(place).random() for place in range(200)]
    mean = BeginningMean("accuracy", 200, 3)
    for told, place in enumerate(random.Random(1).sample(range(200), 200)):
        assert told > 190 or mean.figure() is None or mean.figure().judged < 190  # type: ignore[union-attr]
        mean.tell(place, values[place], values[place])
    found, interval = mean.figure(), intervals.interval(values, 3)
    assert found is not None
    assert interval is not None
    assert found.judged == 200
    assert (found.value, found.low, found.high) == pytest.approx((sum(values) / 2, interval.low, interval.high))


def test_quick_right_answers_do_not_make_it_better_than_it_is() -> None:
    """Every other answer is wrong and late: until these come, the figure is of the few before the first of them."""
    mean = BeginningMean("accuracy", 400)
    for place in range(0, 400, 2):
        mean.tell(place, 1.0, 1.0)
    assert mean.figure() is None
    for place in range(1, 200, 2):
        mean.tell(place, 0.0, 0.0)
    found = mean.figure()
    assert found is not None
    assert 200 <= found.judged <= 212
    assert 48 <= found.value <= 53


def test_a_few_that_are_missing_may_be_worth_anything() -> None:
    """Missing answers widen the interval downwards, and so do lost ones."""
    mean, whole = BeginningMean("accuracy", 1000), BeginningMean("accuracy", 1000)
    for place in range(100):
        whole.tell(place, 1.0, 1.0)
        if place not in {40, 50, 60, 70, 98}:
            mean.tell(place, 1.0, 1.0)
    found, sure = mean.figure(), whole.figure()
    assert found is not None
    assert sure is not None
    assert (found.judged, found.value) == (
        67,
        100.0,
    )  # 70 places: the fourth missing one would be more than a twentieth
    assert found.low < sure.low - 2
    for place in (40, 50):
        mean.tell(place, 0.0, 1.0)
    lost = mean.figure()
    assert lost is not None
    assert lost.high > 99.9
    assert lost.low < sure.low - 2


def test_what_is_left_out_is_not_waited_for() -> None:
    """Problems of an earlier run, and those that there was no time for."""
    mean = BeginningMean("accuracy", 10)
    for place in (0, 1, 2, 4, 6):
        mean.leave_out(place)
    for place in (3, 5, 7):
        mean.tell(place, 1.0, 1.0)
        mean.tell(place, 0.0, 0.0)  # a sample that is asked again changes nothing
    found = mean.figure()
    assert found is not None
    assert (found.judged, found.value) == (3, 100.0)
