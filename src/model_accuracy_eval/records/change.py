"""What is different from another run."""

from model_accuracy_eval.records.base import Record
from model_accuracy_eval.records.marks import Counts, Interval, Speed


class Difference(Record, frozen=True, kw_only=True):
    """One figure of two runs, over the problems that both have."""

    metric: str
    old: float | None
    new: float | None
    points: float | None = None
    """New minus old; None where there is nothing to subtract."""
    interval: Interval | None = None
    """95 % interval of the points, paired by problem; None where the figure is no mean over problems."""


class Flips(Record, frozen=True, kw_only=True):
    """Problems with more right samples than before (gained), or fewer (lost)."""

    gained: int
    lost: int
    first_gained: tuple[int, ...]
    """Ids of the most changed ones."""
    first_lost: tuple[int, ...]
    p: float
    """Exact sign test, two-sided: how often chance alone would split the changed problems so unevenly."""


class Change(Record, frozen=True, kw_only=True):
    """One dataset in two runs."""

    dataset: str
    old_version: str
    new_version: str
    problems: int
    """How many both have."""
    differences: tuple[Difference, ...]
    flips: Flips | None = None
    """None where nothing can be right or wrong, or the versions differ."""
    old_counts: Counts
    new_counts: Counts
    old_speed: Speed
    new_speed: Speed
    notes: tuple[str, ...] = ()


class Comparison(Record, frozen=True, kw_only=True):
    """Two runs, dataset by dataset."""

    base: str
    """Id of the older run."""
    new: str
    changes: tuple[Change, ...]
    only_base: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def find(self, dataset: str, metric: str) -> Difference | None:
        """None when one of the runs lacks the dataset or both lack the metric."""
        found = (one for change in self.changes if change.dataset == dataset for one in change.differences)
        return next((one for one in found if one.metric == metric), None)
