"""Whether replicas of one service differ: in what they answer to the same problems, and in how fast.

Answers: within a problem, which samples go to which replica has nothing to do with their values, as long as the
replicas are alike. So the sum of a replica's values is compared with what a permutation of the problem's values would
give it (Cochran, Mantel and Haenszel's test with a problem as stratum). Problems that one replica answered alone are
compared with their neighbours, which were asked at about the same time.

Speed: neighbouring samples share the load of their moment, so blocks of samples are compared, by their signs.

The most different replica is named first, and the others are compared without it, because it also makes the others
look different. Of two, each differs from the other.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from math import comb, fsum, sqrt
from statistics import NormalDist, median
from typing import NamedTuple, TypeVar

from model_accuracy_eval.records import DatasetResult, Interval, ProblemResult, ReplicaFigure, ReplicaPace
from model_accuracy_eval.scoring.figures.quantiles import normal_quantile

CONFIDENCE = 0.99
"""Of all comparisons of a run together: one run in a hundred names a replica that is like the others."""
_NEIGHBOURS = 10
_LEAST_STRATA = 10
"""With fewer, nothing is said."""
_SLOWER = 1.1
"""A smaller ratio is not worth a word, however sure it is."""
BLOCKS = 20

OfReplica = TypeVar("OfReplica")
Stratum = Sequence[tuple[str, float]]
"""A replica and a value of each sample."""


class _Change(NamedTuple):
    """A replica beside the others on the same problems."""

    z: float
    points: float
    interval: Interval


def replica_figures(dataset_results: Sequence[DatasetResult]) -> tuple[ReplicaFigure, ...]:
    """Returns one for each replica, in the order of their names; none if there was one service."""
    shares = [result for result in dataset_results if result.rows and result.rows[0].share]
    samples: dict[str, list[float]] = defaultdict(list)
    for problem in chain.from_iterable(result.problem_results for result in shares):
        for name, value in _answered(problem):
            samples[name].append(value)
    paces = _paces(dataset_results)
    names = sorted(samples.keys() | paces.keys())
    if not names:
        return ()
    changes, different = _one_by_one(names, partial(_changes, [*chain.from_iterable(map(_strata, shares))]))
    ratios, slow = _one_by_one(sorted(paces), partial(_ratios, paces))
    return tuple(
        ReplicaFigure(
            replica=name,
            samples=len(samples[name]),
            figure=100 * fsum(samples[name]) / len(samples[name]) if samples[name] else None,
            points=changes[name].points if name in changes else None,
            interval=changes[name].interval if name in changes else None,
            differs=name in different or (len(names) == 2 and bool(different)),
            gap=median(known) if (known := [gap for gap in paces.get(name, ()) if gap is not None]) else None,
            ratio=ratios.get(name),
            differs_in_speed=name in slow,
        )
        for name in names
    )


def _answered(problem: ProblemResult) -> Iterator[tuple[str, float]]:
    """A sample without an answer has no replica."""
    return ((name, value) for name, value in zip(problem.replicas, problem.values, strict=False) if name)


def _strata(result: DatasetResult) -> Iterator[Stratum]:
    alone: list[tuple[str, float]] = []
    for problem in result.problem_results:
        stratum = list(_answered(problem))
        if len({name for name, _ in stratum}) > 1:
            yield stratum
        elif stratum:
            # One value: its samples are more alike than those of its neighbours.
            alone.append((stratum[0][0], fsum(value for _, value in stratum) / len(stratum)))
    yield from (alone[at : at + _NEIGHBOURS] for at in range(0, len(alone), _NEIGHBOURS))


def _one_by_one(
    names: Iterable[str], compare: Callable[[Sequence[str], int], tuple[dict[str, OfReplica], str | None]]
) -> tuple[dict[str, OfReplica], list[str]]:
    """What was found of each, and the names of those that differ by more than chance, one comparison after the other.

    `compare` is given those that are left and how many comparisons they are, and names the most different one if it is
    surely different.
    """
    left, found, different = list(names), dict[str, OfReplica](), list[str]()
    while len(left) > 1:
        now, worst = compare(left, 1 if len(left) == 2 else len(left))
        found |= now
        if worst is None:
            break
        different.append(worst)
        left.remove(worst)
    return found, different


def _changes(strata: Sequence[Stratum], left: Sequence[str], comparisons: int) -> tuple[dict[str, _Change], str | None]:
    """The change of each replica."""
    there = [[sample for sample in stratum if sample[0] in left] for stratum in strata]
    now = {name: change for name in left if (change := _change(name, there, comparisons))}
    worst = min(now, key=lambda name: (-round(abs(now[name].z), 9), now[name].points), default=None)
    if worst is None:
        return now, None
    p, interval = 2 * NormalDist().cdf(-abs(now[worst].z)) * comparisons, now[worst].interval
    return now, worst if p < 1 - CONFIDENCE and not interval.low <= 0 <= interval.high else None


def _change(name: str, strata: Iterable[Stratum], comparisons: int) -> _Change | None:
    """Permutation variance for the test, the variance between strata for the interval."""
    differences: list[tuple[float, float]] = []
    variance = 0.0
    for stratum in strata:
        own = [value for replica, value in stratum if replica == name]
        others = [value for replica, value in stratum if replica != name]
        if own and others:
            count, values = len(stratum), own + others
            mean = fsum(values) / count
            weight = len(own) * len(others) / count
            variance += weight * fsum((value - mean) ** 2 for value in values) / (count - 1)
            differences.append((weight, fsum(own) / len(own) - fsum(others) / len(others)))
    weights = fsum(weight for weight, _ in differences)
    if len(differences) < _LEAST_STRATA or not variance:
        return None
    total = fsum(weight * difference for weight, difference in differences)
    mean = total / weights
    spread = fsum((weight * (difference - mean)) ** 2 for weight, difference in differences)
    stderr = sqrt(spread * len(differences) / (len(differences) - 1)) / weights
    reach = normal_quantile(1 - (1 - CONFIDENCE) / (2 * comparisons)) * stderr
    return _Change(total / sqrt(variance), 100 * mean, Interval(low=100 * (mean - reach), high=100 * (mean + reach)))


def replica_paces(gaps: Sequence[tuple[str, float]]) -> tuple[ReplicaPace, ...]:
    """Each replica's median gap in every block. `gaps`: between the chunks of one dataset's samples, each with its
    replica, in the order in which they were answered."""
    names = sorted({name for name, _ in gaps})
    size = max(-(-len(gaps) // BLOCKS), 4 * len(names))
    blocks = [gaps[at : at + size] for at in range(0, len(gaps), size)] if names else []
    return tuple(
        ReplicaPace(
            replica=name,
            gaps=tuple(
                median(own) if (own := [gap for replica, gap in block if replica == name]) else None for block in blocks
            ),
        )
        for name in names
    )


def _paces(dataset_results: Iterable[DatasetResult]) -> dict[str, list[float | None]]:
    """The blocks of all datasets, one after the other."""
    by_name: dict[str, list[float | None]] = defaultdict(list)
    length = 0
    for result in dataset_results:
        for pace in result.paces:
            known = by_name[pace.replica]
            known += [None] * (length - len(known))
            known += pace.gaps
        length = max(map(len, by_name.values()), default=0)
    return {name: gaps + [None] * (length - len(gaps)) for name, gaps in by_name.items()}


def _ratios(
    paces: Mapping[str, Sequence[float | None]], left: Sequence[str], comparisons: int
) -> tuple[dict[str, float], str | None]:
    """How much longer the gaps of each replica are than the others' at the same time."""
    by_block = {name: list(_block_ratios(name, left, paces)) for name in left}
    now = {name: median(each) for name, each in by_block.items() if each}
    sure = [name for name in now if _sign_p(by_block[name]) * comparisons < 1 - CONFIDENCE]
    worst = max(sure, key=lambda name: now[name], default=None)
    return now, worst if worst is not None and now[worst] >= _SLOWER else None


def _block_ratios(name: str, left: Sequence[str], paces: Mapping[str, Sequence[float | None]]) -> Iterator[float]:
    for at, own in enumerate(paces[name]):
        others = [gap for other in left if other != name and (gap := paces[other][at]) is not None]
        if own and others and (middle := median(others)):
            yield own / middle


def _sign_p(ratios: Sequence[float]) -> float:
    """The two-sided sign test on the blocks in which the replica is faster or slower than the others."""
    slower, faster = sum(ratio > 1 for ratio in ratios), sum(ratio < 1 for ratio in ratios)
    count, extreme = slower + faster, max(slower, faster)
    return min(1.0, 2.0 * sum(comb(count, each) for each in range(extreme, count + 1)) / float(2**count))
