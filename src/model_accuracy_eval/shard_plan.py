"""Into how many shards a run is split: from the sizes of its datasets, and from the pace of an earlier run.

A shard has every W-th problem of each dataset, so all take about the same time, whatever mixture of datasets it is.
"""

from collections.abc import Mapping
from math import ceil

from model_accuracy_eval.records import Record
from model_accuracy_eval.report import progress
from model_accuracy_eval.run_folder.runfile import RunFile


class DatasetSize(Record, frozen=True, kw_only=True):
    """How much of a dataset is asked."""

    problems: int
    samples: int


class ShardPlan(Record, frozen=True, kw_only=True):
    """The shards of a run."""

    count: int
    samples: int
    seconds: float | None = None
    """What one machine would need to ask for everything; None: unknown."""

    def jobs(self) -> list[dict[str, str]]:
        """The entries of a matrix: each shard, and its name in the name of an artifact."""
        return [{"shard": f"{at}/{self.count}", "name": f"{at}-of-{self.count}"} for at in range(self.count)]

    def sentence(self) -> str:
        shards = "1 shard" if self.count == 1 else f"{self.count} shards"
        if self.seconds is None:
            return f"{self.samples:,} samples in {shards}; no earlier run says how long they take."
        each = self.seconds / self.count / 60
        return (
            f"{self.samples:,} samples take about {self.seconds / 60:.0f} minutes at the earlier run's pace: {shards} "
            f"of about {each:.0f} minutes, and what a start takes."
        )


def shard_plan(
    sizes: Mapping[str, DatasetSize], last: RunFile | None, *, minutes: float, most: int, concurrency: int
) -> ShardPlan:
    """As few shards as keep each below so many minutes, `most` at most. Without an earlier run there are `most`."""
    samples = sum(size.samples for size in sizes.values())
    largest = max((size.problems for size in sizes.values()), default=1)
    most = max(1, min(most, largest))
    pace = progress.of_run(last) if last else None
    seconds = pace.seconds({name: size.samples for name, size in sizes.items()}, concurrency) if pace else None
    count = most if seconds is None else min(most, max(1, ceil(seconds / (60 * minutes))))
    return ShardPlan(count=count, samples=samples, seconds=seconds)
