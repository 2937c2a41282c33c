"""The values of all problems → one figure, and its standard error.

A figure without a formula for its error is computed for many draws at once: from an array of draws x problems, or of
draws x problems x numbers where a problem's value has several numbers. One draw of all problems is the figure itself.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum, isnan, log
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.optional import numpy
from model_accuracy_eval.scoring import function_paths, stats
from model_accuracy_eval.scoring.metrics import translation, user_functions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from model_accuracy_eval.scoring.stats import Floats, Places

    Labels = NDArray[numpy.int64]
    """(right, chosen) labels as numbers: draws x problems x 2."""

Number = TypeVar("Number", bound="numpy.generic")
Problems = Sequence[Sequence[Any]]
"""For every problem one value a run; None if a run knows nothing of the problem."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Aggregation:
    """A function of the values of all problems."""

    figure: Callable[[Sequence[Any]], float | None]

    def over_runs(self, problems: Problems) -> float | None:
        """The mean of the runs' figures; problems that a run lacks are left out."""
        figures = [self.figure(run) for run in _runs(problems)]
        return stats.mean([figure for figure in figures if figure is not None])

    def stderr(self, problems: Problems) -> float | None:
        """Standard error of `over_runs`; None where there is neither a formula nor a bootstrap."""
        return None


class Mean(Aggregation):
    """The mean, whose standard error has a formula."""

    def stderr(self, problems: Problems) -> float | None:
        means = [stats.mean([value for value in values if value is not None]) for values in problems]
        return stats.stderr([value for value in means if value is not None])


@dataclass(frozen=True, kw_only=True, slots=True)
class Bootstrapped(Aggregation, Generic[Number]):
    """A figure whose standard error is found by drawing problems again, each with all its runs."""

    prepare: "Callable[[Sequence[Any]], NDArray[Number]]"
    """The values of one run as an array, made once, however often problems are drawn."""
    figures: "Callable[[NDArray[Number]], Floats]"
    draws: int

    def stderr(self, problems: Problems) -> float | None:
        runs = [self.prepare(run) for run in _runs(problems)]

        def mean_figures(drawn: "Places") -> "Floats":
            return _nanmean(numpy.stack([self.figures(run[drawn]) for run in runs], axis=1))

        return stats.bootstrap(mean_figures, len(runs[0]), self.draws) if runs else None


def _runs(problems: Problems) -> list[tuple[Any, ...]]:
    """Run by run, without the problems that a run lacks."""
    return list(zip(*(values for values in problems if None not in values), strict=True))


def _floats(values: Sequence[Any]) -> "Floats":
    return numpy.asarray(values, dtype=float)


def _bootstrapped(
    figures: "Callable[[NDArray[Number]], Floats]",
    prepare: "Callable[[Sequence[Any]], NDArray[Number]]",
    draws: int = 1000,
) -> Bootstrapped[Number]:
    def figure(values: Sequence[Any]) -> float | None:
        if not values:
            return None
        (result,) = figures(prepare(values)[None]).tolist()
        return None if isnan(result) else result

    return Bootstrapped(figure=figure, prepare=prepare, figures=figures, draws=draws)


def _divide(dividend: "Floats", divisor: "Floats") -> "Floats":
    """The quotients; NaN where the divisor is 0."""
    quotients: Floats = numpy.full(dividend.shape, numpy.nan)
    numpy.divide(dividend, divisor, out=quotients, where=divisor != 0)
    return quotients


def _exp(powers: "Floats") -> "Floats":
    """The exponentials; NaN where they do not fit into a float."""
    exponentials: Floats = numpy.full(powers.shape, numpy.nan)
    numpy.exp(powers, out=exponentials, where=powers < 700)
    return exponentials


def _nanmean(values: "Floats") -> "Floats":
    """The mean of what is a number; NaN where nothing is."""
    numbers = ~numpy.isnan(values)
    return _divide(numpy.where(numbers, values, 0.0).sum(axis=1), numbers.sum(axis=1))


def _median(values: "Floats") -> "Floats":
    """The upper one of the two middle values, if there are two."""
    middle = values.shape[1] // 2
    return numpy.partition(values, middle, axis=1)[:, middle]


def _perplexity(values: "Floats") -> "Floats":
    """The exponential of the mean negative log-likelihood."""
    return _exp(-values.mean(axis=1))


