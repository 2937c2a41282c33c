"""One dataset in two runs: differences paired by problem, and which problems flipped.

Pairing takes out what both runs share, how hard each problem is, so that small differences show in the same sample.
"""

from collections.abc import Iterable, Sequence
from math import exp, fsum, lgamma, log, sqrt

import msgspec

from model_accuracy_eval.records import Change, Counts, Difference, Flips, Interval, Sheet, Speed
from model_accuracy_eval.scoring.estimators import cons_at_k, pass_at_k
from model_accuracy_eval.scoring.stats import Z95, mean

IDS_SHOWN = 20
_ESTIMATORS = {"pass": pass_at_k, "cons": cons_at_k}


class Mark(msgspec.Struct, frozen=True, gc=False):
    """What comparing needs of a problem; everything else in its record is skipped while decoding."""

    id: int
    n: int
    c: int | None = None
    values: tuple[float, ...] = ()
    """Only where `c` does not say it all."""
    figures: dict[str, float | None] = {}
    """Likewise: metrics that do not follow from `c`, 0..100."""

    @property
    def share(self) -> float:
        """Mean of the samples' values, 0..1."""
        return fsum(self.values) / self.n if self.c is None else self.c / self.n


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One dataset of one run."""

    dataset: str
    version: str
    figures: dict[str, float | None]
    shares: frozenset[str]
    """Figures that are means over problems of values in 0..100: those that have an interval."""
    marks: Sequence[Mark]
    counts: Counts
    speed: Speed


Pairs = Sequence[tuple[Mark, Mark]]


def of_sheet(sheet: Sheet) -> Side:
    """The marks of a run that is still in memory."""
    return Side(
        dataset=sheet.dataset,
        version=sheet.version,
        figures={row.metric: row.value for row in sheet.rows},
        shares=frozenset(row.metric for row in sheet.rows if row.interval is not None),
        marks=[
            Mark(one.problem, one.n, one.c, one.values if one.c is None else (), one.figures) for one in sheet.tallies
        ],
        counts=sheet.counts,
        speed=sheet.speed,
    )


def compare(old: Side, new: Side) -> Change:
    """Old and new figures are those of the problems that both runs have; of another version nothing is subtracted."""
    same = old.version == new.version
    pairs = _pairs(old.marks, new.marks) if same else []
    metrics = dict.fromkeys([*old.figures, *new.figures])
    return Change(
        dataset=new.dataset,
        old_version=old.version,
        new_version=new.version,
        problems=len(pairs),
        differences=tuple(_difference(metric, old, new, pairs, same=same) for metric in metrics),
        flips=_flips(pairs),
        old_counts=old.counts,
        new_counts=new.counts,
        old_speed=old.speed,
        new_speed=new.speed,
        notes=tuple(_notes(old, new, len(pairs))),
    )


def _pairs(old: Sequence[Mark], new: Sequence[Mark]) -> Pairs:
    known = {mark.id: mark for mark in old}
    return [(known[mark.id], mark) for mark in new if mark.id in known]


def _difference(metric: str, old: Side, new: Side, pairs: Pairs, *, same: bool) -> Difference:
    before, after = old.figures.get(metric), new.figures.get(metric)
    if not same or before is None or after is None:
        return Difference(metric=metric, old=before, new=after)
    if len(pairs) < 2 or not (_explains(metric, old) and _explains(metric, new)):
        return Difference(metric=metric, old=before, new=after, points=after - before)
    olds = [_value(metric, one) or 0.0 for one, _ in pairs]
    news = [_value(metric, one) or 0.0 for _, one in pairs]
    low, high = paired_interval([b - a for a, b in zip(olds, news, strict=True)])
    before, after = 100 * (mean(olds) or 0.0), 100 * (mean(news) or 0.0)
    span = Interval(low=100 * low, high=100 * high)
    return Difference(metric=metric, old=before, new=after, points=after - before, interval=span)


def _explains(metric: str, side: Side) -> bool:
    """Whether the problems' values really make up the figure: not every metric is a mean over problems."""
    if metric not in side.shares:
        return False
    values = [_value(metric, mark) for mark in side.marks]
    found = mean([value for value in values if value is not None])
    figure = side.figures[metric]
    return None not in values and found is not None and figure is not None and abs(100 * found - figure) < 1e-6


def _value(metric: str, mark: Mark) -> float | None:
    """A problem's part of a figure, 0..1."""
    if (told := mark.figures.get(metric)) is not None:
        return told / 100
    kind, _, size = metric.partition("@")
    if kind not in _ESTIMATORS:
        return mark.share
    usable = mark.c is not None and size.isdecimal() and 1 <= int(size) <= mark.n
    return _ESTIMATORS[kind](mark.n, mark.c, int(size)) if usable and mark.c is not None else None


def paired_interval(differences: Sequence[float]) -> tuple[float, float]:
    """95 % interval of a mean of per-problem differences in -1..1, as if two more problems had been asked: one gained
    whole, one lost whole.

    For right-or-wrong values this is Bonett and Price's interval. Unlike mean ± 1.96 standard errors it does not shrink
    to a point when nothing flipped, which says little about a few problems.
    """
    asked = len(differences) + 2
    centre = fsum(differences) / asked
    variance = (fsum(one * one for one in differences) + 2) / asked - centre**2
    half = Z95 * sqrt(max(variance, 0.0) / asked)
    return max(-1.0, centre - half), min(1.0, centre + half)


def sign_test(gained: int, lost: int) -> float:
    """Exact and two-sided: a fair coin, thrown once for every problem that flipped. With one sample a problem this is
    McNemar's exact test.

    >>> round(sign_test(5, 0), 9), sign_test(3, 3)
    (0.0625, 1.0)
    """
    flips, fewer = gained + lost, min(gained, lost)
    # By logarithms: the binomial coefficients of 100,000 flips have no room in a float.
    term = exp(lgamma(flips + 1) - lgamma(fewer + 1) - lgamma(flips - fewer + 1) - flips * log(2))
    tail = 0.0
    for heads in range(fewer, -1, -1):
        tail += term
        term *= heads / (flips - heads + 1)
    return min(1.0, 2 * tail)


def _flips(pairs: Pairs) -> Flips | None:
    if not pairs or any(mark.c is None for pair in pairs for mark in pair):
        return None
    # Rounded: 4/5 − 3/5 is no more than 1/5 − 0/5.
    moved = [(by, new.id) for old, new in pairs if (by := round(new.share - old.share, 9))]
    gained = sorted((-by, name) for by, name in moved if by > 0)
    lost = sorted((by, name) for by, name in moved if by < 0)
    return Flips(
        gained=len(gained),
        lost=len(lost),
        first_gained=tuple(name for _, name in gained[:IDS_SHOWN]),
        first_lost=tuple(name for _, name in lost[:IDS_SHOWN]),
        p=sign_test(len(gained), len(lost)),
    )


def _notes(old: Side, new: Side, both: int) -> Iterable[str]:
    if old.version != new.version:
        yield (
            f"Version {old.version} then and {new.version} now: problems, prompt, limit or judging differ, so it is "
            "another question and no difference is told."
        )
        return
    most = max(len(old.marks), len(new.marks))
    if both < most:
        yield (
            f"{both} problems are marked in both runs (of {len(old.marks)} then and {len(new.marks)} now); "
            "the figures are those of these problems."
        )
    samples = [{mark.n for mark in side.marks} for side in (old, new)]
    if both and samples[0] != samples[1]:
        shown = [" or ".join(map(str, sorted(one))) for one in samples]
        yield f"{shown[0]} samples of every problem then and {shown[1]} now: only metrics of both are subtracted."
