"""The values of all problems → one figure, and its standard error.

A figure without a formula for its error is computed for many draws at once: from an array of draws x problems, or of
draws x problems x numbers where a problem's value has several numbers. One draw of all problems is the figure itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum, isnan, log
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.scoring.figures import groups, intervals, label_figures
from model_accuracy_eval.scoring.figures.lost_values import Ends, fill, finite, mixes_infinities
from model_accuracy_eval.scoring.metrics import translation, user_functions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from model_accuracy_eval.scoring.figures.intervals import Floats, Places
    from model_accuracy_eval.scoring.figures.label_figures import Labels


Number = TypeVar("Number", bound="numpy.generic")
Statistics = tuple[tuple[float, ...], ...]
"""Of one problem, the numbers that each run adds to the figure."""
Problems = Sequence[Sequence[Any]]
"""For every problem one value a run; None if a run knows nothing of the problem."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Aggregation:
    """A function of the values of all problems."""

    figure: Callable[[Sequence[Any]], float | None]
    rises: bool | None = None
    """Whether the figure rises or falls with every value; None: neither, or it is not known."""
    limits: Callable[[Sequence[Any]], Ends] | None = None
    """For figures that neither rise nor fall: the ends of a run's figure while values are lost."""

    def over_runs(self, problems: Problems) -> float | None:
        """The mean of the runs' figures; problems that a run lacks are left out."""
        figures = [self.figure(run) for run in _runs(problems)]
        return intervals.mean([figure for figure in figures if figure is not None])

    def ends(self, problems: Problems) -> Ends:
        """The least and the greatest that `over_runs` can be while values are lost."""
        lows, highs = zip(*map(self._ends, _runs(problems)), strict=True)
        return intervals.mean(lows) if None not in lows else None, intervals.mean(highs) if None not in highs else None

    def _ends(self, run: Sequence[Any]) -> Ends:
        if self.limits is not None:
            return self.limits(run)
        if self.rises is None:
            return None, None
        ends = [fill(run, "low"), fill(run, "high")]
        low, high = (None if mixes_infinities(values) else finite(self.figure(values)) for values in ends)
        return (low, high) if self.rises else (high, low)

    def stderr(self, problems: Problems) -> float | None:
        """Standard error of `over_runs`; None where there is neither a formula nor a bootstrap."""
        return None


class Mean(Aggregation):
    """The mean, whose standard error has a formula."""

    def stderr(self, problems: Problems) -> float | None:
        means = [intervals.mean([value for value in values if value is not None]) for values in problems]
        return intervals.stderr([value for value in means if value is not None])


class WholeGroups(Aggregation):
    """The share of the groups whose rows are all right; a group is one observation."""

    def stderr(self, problems: Problems) -> float | None:
        return groups.stderr([values for values in problems if None not in values])


@dataclass(frozen=True, kw_only=True, slots=True)
class Bootstrapped(Aggregation, Generic[Number]):
    """A figure whose standard error is found by drawing problems again, each with all its runs."""

    prepare: "Callable[[Sequence[Any]], NDArray[Number]]"
    """The values of one run as an array, made once, however often problems are drawn."""
    figures: "Callable[[NDArray[Number]], Floats]"
    draws: int
    stands_alone: Callable[[Any], bool] = lambda value: True
    """Whether a value is prepared in the same way whatever the other problems' values are."""
    whole_numbers: bool = False

    def stderr(self, problems: Problems) -> float | None:
        runs = [self.prepare(run) for run in _runs(problems)]
        return intervals.bootstrap(partial(self.figures_of, runs), len(runs[0]), self.draws) if runs else None

    def figures_of(self, runs: "Sequence[NDArray[Number]]", drawn: "Places") -> "Floats":
        """The mean of the runs' figures, for every draw of problems."""
        return _nanmean(numpy.stack([self.figures(run[drawn]) for run in runs], axis=1))

    def statistics(self, runs: Sequence[Any]) -> Statistics | None:
        """What one problem, with a value of every run, brings to the figures; None if only all problems together say
        it."""
        rows = [self.prepare([value]) for value in runs if value is not None and self.stands_alone(value)]
        if len(rows) < len(runs) or not all(numpy.isfinite(row).all() for row in rows):
            return None
        return tuple(tuple(numpy.ravel(row).tolist()) for row in rows)

    def arrays(self, problems: Sequence[Statistics]) -> "list[NDArray[Number]] | None":
        """The values of every run, from the statistics of all problems; None if these do not belong together."""
        shapes = {tuple(map(len, problem)) for problem in problems}
        if len(shapes) != 1:
            return None
        kind = numpy.int64 if self.whole_numbers else float
        runs = [numpy.array(run, dtype=kind) for run in zip(*problems, strict=True)]
        return [run[:, 0] if run.shape[1] == 1 else run for run in runs]


