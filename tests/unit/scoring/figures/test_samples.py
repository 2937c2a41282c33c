"""Figures of a sample speak of all problems that it was drawn from; those of the first problems of these alone."""

from collections.abc import Callable, Mapping
from random import Random

import pytest
from msgspec.structs import replace
from tests.unit.scoring.judged_tasks import pipe, problem, said, task

from model_accuracy_eval.records import (
    Counts,
    DatasetResult,
    Draw,
    Gate,
    Grouping,
    GroupMean,
    PreparedDataset,
    Shard,
    SummaryRow,
    TaskGroup,
)
from model_accuracy_eval.scoring.figures import groups, intervals, notes
from model_accuracy_eval.scoring.figures.intervals import SampleOf, sample_interval
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.verdicts import gates
from model_accuracy_eval.scoring.verdicts.gates import GateRule
from model_accuracy_eval.scoring.verdicts.sequential import PlannedSize, can_show
from model_accuracy_eval.tasks.draw import drawn

LAWS = {"law": 300, "art": 100}
SAMPLE = Draw(asked=40, of=400, by="subject", parts=LAWS)
FIRST = Draw(asked=40, of=400)
RIGHT = {"law": 24, "art": 3}
"""Of 30 and of 10 problems."""


def rows(draw: Draw | None, n: int = 1, metric: str = "exact", **more: object) -> dict[str, SummaryRow]:
    spec = task(pipe(metric), grouping=Grouping(**more))  # type: ignore[arg-type]
    card = Scorecard(spec, n, (n,), draw=draw)
    for part, asked in (("law", 30), ("art", 10)):
        for number in range(asked):
            answers = ["a" if number < RIGHT[part] else "b"] * n
            card.judge(problem(100 * (part == "art") + number, category=part), said(*answers))
    return {row.metric: row for row in card.rows("0ba9da")}


def half(row: SummaryRow) -> float:
    assert row.interval is not None
    return (row.interval.high - row.interval.low) / 2


# Which interval is whose.


def test_the_interval_of_a_sample_is_that_of_all_problems() -> None:
    """Narrower than that of the kind: law is unlike art, and that was not left to chance; a tenth of them was asked."""
    sample, whole = rows(SAMPLE)["exact"], rows(None)["exact"]
    assert (sample.value, sample.of, whole.of) == (whole.value, 400, None)
    assert half(sample) < 0.95 * half(whole)
    known, plain = sample.certainty, whole.certainty
    assert known is not None
    assert plain is not None
    # What is said of these problems asked again, and of others of the kind, is as it was.
    for over in ("reruns", "problems"):
        assert intervals.limits(known, over, 0.95) == intervals.limits(plain, over, 0.95)
    assert plain.worst.drawn_flips is None


def test_parts_speak_of_all_problems_of_the_part() -> None:
    """And an area of those of its parts."""
    found = rows(SAMPLE, areas={"law": "both", "art": "both"})
    assert [found[f"exact[{name}]"].of for name in ("law", "art", "both")] == [300, 100, 400]
    assert found["exact[both]"].interval == found["exact"].interval


def test_the_first_problems_have_no_interval_over_problems() -> None:
    """Only what asking these again would give."""
    found = rows(FIRST, n=5)
    for row in found.values():
        assert (row.interval, row.stderr, row.of) == (None, None, None)
        assert row.certainty is not None
    assert rows(None, n=5)["avg@5"].certainty == found["avg@5"].certainty


def test_a_mean_over_parts_that_were_not_all_drawn_is_unknown() -> None:
    """It would be that of other parts."""
    every, some = (
        rows(draw, weight_by_size=False)["exact, mean over category"]
        for draw in (SAMPLE, replace(SAMPLE, parts={**LAWS, "tax": 3}))
    )
    assert every.value == pytest.approx(55)
    assert (every.of, some.value) == (400, None)


@pytest.mark.parametrize(("share", "factor"), [(0.0, 1.0), (0.75, 0.5), (0.99, 0.1)])
def test_the_more_of_all_was_asked_the_less_is_missed(share: float, factor: float) -> None:
    """By the root of what is left: the finite population correction."""
    values = [1.0, 0.0] * 500
    plain, corrected = (sample_interval(values, SampleOf(one, [""] * 1000)) for one in (0.0, share))
    assert plain is not None
    assert corrected is not None
    assert corrected.high - corrected.low == pytest.approx(factor * (plain.high - plain.low), rel=0.01)


