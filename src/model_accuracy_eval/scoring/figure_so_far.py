"""A figure while its samples come in: of the problems from the first one on, as far as nearly all of them are there.

What has arrived first is better than the rest, because wrong answers are often long and late. So the figure is that of
a beginning of the dataset, and a few problems of it that are still missing may be worth anything.
"""

from model_accuracy_eval.records import FigureSoFar
from model_accuracy_eval.scoring.stats import interval_of_sums

_MISSING = 0.05
"""The share of the beginning that may be missing."""


class BeginningMean:
    """The mean of the values of a beginning, each 0..1."""

    def __init__(self, metric: str, places: int, samples: int = 1, *, of_samples: bool = False) -> None:
        """`samples`: of every problem. `of_samples`: the places are those of single samples."""
        self._metric = metric
        self._of_samples = of_samples
        self._samples = samples
        self._places = places
        self._end = 0
        """Where the beginning ends."""
        self._missing: set[int] = set()
        """Places in the beginning without a value yet."""
        self._waiting: dict[int, tuple[float, float] | None] = {}
        """Values of places behind the beginning."""
        self._count = 0
        self._total = 0.0
        self._squares = 0.0
        self._unknown = 0.0
        """By how much the total could be greater."""

    def tell(self, place: int, low: float, high: float) -> None:
        """The value of a place; the ends differ where nobody knows it."""
        self._note(place, (low, high))

    def leave_out(self, place: int) -> None:
        """The figure does without this one."""
        self._note(place, None)

    def is_told(self, place: int) -> bool:
        return place in self._waiting or (place < self._end and place not in self._missing)

    def _note(self, place: int, value: tuple[float, float] | None) -> None:
        if self.is_told(place):
            return
        if place in self._missing:
            self._missing.discard(place)
            self._add(value)
        else:
            self._waiting[place] = value
        while self._waiting and self._end < self._places:
            if self._end in self._waiting:
                self._add(self._waiting.pop(self._end))
            elif len(self._missing) + 1 <= _MISSING * (self._end + 1):
                self._missing.add(self._end)
            else:
                return
            self._end += 1

    def _add(self, value: tuple[float, float] | None) -> None:
        if value is not None:
            low, high = value
            self._count += 1
            self._total += low
            self._squares += low * low
            self._unknown += high - low

    def figure(self) -> FigureSoFar | None:
        """None: two values are the least that say anything."""
        count, missing = self._count, len(self._missing)
        low = interval_of_sums(count + missing, self._total, self._squares, self._samples)
        more = self._unknown + missing
        high = interval_of_sums(count + missing, self._total + more, self._squares + more, self._samples)
        if low is None or high is None or not count:
            return None
        return FigureSoFar(
            metric=self._metric,
            value=100 * self._total / count,
            low=low.low,
            high=high.high,
            judged=count,
            of_samples=self._of_samples,
        )
