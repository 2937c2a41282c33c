"""F1 and Matthews' correlation of (right, chosen) labels, and their limits where some chosen labels are unknown."""

from collections import Counter
from collections.abc import Hashable, Sequence
from heapq import heapify, heapreplace
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy

from model_accuracy_eval.scoring.figures.lost_values import Ends, LostValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from model_accuracy_eval.scoring.figures.intervals import Floats

    Labels = NDArray[numpy.int64]
    """(right, chosen) labels as numbers: draws x problems x 2."""


def label_codes(pairs: Sequence[tuple[Hashable, Hashable]]) -> "Labels":
    """(right, chosen) labels as small numbers: 0 and 1 stay, any others follow."""
    codes: dict[Hashable, int] = {0: 0, 1: 1}
    return numpy.array([[codes.setdefault(label, len(codes)) for label in pair] for pair in pairs])


def _label_counts(labels: "Labels", size: int) -> "Labels":
    """How often each of the first `size` codes occurs in each draw."""
    draws = len(labels)
    places = labels + size * numpy.arange(draws)[:, None]
    return numpy.bincount(places.ravel(), minlength=draws * size).reshape(draws, size)


def f1(pairs: "Labels") -> "Floats":
    """F1 of label 1 if all labels are 0 or 1, else the mean of the F1 of every label."""
    gold, chosen = pairs[..., 0], pairs[..., 1]
    size = max(2, int(pairs.max()) + 1)
    named = _label_counts(gold, size) + _label_counts(chosen, size)
    # Pairs that do not agree are counted under one code more, which is cut off.
    hits = _label_counts(numpy.where(gold == chosen, gold, size), size + 1)[:, :size]
    scores = numpy.where(named > 0, 2 * hits / numpy.maximum(named, 1), 0.0)
    binary = named[:, 2:].sum(axis=1) == 0
    return numpy.where(binary, scores[:, 1], scores.sum(axis=1) / (named > 0).sum(axis=1))


def matthews(pairs: "Labels") -> "Floats":
    """Correlation of right and chosen labels, however many there are; 0 where one of the two never varies."""
    gold, chosen = pairs[..., 0], pairs[..., 1]
    size, labels = pairs.shape[1], int(pairs.max()) + 1
    golds, chosens = _label_counts(gold, labels), _label_counts(chosen, labels)
    covariance = (gold == chosen).sum(axis=1) * size - (golds * chosens).sum(axis=1)
    # As floats: the product does not fit into an integer beyond some ten thousand problems.
    spread = (size**2 - (chosens**2).sum(axis=1)).astype(float) * (size**2 - (golds**2).sum(axis=1))
    return numpy.where(spread > 0, covariance / numpy.sqrt(numpy.maximum(spread, 1.0)), 0.0)


class _LabelCounts:
    """The labels of one run, of which some samples are lost: their right labels are known, the chosen ones are not."""

    def __init__(self, pairs: Sequence[Any]) -> None:
        known = [pair for pair in pairs if not isinstance(pair, LostValue)]
        lost = [pair for pair in pairs if isinstance(pair, LostValue)]
        self.size = len(pairs)
        self.lost_golds = Counter(_gold(pair) for pair in lost)
        self.golds = Counter(gold for gold, _ in known) + self.lost_golds
        self.chosen = Counter(label for _, label in known)
        self.hits = Counter(gold for gold, label in known if gold == label)
        self.lost = len(lost)
        self.labels = set(self.golds) | set(self.chosen)
        # The low end of a lost option is the last wrong one; a text may be anything.
        options = None if any(_is_text(pair) for pair in lost) else {place for pair in lost for place in pair.low}
        offered = range(max(options, default=-1) + 1) if options is not None else None
        self.others = self.lost if offered is None else min(self.lost, len(set(offered) - self.labels))
        """How many labels that nobody has named so far may be named by lost samples."""
        self.may_be_binary = self.labels <= {0, 1}
        self.may_be_more = not self.may_be_binary or offered is None or len(offered) > 2

    def f1_ends(self, label: Hashable) -> tuple[float, float]:
        lost = self.lost_golds[label]
        named = self.golds[label] + self.chosen[label]
        low, high = 2 * self.hits[label], 2 * (self.hits[label] + lost)
        most_named = named + self.lost - lost
        return low / most_named if most_named else 0.0, high / (named + lost) if named + lost else 0.0


def _is_text(pair: LostValue) -> bool:
    return not isinstance(pair.low, tuple)


def _gold(pair: LostValue) -> Hashable:
    gold: Hashable = (pair.counted if _is_text(pair) else pair.high)[0]
    return gold


def _golds_are_known(pairs: Sequence[Any]) -> bool:
    """They are not where a function of the task's author makes the pairs and was never called."""
    return all(
        isinstance(pair.counted, Sequence) and len(pair.counted) == 2
        for pair in pairs
        if isinstance(pair, LostValue) and _is_text(pair)
    )


def f1_ends(pairs: Sequence[Any]) -> Ends:
    """The limits of each label's F1 by itself, so those of their mean are on the safe side."""
    if not _golds_are_known(pairs):
        return 0.0, 1.0
    counts = _LabelCounts(pairs)
    ends = []
    if counts.may_be_binary:
        ends.append(counts.f1_ends(1))
    if counts.may_be_more:
        lows, highs = zip(*map(counts.f1_ends, counts.labels), strict=True)
        ends.append((sum(lows) / (len(lows) + counts.others), sum(highs) / len(highs)))
    return min(low for low, _ in ends), max(high for _, high in ends)


def matthews_ends(pairs: Sequence[Any]) -> Ends:
    """The limits of covariance and variances by themselves, so those of their quotient are on the safe side."""
    if not _golds_are_known(pairs):
        return -1.0, 1.0
    counts = _LabelCounts(pairs)
    size, golds = counts.size, counts.golds
    covariance = counts.hits.total() * size - sum(golds[label] * counts.chosen[label] for label in golds)
    lows = {gold: -max((golds[label] for label in golds if label != gold), default=0) for gold in counts.lost_golds}
    low = covariance + sum(number * lows[gold] for gold, number in counts.lost_golds.items())
    high = covariance + sum(number * (size - golds[gold]) for gold, number in counts.lost_golds.items())
    spread = size**2 - sum(number**2 for number in golds.values())
    if not spread:
        return 0.0, 0.0
    chosen = [counts.chosen[label] for label in counts.labels]
    widest = sqrt(spread * (size**2 - _least_squares(chosen + [0] * counts.others, counts.lost)))
    most_squares = sum(number**2 for number in chosen) - max(chosen) ** 2 + (max(chosen) + counts.lost) ** 2
    narrowest = sqrt(spread * (size**2 - most_squares))
    return max(-1.0, _quotient(low, narrowest, widest)), min(1.0, -_quotient(-high, narrowest, widest))


def _quotient(least: float, narrowest: float, widest: float) -> float:
    """The least quotient of something from `least` upwards and a width between the two; 0 counts where it has none."""
    if least >= 0:
        return 0.0 if not narrowest else least / widest
    return least / narrowest if narrowest else -1.0


def _least_squares(numbers: list[int], more: int) -> int:
    """The least sum of squares after adding 1 to one of the numbers so often."""
    heapify(numbers)
    for _ in range(more):
        heapreplace(numbers, numbers[0] + 1)
    return sum(number**2 for number in numbers)
