"""How many shards a run has, from sizes and an earlier run's pace."""

import pytest
from msgspec.structs import replace

from model_accuracy_eval.commands.plan import shard_plan
from model_accuracy_eval.records import Counts, Speed, Spread
from model_accuracy_eval.run_folder.runfile import DatasetEntry, RunFile
from model_accuracy_eval.scoring.verdicts.sequential import PlannedSize

SIZES = {"long": PlannedSize(100, 5), "short": PlannedSize(1_000, 5)}


def entry(mean: float, answered: int) -> DatasetEntry:
    spread = Spread(mean=mean, p50=mean, p90=mean, p99=mean, maximum=mean)
    speed, counts = Speed(e2e=spread), Counts(planned=answered, answered=answered)
    return DatasetEntry(version="v", questions="q", problems=answered, speed=speed, counts=counts)


# 32 at a time: 50 answers of 64 s and 500 of 6.4 s are 200 seconds.
LAST = RunFile(
    status="passed", run_id="r", label="l", started="", seconds={"infer": 200.0},
    datasets={"long": entry(64.0, 50), "short": entry(6.4, 500)},
)  # fmt: skip


def test_the_time_is_that_of_the_samples_and_not_of_their_number() -> None:
    """Ten times the earlier run's samples of each dataset: 2,000 seconds; without the long ones half of that."""
    assert shard_plan(SIZES, LAST, minutes=1_000, most=8, concurrency=1).seconds == pytest.approx(2_000)
    short = {"short": SIZES["short"]}
    assert shard_plan(short, LAST, minutes=1_000, most=8, concurrency=1).seconds == pytest.approx(1_000)


@pytest.mark.parametrize(("minutes", "most", "count"), [(60, 8, 1), (33.4, 8, 1), (33.3, 8, 2), (10, 8, 4), (1, 8, 8)])
def test_as_few_shards_as_keep_below_the_minutes(minutes: float, most: int, count: int) -> None:
    """2,000 seconds are 33.3 minutes; there are never more shards than are allowed."""
    plan = shard_plan(SIZES, LAST, minutes=minutes, most=most, concurrency=1)
    assert plan.count == len(plan.jobs()) == count


def test_a_dataset_that_was_not_asked_takes_the_usual_time() -> None:
    """The mean of all answers then, 11.64 s, 32 at a time."""
    new = {"new": PlannedSize(64, 5)}
    assert shard_plan(new, LAST, minutes=60, most=8, concurrency=1).seconds == pytest.approx(6_400 / 550 * 10)


def test_a_merged_run_does_not_say_how_long_it_asked() -> None:
    """Then the answers' times are divided by the concurrency."""
    merged = replace(LAST, seconds={"score": 1.0})
    assert shard_plan(SIZES, merged, minutes=60, most=8, concurrency=64).seconds == pytest.approx(1_000)


def test_a_run_that_went_on_counts_the_answers_of_its_last_part() -> None:
    """Its seconds are of that part alone; of one that broke off it is not known how many answers these are."""
    went_on = replace(LAST, seconds={"infer": 20.0}, answered_before=495)
    assert shard_plan(SIZES, went_on, minutes=60, most=8, concurrency=1).seconds == pytest.approx(2_000)
    for unclear in (replace(went_on, answered_before=550), replace(LAST, status="stopped")):
        assert shard_plan(SIZES, unclear, minutes=60, most=8, concurrency=64).seconds == pytest.approx(1_000)


def test_log_likelihoods_take_what_they_took_together() -> None:
    """None of them is timed by itself."""
    untimed = DatasetEntry(version="v", questions="q", problems=100, counts=Counts(planned=100, answered=100))
    last = replace(LAST, datasets={"short": untimed})
    assert shard_plan(SIZES, last, minutes=60, most=8, concurrency=1).seconds == pytest.approx(5_500 * 2.0)


def test_without_a_pace_there_are_as_many_as_are_allowed() -> None:
    """But no more than the largest dataset has problems, and one at least."""
    for last in (None, replace(LAST, datasets={})):
        plan = shard_plan(SIZES, last, minutes=60, most=4, concurrency=1)
        assert (plan.count, plan.seconds) == (4, None)
        assert "no earlier run says how long they take" in plan.sentence()
    assert shard_plan({"d": PlannedSize(2, 5)}, None, minutes=60, most=4, concurrency=1).count == 2
    assert shard_plan({}, None, minutes=60, most=4, concurrency=1).count == 1


def test_the_jobs_name_shards_and_artifacts() -> None:
    """A shard's own name has a slash, which artifacts' names may not have."""
    plan = shard_plan(SIZES, None, minutes=60, most=2, concurrency=1)
    assert plan.jobs() == [{"shard": "0/2", "name": "0-of-2"}, {"shard": "1/2", "name": "1-of-2"}]
    told = shard_plan(SIZES, LAST, minutes=20, most=8, concurrency=1).sentence()
    assert told == (
        "5,500 samples take about 33 minutes at the earlier run's pace: 2 shards of about 17 minutes, and what a start "
        "takes."
    )
