"""One dataset in two runs: differences paired by problem, and which problems changed sides.

Pairing removes what both runs share, the difficulty of each problem, so that small differences show in the same
sample.
"""

from collections.abc import Iterable, Sequence
from math import exp, inf, isclose, lgamma, log, sqrt
from typing import NamedTuple

import msgspec
import numpy

from model_accuracy_eval.records import (
    ChangeCertainty,
    DatasetChange,
    DatasetResult,
    Difference,
    FigureBounds,
    Flips,
    Interval,
    ProblemResult,
    SummaryRow,
)
from model_accuracy_eval.scoring.figures import intervals
from model_accuracy_eval.scoring.figures.aggregations import Bootstrapped, Statistics, aggregation
from model_accuracy_eval.scoring.figures.intervals import Z95, ClusterSums, Floats, Places, mean
from model_accuracy_eval.scoring.figures.quantiles import t_quantile
from model_accuracy_eval.scoring.figures.reductions import ESTIMATORS
from model_accuracy_eval.scoring.verdicts.gate_lines import of_part


def whole_figures(rows: Iterable[SummaryRow]) -> dict[str, float | None]:
    """The figures by name; an estimate from a part is none."""
    return {row.metric: None if row.estimated else row.value for row in rows}


def is_mean_of_problems(row: SummaryRow, problems: Sequence[ProblemResult]) -> bool:
    """Whether the figure really is the mean of the problems' values, which not every metric is."""
    if row.interval is None or row.value is None or row.estimated:
        return False
    values = [value_of(row.metric, problem) for problem in problems if is_in(row.metric, problem)]
    average = mean([value for value in values if value is not None])
    return None not in values and average is not None and abs(100 * average - row.value) < 1e-6


def whole_figure(metric: str) -> str:
    """The figure of the whole dataset that a part's is one of."""
    part = of_part(metric)
    return part[0] if part else metric


def is_in(metric: str, problem: ProblemResult) -> bool:
    """Whether the problem counts for the figure: that of a part is about the problems of one category."""
    part = of_part(metric)
    return part is None or problem.category == part[1]


def value_of(metric: str, problem: ProblemResult) -> float | None:
    """A problem's value of a metric, 0..1."""
    if (figure := problem.figures.get(whole_figure(metric))) is not None:
        return figure / 100
    if problem.c is not None:
        return value_of_count(metric, problem.n, problem.c)
    return None if metric.partition("@")[0] in ESTIMATORS else problem.share


def value_of_count(metric: str, n: int, c: int) -> float | None:
    """The value of a problem with c of n samples right."""
    kind, _, size = whole_figure(metric).partition("@")
    if kind not in ESTIMATORS:
        return c / n
    return ESTIMATORS[kind](n, c, int(size)) if size.isdecimal() and 1 <= int(size) <= n else None


# The change of a figure of a whole corpus, such as BLEU, between two runs: a paired bootstrap over problems.
#
# Every draw takes the same problems from both runs, so how hard they are drops out. What is drawn are the statistics of
# each problem that the figure is made of, so that no answer has to be judged again.


DRAWS = 1000


class CorpusChange(NamedTuple):
    """Figures over the problems of both runs, and the standard error of their difference."""

    old: float
    new: float
    stderr: float


def corpus_change(
    name: str, scale: float, old: Sequence[Statistics], new: Sequence[Statistics], *, clusters: Sequence[str] = ()
) -> CorpusChange | None:
    """`old` and `new` are of the same problems, in the same order; None if the figure cannot be made of them."""
    found = aggregation(name)
    if not isinstance(found, Bootstrapped) or len(old) < 2:
        return None
    sides = found.arrays(old), found.arrays(new)
    if None in sides:
        return None

    def differences(drawn: Places) -> Floats:
        before, after = (found.figures_of(arrays, drawn) for arrays in sides if arrays is not None)
        return after - before

    whole = numpy.arange(len(old))[None]
    before, after = (float(found.figures_of(arrays, whole)[0]) for arrays in sides if arrays is not None)
    stderr = intervals.bootstrap(differences, len(old), DRAWS, clusters)
    if stderr is None or not numpy.isfinite([before, after, stderr]).all():
        return None
    return CorpusChange(scale * before, scale * after, scale * stderr)


