"""What the gates of a dataset still need, while its samples come in whatever order."""

import random
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.unit.scoring.judged_tasks import counted, pipe, task

from model_accuracy_eval.benchmarks import demo
from model_accuracy_eval.records import Counts, DatasetResult, FigureBounds, Gate, Interval, Step, SummaryRow
from model_accuracy_eval.scoring.figures import intervals
from model_accuracy_eval.scoring.verdicts.following import (
    BeginningMean,
    FollowedFigure,
    Following,
    PrefixReader,
    ReadUnit,
    baseline_figure,
    followed_figures,
)
from model_accuracy_eval.scoring.verdicts.gates import GateRule
from model_accuracy_eval.scoring.verdicts.sequential import stop_lines

N = 5
FIGURES = followed_figures(demo.WORD_PROBLEMS, N, (N,))


def following(*metrics: str, problems: int = 60, threshold: float = 50) -> Following:
    figures = {name: FIGURES[name] for name in metrics}
    followed = []
    for name in metrics:
        gate = Gate(dataset="d", metric=name, comparison=">=", threshold=threshold)
        draws = problems * N if FIGURES[name].is_mean_of_samples else problems
        lines = stop_lines(gate, draws, GateRule(), drawn=True, base=None)
        assert lines is not None
        followed.append(lines)
    return Following(
        problems=tuple(range(100, 100 + problems)), n=N, figures=figures, gates=tuple(followed), seed="run"
    )


def tell(reader: PrefixReader, place: int, index: int, *, right: bool | None) -> None:
    ends = (0.0, 1.0) if right is None else (float(right), float(right))
    reader.tell(place, index, dict.fromkeys(FIGURES, ends))


def test_figures_of_right_and_wrong_are_followed_by_their_numbers() -> None:
    """avg@n is a mean of samples; pass@n and cons@n follow from how many are right."""
    assert FIGURES["avg@5"].is_mean_of_samples
    assert FIGURES["accuracy (5 runs average)"] == FIGURES["avg@5"]
    assert FIGURES["pass@5"] == FollowedFigure(
        is_mean_of_samples=False, by_count=(0.0, 1.0, 1.0, 1.0, 1.0, 1.0), drawn=True
    )
    assert FIGURES["cons@5"].by_count == (0.0, 0.0, 0.0, 1.0, 1.0, 1.0)


def test_figures_that_more_than_numbers_of_right_samples_make_are_not_counted() -> None:
    """A vote chooses among samples; what is no share has no ends."""
    voted = followed_figures(task(pipe("exact_match", filters=[Step(name="majority_vote")])), N, (N,))
    assert {name: (each.by_count, each.is_mean_of_samples) for name, each in voted.items()} == {
        "exact_match": (None, False)
    }
    assert followed_figures(task(pipe("word_error_rate")), N, (N,)) == {}


def test_single_samples_are_units_where_only_their_mean_is_gated() -> None:
    """With pass@5 beside it, whole problems are."""
    alone, both = following("avg@5"), following("avg@5", "pass@5")
    assert alone.by_samples
    assert len(alone.order) == 300
    assert not both.by_samples
    assert len(both.order) == 60
    assert both.stops_inside, "avg@5 is settled when all five are there, pass@5 does not hurt"


def test_the_order_is_a_permutation_that_the_run_decides() -> None:
    """Another run has another order, the same run the same."""
    one = following("avg@5")
    assert one.order == following("avg@5").order
    assert sorted(one.order) == sorted((place, index) for place in range(60) for index in range(N))
    other = Following(problems=one.problems, n=N, figures=one.figures, gates=one.gates, seed="another")
    assert other.order != one.order


@given(seed=st.integers(0, 10**6))
def test_only_the_completed_prefix_is_read_whatever_came_first(seed: int) -> None:
    """Whatever order samples come in, the decision and the samples that were read are the same."""
    random = Random(seed)
    one = following("avg@5", threshold=40)
    right = {(unit.place, unit.sample): random.random() < 0.75 for unit in one.order}
    in_order, shuffled = PrefixReader(one), PrefixReader(one)
    for place, index in ((unit.place, unit.sample) for unit in one.order):
        assert index is not None
        tell(in_order, place, index, right=right[place, index])
    arrived = [*right]
    random.shuffle(arrived)
    for place, index in arrived:
        assert index is not None
        tell(shuffled, place, index, right=right[place, index])
    assert shuffled.decisions == in_order.decisions
    assert set(shuffled.samples_read()) == set(in_order.samples_read())


@pytest.mark.parametrize(
    ("metric", "told", "left"),
    [
        ("pass@5", [True], 0), ("pass@5", [False], 4), ("pass@5", [False, True], 0), ("pass@5", [False] * 5, 0),
        ("cons@5", [True, True], 3), ("cons@5", [True] * 3, 0), ("cons@5", [False] * 3, 0),
        ("cons@5", [True, False, True, False], 1), ("cons@5", [None, True, True], 2), ("cons@5", [None, True, True, True], 0),
        ("pass@5", [None], 4), ("pass@5", [None] * 5, 0), ("avg@5", [True, True], 3),
    ],
)  # fmt: skip
def test_a_problem_is_left_once_no_sample_can_change_its_figure(
    metric: str, told: list[bool | None], left: int
) -> None:
    """After the first right sample for pass@5, after a majority for cons@5; lost samples settle nothing."""
    reader = PrefixReader(following(*{metric, "pass@5"} if metric == "avg@5" else {metric}))
    for index, right in enumerate(told):
        tell(reader, 0, index, right=right)
    assert len(reader.lacks(0)) == left