def _runs(problems: Problems) -> list[tuple[Any, ...]]:
    """Run by run, without the problems that a run lacks."""
    return list(zip(*(values for values in problems if None not in values), strict=True))


def _floats(values: Sequence[Any]) -> "Floats":
    return numpy.asarray(values, dtype=float)


def _bootstrapped(
    figures: "Callable[[NDArray[Number]], Floats]",
    prepare: "Callable[[Sequence[Any]], NDArray[Number]]",
    draws: int = 1000,
    *,
    rises: bool | None = None,
    limits: Callable[[Sequence[Any]], Ends] | None = None,
    stands_alone: Callable[[Any], bool] = lambda value: True,
    whole_numbers: bool = False,
) -> Bootstrapped[Number]:
    def figure(values: Sequence[Any]) -> float | None:
        if not values:
            return None
        (result,) = figures(prepare(values)[None]).tolist()
        return None if isnan(result) else result

    return Bootstrapped(
        figure=figure,
        rises=rises,
        limits=limits,
        prepare=prepare,
        figures=figures,
        draws=draws,
        stands_alone=stands_alone,
        whole_numbers=whole_numbers,
    )


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


def _corpus(kind: str) -> Aggregation:
    return _bootstrapped(
        partial(translation.figures, kind),
        partial(translation.statistics, kind),
        draws=100,
        limits=partial(translation.ends, kind),
    )


def _labels(figures: "Callable[[Labels], Floats]", limits: Callable[[Sequence[Any]], Ends]) -> Aggregation:
    """Labels that are 0 or 1 stay what they are; codes of others depend on all problems of a run."""
    return _bootstrapped(
        figures,
        label_figures.label_codes,
        limits=limits,
        stands_alone=lambda pair: set(pair) <= {0, 1},
        whole_numbers=True,
    )


AGGREGATIONS: dict[str, Aggregation] = {
    "mean": Mean(figure=intervals.mean, rises=True),
    "nanmean": _bootstrapped(_nanmean, _floats, rises=True),
    "median": _bootstrapped(_median, _floats, rises=True),
    "sum": Aggregation(figure=fsum, rises=True),
    "max": Aggregation(figure=max, rises=True),
    "min": Aggregation(figure=min, rises=True),
    "perplexity": _bootstrapped(_perplexity, _floats, rises=False),
    "weighted_perplexity": _bootstrapped(lambda values: _exp(_nats_per_unit(values)), _floats, rises=False),
    "bits_per_byte": _bootstrapped(lambda values: _nats_per_unit(values) / log(2), _floats, rises=False),
    "pooled": _bootstrapped(_pooled, _floats, rises=True),
    "whole_groups": WholeGroups(figure=groups.share_of_whole_groups, rises=True, limits=groups.ends),
    "f1": _labels(label_figures.f1, label_figures.f1_ends),
    "matthews_corrcoef": _labels(label_figures.matthews, label_figures.matthews_ends),
    "brier_score": Mean(figure=intervals.mean, rises=True),
    **{kind: _corpus(kind) for kind in ("bleu", "chrf", "chrf++", "ter")},
}


def aggregation(name: str) -> Aggregation:
    """The aggregation with this name, or the one that a path leads to; an unknown name is refused with the nearest."""
    if name in AGGREGATIONS:
        return AGGREGATIONS[name]
    if name.startswith(user_functions.HUGGING_FACE):
        return Aggregation(figure=partial(user_functions.hugging_face_figure, name))
    if user_functions.is_path(name):
        return Aggregation(figure=partial(user_functions.user_figure, name))
    raise UnknownName("aggregation", name, AGGREGATIONS)