IDS_SHOWN = 20


Pairs = Sequence[tuple[ProblemResult, ProblemResult]]


def _none(metric: str, figure: float | None) -> Difference:
    if figure is None:
        return Difference(metric=metric, old=None, new=None)
    exact = ChangeCertainty(problems=2, worst=0.0, worst_stderr=0.0, best=0.0, best_stderr=0.0)
    nothing = Interval(low=0.0, high=0.0)
    return Difference(metric=metric, old=figure, new=figure, points=0.0, interval=nothing, certainty=exact)


def _clusters(pairs: Pairs) -> list[str]:
    """A run of an older release has kept none."""
    found = [old.cluster or new.cluster for old, new in pairs]
    return found if any(found) else []


def compare(old: DatasetResult, new: DatasetResult, *, is_same_run: bool = False) -> DatasetChange:
    """Figures and differences over the problems of both runs; different versions are not subtracted. A run does not
    differ from itself, whatever its problems are."""
    same = old.version == new.version
    by_id = {problem.problem: problem for problem in old.problem_results} if same else {}
    pairs = [(by_id[problem.problem], problem) for problem in new.problem_results if problem.problem in by_id]
    figures = whole_figures(old.rows) | whole_figures(new.rows)
    return DatasetChange(
        dataset=new.dataset,
        old_version=old.version,
        new_version=new.version,
        problems=len(pairs),
        differences=tuple(
            _none(metric, figure) if is_same_run else _difference(metric, old, new, pairs, same=same)
            for metric, figure in figures.items()
        ),
        flips=None if old.part or new.part else _flips(pairs),
        old_counts=old.counts,
        new_counts=new.counts,
        old_speed=old.speed,
        new_speed=new.speed,
        notes=("It is one run, compared with itself.",) if is_same_run else tuple(_notes(old, new, pairs)),
    )


def _difference(metric: str, old: DatasetResult, new: DatasetResult, pairs: Pairs, *, same: bool) -> Difference:
    was, now = old.row(metric), new.row(metric)
    before, after = (None if row is None or row.estimated else row.value for row in (was, now))
    if not same or was is None or now is None or before is None or after is None:
        return Difference(metric=metric, old=before, new=after)
    pairs = [pair for pair in pairs if is_in(metric, pair[0]) and is_in(metric, pair[1])]
    are_means = is_mean_of_problems(was, old.problem_results) and is_mean_of_problems(now, new.problem_results)
    if len(pairs) < 2 or not are_means:
        bounds = _difference_of_bounds(before, was.bounds, after, now.bounds)
        difference = Difference(metric=metric, old=before, new=after, points=after - before, bounds=bounds)
        complete = len(pairs) == len(old.problem_results) == len(new.problem_results)
        is_drawn = was.aggregation != "mean" and was.drawn and now.drawn and not metric.endswith("]")
        alike = (was.aggregation, was.share) == (now.aggregation, now.share)
        return _of_corpus(difference, was, pairs) if complete and is_drawn and alike else difference
    olds = [value_of(metric, problem) or 0.0 for problem, _ in pairs]
    news = [value_of(metric, problem) or 0.0 for _, problem in pairs]
    before, after = 100 * (mean(olds) or 0.0), 100 * (mean(news) or 0.0)
    worst, best, samples = _extreme_changes(metric, pairs)
    clusters = _clusters(pairs)
    interval = Interval(low=100 * paired_interval(worst, clusters)[0], high=100 * paired_interval(best, clusters)[1])
    bounds = FigureBounds(low=100 * (mean(worst) or 0.0), high=100 * (mean(best) or 0.0), samples=samples)
    (low, low_error), (high, high_error) = _centre_and_error(worst, clusters), _centre_and_error(best, clusters)
    return Difference(
        metric=metric,
        old=before,
        new=after,
        points=after - before,
        interval=interval,
        bounds=bounds if samples else None,
        certainty=ChangeCertainty(
            problems=len(worst) + 2,
            worst=100 * low,
            worst_stderr=100 * low_error,
            best=100 * high,
            best_stderr=100 * high_error,
            sharing=ClusterSums(worst, clusters).sharing(),
        ),
    )


