"""The values of all problems → one figure, and how sure one can be of it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, fsum, isnan, log, sqrt
from typing import Any

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.scoring import paths, stats
from model_accuracy_eval.scoring.metrics import own, translation


@dataclass(frozen=True, kw_only=True, slots=True)
class Aggregation:
    """One row of the table."""

    figure: Callable[[Sequence[Any]], float | None]
    prepare: Callable[[Sequence[Any]], Sequence[Any]] = list
    """What is made of the values once, however often a bootstrap draws among them."""
    draws: int = 1000
    """Draws of the bootstrap; 0: there is a formula, or nothing can be said."""

    def over_runs(self, problems: Sequence[Sequence[Any]]) -> float | None:
        """The mean of the runs' figures: a problem has one value a run, and None where a run knows nothing of it."""
        return self._mean_figure(self._prepared(problems))

    def stderr(self, problems: Sequence[Sequence[Any]]) -> float | None:
        """Standard error of that: by formula for a mean, else by bootstrap; a problem is drawn with all its runs."""
        if self.figure is stats.mean:
            known = [stats.mean([value for value in values if value is not None]) for values in problems]
            return stats.stderr([value for value in known if value is not None])
        return stats.bootstrap(self._mean_figure, self._prepared(problems), self.draws)

    def _prepared(self, problems: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Problem by problem again, after every run was prepared by itself; problems that a run lacks are left out."""
        whole = [values for values in problems if None not in values]
        return list(zip(*(self.prepare(run) for run in zip(*whole, strict=True)), strict=True))

    def _mean_figure(self, prepared: Sequence[tuple[Any, ...]]) -> float | None:
        figures = [self.figure(run) for run in zip(*prepared, strict=True)]
        return stats.mean([figure for figure in figures if figure is not None])


def median(values: Sequence[float]) -> float | None:
    """The upper one of the two middle values, where there are two."""
    return sorted(values)[len(values) // 2] if values else None


def nanmean(values: Sequence[float]) -> float | None:
    """The mean of what is a number."""
    return stats.mean([value for value in values if not isnan(value)])


def perplexity(values: Sequence[float]) -> float | None:
    """The exponential of the mean negative logarithm."""
    found = stats.mean(values)
    return None if found is None else _exp(-found)


def _exp(power: float) -> float | None:
    """Beyond what a number can hold, the figure is unknown."""
    return exp(power) if power < 700 else None


def _per_piece(values: Sequence[tuple[float, int]]) -> float:
    return -fsum(logprob for logprob, _ in values) / sum(pieces for _, pieces in values)


def weighted_perplexity(values: Sequence[tuple[float, int]]) -> float | None:
    """The exponential of the negative logarithm per piece, all texts together."""
    return _exp(_per_piece(values))


def bits_per_byte(values: Sequence[tuple[float, int]]) -> float:
    """Negative binary logarithm per byte, all texts together."""
    return _per_piece(values) / log(2)


def pooled(values: Sequence[tuple[int, int]]) -> float | None:
    """Share of the hits in all pieces of all problems together; a problem has (hits, pieces)."""
    pieces = sum(all_of_it for _, all_of_it in values)
    return sum(hits for hits, _ in values) / pieces if pieces else None


def f1(pairs: Sequence[tuple[int, int]]) -> float:
    """F1 of option 1 where the options are 0 and 1, else the mean of the F1 of every option."""
    labels = {label for pair in pairs for label in pair}
    wanted = {1} if labels <= {0, 1} else labels
    return fsum(_f1_of(label, pairs) for label in wanted) / len(wanted)


def _f1_of(label: int, pairs: Sequence[tuple[int, int]]) -> float:
    hits = sum(gold == said == label for gold, said in pairs)
    named = sum((gold == label) + (said == label) for gold, said in pairs)
    return 2 * hits / named if named else 0.0


def matthews(pairs: Sequence[tuple[int, int]]) -> float:
    """Correlation of right and chosen options, however many there are; 0 where one of the two never varies."""
    golds, saids = Counter(gold for gold, _ in pairs), Counter(said for _, said in pairs)
    size = len(pairs)
    right = sum(gold == said for gold, said in pairs)
    covariance = right * size - sum(golds[label] * saids[label] for label in golds)
    spread = (size**2 - sum(n**2 for n in saids.values())) * (size**2 - sum(n**2 for n in golds.values()))
    return covariance / sqrt(spread) if spread else 0.0


def _corpus(kind: str) -> Aggregation:
    return Aggregation(
        figure=partial(translation.figure, kind), prepare=partial(translation.statistics, kind), draws=100
    )


AGGREGATIONS: dict[str, Aggregation] = {
    "mean": Aggregation(figure=stats.mean),
    "nanmean": Aggregation(figure=nanmean),
    "median": Aggregation(figure=median),
    "sum": Aggregation(figure=fsum, draws=0),
    "max": Aggregation(figure=max, draws=0),
    "min": Aggregation(figure=min, draws=0),
    "perplexity": Aggregation(figure=perplexity),
    "weighted_perplexity": Aggregation(figure=weighted_perplexity),
    "bits_per_byte": Aggregation(figure=bits_per_byte),
    "pooled": Aggregation(figure=pooled),
    "f1": Aggregation(figure=f1),
    "matthews_corrcoef": Aggregation(figure=matthews),
    "brier_score": Aggregation(figure=stats.mean),
    **{kind: _corpus(kind) for kind in ("bleu", "chrf", "chrf++", "ter")},
}


def aggregation(name: str) -> Aggregation:
    """The row of that name, or what the name says where to find; an unknown one is answered with the nearest."""
    if name in AGGREGATIONS:
        return AGGREGATIONS[name]
    if name.startswith(own.HUGGING_FACE):
        return Aggregation(figure=partial(own.computed, name), draws=0)
    if paths.is_path(name):
        return Aggregation(figure=partial(own.aggregated, name), draws=0)
    raise UnknownName("aggregation", name, AGGREGATIONS)