def test_every_gate_of_the_dataset_has_to_be_decided() -> None:
    """One that lies near its line keeps the other waiting."""
    one = following("avg@5", threshold=10)
    near = following("cons@5", threshold=80)
    both = Following(
        problems=one.problems, n=N, figures={**one.figures, **near.figures}, gates=(*one.gates, *near.gates), seed="x"
    )
    reader = PrefixReader(both)
    random = Random(1)
    for unit in both.order:
        for index in range(N):
            tell(reader, unit.place, index, right=random.random() < 0.7)
    assert reader.decisions[str(one.gates[0].gate)] == "passed"
    assert not reader.is_decided


def test_of_everything_it_is_the_figure_with_the_interval_of_the_report() -> None:
    """Whatever the order; two values are the least."""
    values = [random.Random(place).random() for place in range(200)]
    mean = BeginningMean("accuracy", [""] * 200, 3)
    for told, place in enumerate(random.Random(1).sample(range(200), 200)):
        assert told > 190 or mean.figure() is None or mean.figure().judged < 190  # type: ignore[union-attr]
        mean.tell(place, (values[place],) * 2)
    found, interval = mean.figure(), intervals.interval(values, 3)
    assert found is not None
    assert interval is not None
    assert found.judged == 200
    assert (found.value, found.low, found.high) == pytest.approx((sum(values) / 2, interval.low, interval.high))


def test_quick_right_answers_do_not_make_it_better_than_it_is() -> None:
    """Every other answer is wrong and late: until these come, the figure is of the few before the first of them."""
    mean = BeginningMean("accuracy", [""] * 400)
    for place in range(0, 400, 2):
        mean.tell(place, (1.0, 1.0))
    assert mean.figure() is None
    for place in range(1, 200, 2):
        mean.tell(place, (0.0, 0.0))
    found = mean.figure()
    assert found is not None
    assert 200 <= found.judged <= 212
    assert 48 <= found.value <= 53


def test_a_few_that_are_missing_may_be_worth_anything() -> None:
    """Missing answers widen the interval downwards, and so do lost ones."""
    mean, whole = BeginningMean("accuracy", [""] * 1000), BeginningMean("accuracy", [""] * 1000)
    for place in range(100):
        whole.tell(place, (1.0, 1.0))
        if place not in {40, 50, 60, 70, 98}:
            mean.tell(place, (1.0, 1.0))
    found, sure = mean.figure(), whole.figure()
    assert found is not None
    assert sure is not None
    assert (found.judged, found.value) == (
        67,
        100.0,
    )  # 70 places: the fourth missing one would be more than a twentieth
    assert found.low < sure.low - 2
    for place in (40, 50):
        mean.tell(place, (0.0, 1.0))
    lost = mean.figure()
    assert lost is not None
    assert lost.high > 99.9
    assert lost.low < sure.low - 2


def test_a_beginning_counts_its_passages() -> None:
    """Four questions about each of 50 passages, all right or all wrong, are as uncertain as 50; single samples belong to
    their problem where they share nothing else."""
    shared = BeginningMean("accuracy", [f"passage {place // 4}" for place in range(200)])
    alone = BeginningMean("accuracy", [""] * 200)
    for mean in (shared, alone):
        for place in range(200):
            mean.tell(place, (float(place // 4 % 3 > 0),) * 2)
    wide, narrow = shared.figure(), alone.figure()
    assert wide is not None
    assert narrow is not None
    assert wide.value == narrow.value
    assert wide.high - wide.low > 1.8 * (narrow.high - narrow.low)
    one = following("avg@5")
    assert one.cluster_of(ReadUnit(3, 0)) == one.cluster_of(ReadUnit(3, 4)) != one.cluster_of(ReadUnit(4, 0))
    assert one.cluster_of(ReadUnit(3, None)) == ""


def test_what_is_left_out_is_not_waited_for() -> None:
    """Problems of an earlier run, and those that there was no time for."""
    mean = BeginningMean("accuracy", [""] * 10)
    for place in (0, 1, 2, 4, 6):
        mean.tell(place, None)
    for place in (3, 5, 7):
        mean.tell(place, (1.0, 1.0))
        mean.tell(place, (0.0, 0.0))  # a sample that is asked again changes nothing
    found = mean.figure()
    assert found is not None
    assert (found.judged, found.value) == (3, 100.0)


LOST = FigureBounds(low=40.0, high=70.0, samples=15)


@pytest.mark.parametrize(
    ("bounds", "low", "high"),
    [
        (None, 0.5, 0.5),
        (LOST, 0.4, 0.7),
        (replace(LOST, low=None), 0.5, 0.7),
        (replace(LOST, high=None), 0.4, 0.5),
    ],
)
def test_a_baseline_lies_between_what_its_lost_samples_leave_open(
    bounds: FigureBounds | None, low: float, high: float
) -> None:
    """Its variance is that of the same problems asked again."""
    problems = [counted(number, N, number % (N + 1)) for number in range(60)]
    row = SummaryRow(
        dataset="d", version="1", metric="avg@5", value=50.0, interval=Interval(low=45.0, high=55.0), bounds=bounds
    )
    base = DatasetResult(dataset="d", version="1", rows=(row,), problem_results=tuple(problems), counts=Counts())
    found = baseline_figure(base, "avg@5", is_drawn_alike=True)
    assert found is not None
    assert (found.low, found.high, found.is_drawn_alike) == (low, high, True)
    noises = [intervals.noise("runs", "", each.values) for each in problems]
    case = intervals.case([sum(each.values) / N for each in problems], noises, N)
    assert (found.variance, found.freedom) == (case.rerun_variance, case.freedom)
    assert baseline_figure(base, "pass@5", is_drawn_alike=True) is None
    for lacking in (replace(row, value=None), replace(row, interval=None), replace(row, estimated=True)):
        assert baseline_figure(replace(base, rows=(lacking,)), "avg@5", is_drawn_alike=True) is None