def _of_corpus(difference: Difference, row: SummaryRow, pairs: Pairs) -> Difference:
    """The same difference with the error of a figure that is no mean over problems, where both runs have kept what the
    figure is made of. What is computed and not drawn is the same when it is asked again, so it needs no error."""
    metric, points = difference.metric, difference.points
    olds, news = (
        [pair[side].statistics[metric] for pair in pairs if metric in pair[side].statistics] for side in (0, 1)
    )
    if not len(pairs) == len(olds) == len(news):
        return difference
    change = corpus_change(row.aggregation, 100.0 if row.share else 1.0, olds, news, clusters=_clusters(pairs))
    if change is None or not (_is_near(change.old, difference.old) and _is_near(change.new, difference.new)):
        return difference
    low, high = (points, points) if difference.bounds is None else (difference.bounds.low, difference.bounds.high)
    if low is None or high is None:
        return difference
    known = ChangeCertainty(
        problems=len(pairs), worst=low, worst_stderr=change.stderr, best=high, best_stderr=change.stderr, within=None
    )
    interval = Interval(low=low - Z95 * change.stderr, high=high + Z95 * change.stderr)
    return msgspec.structs.replace(difference, interval=interval, certainty=known)


def _is_near(figure: float, other: float | None) -> bool:
    return other is not None and isclose(figure, other, rel_tol=1e-6, abs_tol=1e-6)


def change_limits(certainty: ChangeCertainty, confidence: float) -> Interval:
    """Between which points the change lies; each end alone holds with this confidence."""
    independent = certainty.sharing.independent + 2 if certainty.sharing else certainty.problems
    quantile = t_quantile(confidence, independent - 1)
    most = inf if certainty.within is None else certainty.within
    return Interval(
        low=max(-most, certainty.worst - quantile * certainty.worst_stderr),
        high=min(most, certainty.best + quantile * certainty.best_stderr),
    )


def _extreme_changes(metric: str, pairs: Pairs) -> tuple[list[float], list[float], int]:
    """Every problem's least and greatest change, and the number of samples without a verdict that part them."""
    worst, best, samples = [], [], 0
    metric = whole_figure(metric)
    for old, new in pairs:
        (old_low, old_high), (new_low, new_high) = _ends(metric, old), _ends(metric, new)
        worst.append(new_low - old_high)
        best.append(new_high - old_low)
        samples += sum(problem.bounds[metric].samples for problem in (old, new) if metric in problem.bounds)
    return worst, best, samples


def _ends(metric: str, problem: ProblemResult) -> tuple[float, float]:
    """Least and greatest value of a problem, 0..1."""
    value = value_of(metric, problem) or 0.0
    bounds = problem.bounds.get(metric)
    if bounds is None:
        return value, value
    return (bounds.low or 0.0) / 100, (100.0 if bounds.high is None else bounds.high) / 100


def _difference_of_bounds(
    before: float, old: FigureBounds | None, after: float, new: FigureBounds | None
) -> FigureBounds | None:
    """The limits of a change of two figures that are no means over problems."""
    if old is None and new is None:
        return None
    old = old or FigureBounds(low=before, high=before, samples=0)
    new = new or FigureBounds(low=after, high=after, samples=0)
    return FigureBounds(
        low=None if new.low is None or old.high is None else new.low - old.high,
        high=None if new.high is None or old.low is None else new.high - old.low,
        samples=old.samples + new.samples,
    )


def paired_interval(differences: Sequence[float], clusters: Sequence[str] = ()) -> tuple[float, float]:
    """95 % interval of the mean of per-problem differences in -1..1, as if two more problems, or clusters of them, had
    been asked: one gained completely, one lost completely.

    For right-or-wrong values this is Bonett and Price's interval. Unlike mean ± 1.96 standard errors it does not shrink
    to a point when nothing changed, which says little about a few problems.
    """
    centre, error = _centre_and_error(differences, clusters)
    reach = error * (t_quantile(0.975, ClusterSums(differences, clusters).independent + 1) if clusters else Z95)
    return max(-1.0, centre - reach), min(1.0, centre + reach)


