"""What rows were when they were first read."""

from collections.abc import Callable, Collection
from typing import Protocol

from model_accuracy_eval.records import HubSplit, RowsPin

RowSums = list[list[int]]
"""A number for every value of every row."""


class RowPins(Protocol):
    """The rows of a split are noted at their first use, in a lock file, and the same ever after."""

    lock: str
    """Path of the lock file."""

    def noted(self, split: HubSplit, fields: Collection[str]) -> RowsPin | None:
        """Returns a pin of the split that has these columns, if one was noted."""

    def pinned(self, split: HubSplit, found: RowsPin) -> tuple[RowsPin | None, bool]:
        """Returns the pin of the split, and whether it was noted just now; None if nothing is known of the split."""

    def keep(self, pin: RowsPin, sums: Callable[[], RowSums]) -> None:
        """Keeps what the rows of a pin are, so that a later difference can be located."""

    def kept(self, pin: RowsPin) -> RowSums | None:
        """Returns what was kept; None if nothing was."""