@pytest.mark.parametrize(("asked", "spread"), [(60, 0.0), (60, 0.45), (200, 0.45)])
def test_the_interval_holds_as_often_as_it_says(asked: int, spread: float) -> None:
    """In 600 datasets of 240 problems in three unlike parts: the figure of all lies in it in about 95 of 100."""
    chance, parts, held = Random(7), [str(place % 3) for place in range(240)], 0
    for number in range(600):
        values = [float(chance.random() < 0.5 + spread * (int(part) - 1)) for part in parts]
        places = drawn(parts, asked, seed=str(number))
        found = sample_interval([values[at] for at in places], SampleOf(asked / 240, [parts[at] for at in places]))
        assert found is not None
        held += found.low <= 100 * sum(values) / 240 <= found.high
    assert 0.93 <= held / 600 <= 0.97


@pytest.mark.parametrize("cluster", [lambda _: "", lambda number: f"picture {number % 7}"])
def test_what_was_drawn_as_a_whole_counts_as_one(cluster: Callable[[int], str]) -> None:
    """Ten questions of four rotations each say less than forty questions would, whatever else the problems share."""
    halves = []
    for whole in (False, True):
        draw = Draw(asked=40, of=400, by="", parts={"": 400}, whole_groups=whole)
        card = Scorecard(task(pipe("exact", "whole_group")), 1, (1,), draw=draw)
        for number in range(40):
            group = {"name": str(number // 4), "rows": 4}
            asked = problem(number, cluster=cluster(number), extras={"group": group})
            card.judge(asked, said("a" if number // 4 % 2 else "b"))
        row, *_ = card.rows("0ba9da")
        halves.append(half(row))
        (note,) = notes.of_clusters([row]) if cluster(0) else ("",)
        assert not note or "7 clusters: gates over problems of the kind count these" in note
    assert halves[1] > 1.7 * halves[0]


# Gates.


def gate_of(row: SummaryRow, line: float, rule: GateRule) -> tuple[str, str]:
    gate = Gate(dataset="demo", metric=row.metric, comparison=">=", threshold=line)
    found = gates.result(gate, row, None, rule)
    return found.decision, found.sentence


def test_a_gate_on_a_sample_speaks_of_all_problems() -> None:
    """Asked again about these, the figure would be far surer."""
    again, whole = rows(SAMPLE, n=5)["avg@5"], rows(None, n=5)["avg@5"]
    assert gate_of(whole, 60, GateRule())[0] == "passed"
    decision, sentence = gate_of(again, 60, GateRule())
    assert decision == "undecided"
    assert " to 77.31 on all 400 problems (95 %). A run of this size shows differences of " in sentence
    assert gate_of(again, 50, GateRule())[1].endswith(" on all 400 problems (95 %).")
    assert " on problems of the kind " in gate_of(again, 60, GateRule("problems"))[1]
    assert gate_of(again, 60, GateRule("point"))[0] == "passed"


def test_no_more_problems_than_there_are_are_advised() -> None:
    """Half a point from the line takes nearly all of 400, which then miss nothing."""
    row = rows(SAMPLE)["exact"]
    assert gate_of(row, 67, GateRule())[1].endswith("one of 0.50 takes about 395 problems.")


def test_what_is_computed_and_not_drawn_is_a_sample_all_the_same() -> None:
    """Likelihoods are the same when they are asked again, but not of other problems."""
    row = replace(rows(SAMPLE)["exact"], drawn=False)
    assert gate_of(row, 65, GateRule())[0] == "undecided"
    assert gate_of(replace(row, of=None), 65, GateRule())[0] == "passed"


def test_samples_of_unlike_datasets_stand_for_all_of_their_problems() -> None:
    """A group is weighed by what its members stand for, and a gate on it speaks of that."""
    small, large = rows(replace(SAMPLE, of=100))["exact"], rows(replace(SAMPLE, of=900))["exact"]
    results = {
        name: DatasetResult(
            dataset=name, version="1", rows=(replace(row, dataset=name),), problem_results=(), counts=Counts()
        )
        for name, row in (("a", small), ("b", replace(large, value=17.5)))
    }
    group = TaskGroup(name="both", members=("a", "b"), means=(GroupMean(metric="exact"),))
    (row,) = groups.rows(group, results)
    assert row.value == pytest.approx(0.1 * 67.5 + 0.9 * 17.5)
    assert row.of == 1000
    assert row.certainty is not None
    assert row.certainty.worst.drawn_flips is not None


@pytest.mark.parametrize(
    ("size", "draws"),
    [
        (PlannedSize(100, 5), 500),
        (PlannedSize(100, 5, 100), 500),
        (PlannedSize(100, 5, 10_000), 99),
        (PlannedSize(100, 5, 200), 165),
    ],
)
def test_a_plan_counts_what_a_sample_can_say(size: PlannedSize, draws: int) -> None:
    """Samples of the same problem help little about the others, the fewer of these were asked."""
    assert size.draws(of_samples=True, drawn=True) == draws
    gate = Gate(dataset="demo", metric="avg@5", comparison=">=", threshold=70)
    shown = can_show(gate, size, GateRule(), of_samples=True, drawn=True)
    assert (f"on all {size.of:,} problems" if size.of else "at the latest") in shown


@pytest.mark.parametrize(
    ("size", "of_samples", "drawn", "draws"),
    [
        (PlannedSize(100, 5), False, True, 100),
        (PlannedSize(100, 5, 200), False, True, 99),  # 1 / (0.5 / 99 + 0.5 / 100)
        (PlannedSize(100, 5, 300), True, False, 148),  # 1 / ((2 / 3) / 99): asked again, it says the same
        (PlannedSize(50, 2, 200), False, False, 65),  # 1 / (0.75 / 49)
        (PlannedSize(1, 4, 2), True, True, 1),  # 1 / (0.5 / 1 + 0.5 / 4)
    ],
)
def test_a_plan_counts_problems_or_samples(size: PlannedSize, of_samples: bool, drawn: bool, draws: int) -> None:
    """What of the set was not asked varies in any case; what was asked does where the service draws."""
    assert size.draws(of_samples=of_samples, drawn=drawn) == draws


# What is said.


def prepared(draw: Draw | None, **asked: int) -> PreparedDataset:
    problems = [problem(0, category=part) for part, count in asked.items() for _ in range(count)]
    return PreparedDataset(task=task(), problems=tuple(problems), version="1", questions="1", draw=draw)


@pytest.mark.parametrize(
    ("draw", "sentences"),
    [
        (None, []),
        (SAMPLE, ["The problems are 40 of 400, drawn by subject: the interval is that of all 400 problems."]),
        (FIRST, ["The problems are the first 40 of 400: they are no sample, so nothing is said of the other 360."]),
    ],
)
def test_of_what_the_figures_are_is_said(draw: Draw | None, sentences: list[str]) -> None:
    """Nothing where everything was asked; a shard says that it is one."""
    assert list(notes.of_draw(draw, None)) == sentences
    assert all(", of which this is the shard 1/4" in one for one in notes.of_draw(draw, Shard(index=1, count=4)))


PARTS: list[tuple[Mapping[str, int], str]] = [
    ({"law": 30, "art": 10}, ""),
    ({"law": 39, "art": 1}, "1 of 2 parts (art) have fewer than 2 problems in the sample: nothing is said of these"),
    ({"law": 40}, "1 of 2 parts (art) have fewer than 2 problems in the sample, 1 of them none: nothing is said of"),
]


@pytest.mark.parametrize(("asked", "sentence"), PARTS)
def test_parts_with_too_few_problems_are_named(asked: Mapping[str, int], sentence: str) -> None:
    """One problem says nothing of the others of its part; a part that has no more is whole."""
    found = list(notes.of_problems(prepared(SAMPLE, **asked)))
    assert [one[: len(sentence)] for one in found] == [sentence] * bool(sentence)
    assert not list(notes.of_problems(prepared(replace(SAMPLE, parts={"law": 300, "art": 1}), law=39, art=1)))
    assert not list(notes.of_problems(prepared(None, **asked)))