def _centre_and_error(differences: Sequence[float], clusters: Sequence[str]) -> tuple[float, float]:
    sums = ClusterSums(differences, clusters)
    problems = sums.problems + 2 * sums.size
    centre = sums.total / problems
    more = sums.size**2 * ((1 - centre) ** 2 + (1 + centre) ** 2)
    return centre, sqrt(sums.squares(centre) + more) / problems


def sign_test(gained: int, lost: int) -> float:
    """Exact two-sided sign test: a fair coin, tossed once for every problem that changed. With one sample a problem
    this is McNemar's exact test.

    >>> round(sign_test(5, 0), 9), sign_test(3, 3)
    (0.0625, 1.0)
    """
    flips, fewer = gained + lost, min(gained, lost)
    # By logarithms: the binomial coefficients of 100,000 flips do not fit into a float.
    term = exp(lgamma(flips + 1) - lgamma(fewer + 1) - lgamma(flips - fewer + 1) - flips * log(2))
    tail = 0.0
    for heads in range(fewer, -1, -1):
        tail += term
        term *= heads / (flips - heads + 1)
    return min(1.0, 2 * tail)


def share_change(old: ProblemResult, new: ProblemResult) -> float:
    """By how much more of the problem is right; what one with lost samples would have been else, nobody knows."""
    # Rounded, so that 4/5 − 3/5 equals 1/5 − 0/5.
    return 0.0 if old.bounds or new.bounds else round(new.share - old.share, 9)


def _flips(pairs: Pairs) -> Flips | None:
    if not pairs or any(problem.c is None for pair in pairs for problem in pair):
        return None
    changes = [(change, new.problem) for old, new in pairs if (change := share_change(old, new))]
    gained = sorted((-change, name) for change, name in changes if change > 0)
    lost = sorted((change, name) for change, name in changes if change < 0)
    return Flips(
        gained=len(gained),
        lost=len(lost),
        first_gained=tuple(name for _, name in gained[:IDS_SHOWN]),
        first_lost=tuple(name for _, name in lost[:IDS_SHOWN]),
        p=sign_test(len(gained), len(lost)),
    )


def _notes(old: DatasetResult, new: DatasetResult, pairs: Pairs) -> Iterable[str]:
    both = len(pairs)
    if old.version != new.version:
        yield (
            f"Version {old.version} then and {new.version} now: problems, prompt, limit or judging differ, so no "
            "difference is shown."
        )
        return
    for when, outcome in (("then", old), ("now", new)):
        if outcome.part is not None and outcome.part.estimated:
            yield (
                f"The gates were decided after {outcome.part.share} of the requests {when}: figures of a part are not "
                "subtracted; --reuse RUN asks for the rest."
            )
            return
    asked = len(old.problem_results), len(new.problem_results)
    if both < max(asked):
        yield (
            f"{both} problems are judged in both runs (of {asked[0]} then and {asked[1]} now); the figures are those "
            "of these problems."
        )
    each = [outcome.counts for outcome in (old, new)]
    lost = [counts.rejected + counts.failed + counts.missing + counts.unjudged for counts in each]
    if any(lost):
        yield (
            f"{lost[0]} samples then and {lost[1]} now have no verdict: points are given from the worst case to the "
            "best, and problems with such samples are neither gained nor lost."
        )
    samples = [{problem.n for problem in outcome.problem_results} for outcome in (old, new)]
    if both and samples[0] != samples[1]:
        shown = [" or ".join(map(str, sorted(sizes))) for sizes in samples]
        yield f"{shown[0]} samples of every problem then and {shown[1]} now: only metrics of both are subtracted."
    if clusters := _clusters(pairs):
        sharing = ClusterSums([0.0] * both, clusters).sharing()
        yield f"The {both:,} problems share {sharing} (passages, pictures or the like): intervals count these."
