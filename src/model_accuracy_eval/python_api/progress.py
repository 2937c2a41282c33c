"""What a caller hears of a run while it goes on."""

from collections.abc import Callable
from typing import Literal

import msgspec

from model_accuracy_eval.ports import Activity, ProgressDisplay
from model_accuracy_eval.records import Counts


class ProgressEvent(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is. `stage` is always set; the other fields depend on `kind`."""

    kind: Literal["stage", "message", "dataset"]
    stage: str
    message: str = ""
    dataset: str = ""
    counts: Counts | None = None
    """The samples of the dataset so far: planned, answered, rejected, failed and so on."""


OnProgress = Callable[[ProgressEvent], object] | Literal["terminal"] | None
"""Called with an event for every change; "terminal" shows what the command shows; None is silent."""


def display_of(progress: OnProgress) -> Callable[[ProgressDisplay], ProgressDisplay]:
    """Puts what the caller wants to hear before the display of a run."""
    return (lambda own: own) if progress == "terminal" else lambda _: _Callbacks(progress)


class _Callbacks(ProgressDisplay):
    """Turns what a progress display is shown into events."""

    def __init__(self, on_progress: Callable[[ProgressEvent], object] | None) -> None:
        self._on_progress = on_progress or (lambda _: None)
        self._stage = "prepare"

    def enter(self, stage: str) -> None:
        self._stage = stage
        self._on_progress(ProgressEvent(kind="stage", stage=stage))

    def say(self, sentence: str) -> None:
        self._on_progress(ProgressEvent(kind="message", stage=self._stage, message=sentence))

    def begin(self, dataset: str, counts: Counts, activity: Activity | None = None) -> None:
        self.update(dataset, counts)

    def update(self, dataset: str, counts: Counts) -> None:
        self._on_progress(ProgressEvent(kind="dataset", stage=self._stage, dataset=dataset, counts=counts))

    def end(self, dataset: str, counts: Counts) -> None:
        self.update(dataset, counts)