def _nats_per_unit(values: "Floats") -> "Floats":
    """Negative log-likelihood of all texts together, divided by their words or bytes."""
    loglikelihoods, units = values.sum(axis=1).T
    return _divide(-loglikelihoods, units)


def _pooled(values: "Floats") -> "Floats":
    """Share of the hits in all items of all problems together; a problem has (hits, items)."""
    hits, items = values.sum(axis=1).T
    return _divide(hits, items)


def _label_codes(pairs: Sequence[tuple[Hashable, Hashable]]) -> "Labels":
    """(right, chosen) labels as small numbers: 0 and 1 stay, any others follow."""
    codes: dict[Hashable, int] = {0: 0, 1: 1}
    return numpy.array([[codes.setdefault(label, len(codes)) for label in pair] for pair in pairs])


def _label_counts(labels: "Labels", size: int) -> "Labels":
    """How often each of the first `size` codes occurs in each draw."""
    draws = len(labels)
    places = labels + size * numpy.arange(draws)[:, None]
    return numpy.bincount(places.ravel(), minlength=draws * size).reshape(draws, size)


def _f1(pairs: "Labels") -> "Floats":
    """F1 of label 1 if all labels are 0 or 1, else the mean of the F1 of every label."""
    gold, chosen = pairs[..., 0], pairs[..., 1]
    size = max(2, int(pairs.max()) + 1)
    named = _label_counts(gold, size) + _label_counts(chosen, size)
    # Pairs that do not agree are counted under one code more, which is cut off.
    hits = _label_counts(numpy.where(gold == chosen, gold, size), size + 1)[:, :size]
    scores = numpy.where(named > 0, 2 * hits / numpy.maximum(named, 1), 0.0)
    binary = named[:, 2:].sum(axis=1) == 0
    return numpy.where(binary, scores[:, 1], scores.sum(axis=1) / (named > 0).sum(axis=1))


def _matthews(pairs: "Labels") -> "Floats":
    """Correlation of right and chosen labels, however many there are; 0 where one of the two never varies."""
    gold, chosen = pairs[..., 0], pairs[..., 1]
    size, labels = pairs.shape[1], int(pairs.max()) + 1
    golds, chosens = _label_counts(gold, labels), _label_counts(chosen, labels)
    covariance = (gold == chosen).sum(axis=1) * size - (golds * chosens).sum(axis=1)
    # As floats: the product does not fit into an integer beyond some ten thousand problems.
    spread = (size**2 - (chosens**2).sum(axis=1)).astype(float) * (size**2 - (golds**2).sum(axis=1))
    return numpy.where(spread > 0, covariance / numpy.sqrt(numpy.maximum(spread, 1.0)), 0.0)


def _corpus(kind: str) -> Aggregation:
    return _bootstrapped(partial(translation.figures, kind), partial(translation.statistics, kind), draws=100)


AGGREGATIONS: dict[str, Aggregation] = {
    "mean": Mean(figure=stats.mean),
    "nanmean": _bootstrapped(_nanmean, _floats),
    "median": _bootstrapped(_median, _floats),
    "sum": Aggregation(figure=fsum),
    "max": Aggregation(figure=max),
    "min": Aggregation(figure=min),
    "perplexity": _bootstrapped(_perplexity, _floats),
    "weighted_perplexity": _bootstrapped(lambda values: _exp(_nats_per_unit(values)), _floats),
    "bits_per_byte": _bootstrapped(lambda values: _nats_per_unit(values) / log(2), _floats),
    "pooled": _bootstrapped(_pooled, _floats),
    "f1": _bootstrapped(_f1, _label_codes),
    "matthews_corrcoef": _bootstrapped(_matthews, _label_codes),
    "brier_score": Mean(figure=stats.mean),
    **{kind: _corpus(kind) for kind in ("bleu", "chrf", "chrf++", "ter")},
}


def aggregation(name: str) -> Aggregation:
    """The aggregation with this name, or the one that a path leads to; an unknown name is refused with the nearest."""
    if name in AGGREGATIONS:
        return AGGREGATIONS[name]
    if name.startswith(user_functions.HUGGING_FACE):
        return Aggregation(figure=partial(user_functions.hugging_face_figure, name))
    if function_paths.is_path(name):
        return Aggregation(figure=partial(user_functions.user_figure, name))
    raise UnknownName("aggregation", name, AGGREGATIONS)
