"""The values of all problems → one figure, and its standard error.

A figure without a formula for its error is computed for many draws at once: from an array of draws x problems, or of
draws x problems x numbers where a problem's value has several numbers. One draw of all problems is the figure itself.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from math import fsum, isnan, log
from typing import Any, Generic, TypeVar

import numpy
from numpy.typing import NDArray

from model_accuracy_eval import extras
from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.scoring.figures import groups, intervals
from model_accuracy_eval.scoring.figures.intervals import Floats, Places
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.metric_type import Ends, LostValue, Metric, fill, finite, mixes_infinities

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
    error: Callable[[Problems, Sequence[str]], float | None] | None = None
    """The formula of its standard error, from the problems and their clusters; None: there is none."""

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

    def stderr(self, problems: Problems, clusters: Sequence[str] = ()) -> float | None:
        """Standard error of `over_runs`; None where there is neither a formula nor a bootstrap. `clusters`: of the
        problems that are not independent."""
        return self.error(problems, clusters) if self.error else None


def _error_of_mean(problems: Problems, clusters: Sequence[str]) -> float | None:
    means = [intervals.mean([value for value in values if value is not None]) for values in problems]
    known = [value is not None for value in means]
    return intervals.stderr([value for value in means if value is not None], [*compress(clusters, known)])


def _error_of_groups(problems: Problems, clusters: Sequence[str]) -> float | None:
    return groups.stderr([values for values in problems if None not in values])


@dataclass(frozen=True, kw_only=True, slots=True)
class Bootstrapped(Aggregation, Generic[Number]):
    """A figure whose standard error is found by drawing problems again, each with all its runs."""

    prepare: Callable[[Sequence[Any]], NDArray[Number]]
    """The values of one run as an array, made once, however often problems are drawn."""
    figures: Callable[[NDArray[Number]], Floats]
    draws: int
    stands_alone: Callable[[Any], bool] = lambda value: True
    """Whether a value is prepared in the same way whatever the other problems' values are."""
    whole_numbers: bool = False

    def stderr(self, problems: Problems, clusters: Sequence[str] = ()) -> float | None:
        runs = [self.prepare(run) for run in _runs(problems)]
        own = [*compress(clusters, (None not in values for values in problems))] if any(clusters) else []
        return intervals.bootstrap(partial(self.figures_of, runs), len(runs[0]), self.draws, own) if runs else None

    def figures_of(self, runs: Sequence[NDArray[Number]], drawn: Places) -> Floats:
        """The mean of the runs' figures, for every draw of problems."""
        return _nanmean(numpy.stack([self.figures(run[drawn]) for run in runs], axis=1))

    def statistics(self, runs: Sequence[Any]) -> Statistics | None:
        """What one problem, with a value of every run, brings to the figures; None if only all problems together say
        it."""
        rows = [self.prepare([value]) for value in runs if value is not None and self.stands_alone(value)]
        if len(rows) < len(runs) or not all(numpy.isfinite(row).all() for row in rows):
            return None
        return tuple(tuple(numpy.ravel(row).tolist()) for row in rows)

    def arrays(self, problems: Sequence[Statistics]) -> list[NDArray[Number]] | None:
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


def _floats(values: Sequence[Any]) -> Floats:
    return numpy.asarray(values, dtype=float)


def _bootstrapped(
    figures: Callable[[NDArray[Number]], Floats],
    prepare: Callable[[Sequence[Any]], NDArray[Number]],
    draws: int = 1000,
    **more: Any,
) -> Bootstrapped[Number]:
    def figure(values: Sequence[Any]) -> float | None:
        if not values:
            return None
        (result,) = figures(prepare(values)[None]).tolist()
        return None if isnan(result) else result

    return Bootstrapped(figure=figure, prepare=prepare, figures=figures, draws=draws, **more)


def _divide(dividend: Floats, divisor: Floats) -> Floats:
    """The quotients; NaN where the divisor is 0."""
    quotients: Floats = numpy.full(dividend.shape, numpy.nan)
    numpy.divide(dividend, divisor, out=quotients, where=divisor != 0)
    return quotients


def _exp(powers: Floats) -> Floats:
    """The exponentials; NaN where they do not fit into a float."""
    exponentials: Floats = numpy.full(powers.shape, numpy.nan)
    numpy.exp(powers, out=exponentials, where=powers < 700)
    return exponentials


def _nanmean(values: Floats) -> Floats:
    """The mean of what is a number; NaN where nothing is."""
    numbers = ~numpy.isnan(values)
    return _divide(numpy.where(numbers, values, 0.0).sum(axis=1), numbers.sum(axis=1))


def _median(values: Floats) -> Floats:
    """The upper one of the two middle values, if there are two."""
    middle = values.shape[1] // 2
    return numpy.partition(values, middle, axis=1)[:, middle]


def _pooled(values: Floats) -> Floats:
    """Share of the hits in all items of all problems together; a problem has (hits, items), or its log-likelihood and
    the number of its words or bytes."""
    hits, items = values.sum(axis=1).T
    return _divide(hits, items)


# F1 and Matthews' correlation of (right, chosen) labels.


LabelCodes = NDArray[numpy.int64]
"""(right, chosen) labels as numbers: draws x problems x 2."""


def label_codes(pairs: Sequence[tuple[Hashable, Hashable]]) -> LabelCodes:
    """(right, chosen) labels as small numbers: 0 and 1 stay, any others follow."""
    codes: dict[Hashable, int] = {0: 0, 1: 1}
    return numpy.array([[codes.setdefault(label, len(codes)) for label in pair] for pair in pairs])


def _label_counts(labels: LabelCodes, size: int) -> LabelCodes:
    """How often each of the first `size` codes occurs in each draw."""
    draws = len(labels)
    places = labels + size * numpy.arange(draws)[:, None]
    return numpy.bincount(places.ravel(), minlength=draws * size).reshape(draws, size)


def f1(pairs: LabelCodes) -> Floats:
    """F1 of label 1 if all labels are 0 or 1, else the mean of the F1 of every label."""
    gold, chosen = pairs[..., 0], pairs[..., 1]
    size = max(2, int(pairs.max()) + 1)
    named = _label_counts(gold, size) + _label_counts(chosen, size)
    # Pairs that do not agree are counted under one code more, which is cut off.
    hits = _label_counts(numpy.where(gold == chosen, gold, size), size + 1)[:, :size]
    scores = numpy.where(named > 0, 2 * hits / numpy.maximum(named, 1), 0.0)
    binary = named[:, 2:].sum(axis=1) == 0
    return numpy.where(binary, scores[:, 1], scores.sum(axis=1) / (named > 0).sum(axis=1))


def matthews(pairs: LabelCodes) -> Floats:
    """Correlation of right and chosen labels, however many there are; 0 where one of the two never varies."""
    gold, chosen = pairs[..., 0], pairs[..., 1]
    size, labels = pairs.shape[1], int(pairs.max()) + 1
    golds, chosens = _label_counts(gold, labels), _label_counts(chosen, labels)
    covariance = (gold == chosen).sum(axis=1) * size - (golds * chosens).sum(axis=1)
    # As floats: the product does not fit into an integer beyond some ten thousand problems.
    spread = (size**2 - (chosens**2).sum(axis=1)).astype(float) * (size**2 - (golds**2).sum(axis=1))
    return numpy.where(spread > 0, covariance / numpy.sqrt(numpy.maximum(spread, 1.0)), 0.0)


# BLEU, chrF and TER by sacrebleu: figures of a whole dataset, computed from statistics of its sentences.
#
# The statistics add up, so a bootstrap draws them again instead of counting n-grams a hundred times.


Sentence = tuple[tuple[str, ...], str, str]
"""Right answers, answer, and the tokeniser for both."""


def sentence(answer: str, references: Sequence[str], *, tokenizer: str = "") -> Sentence:
    """What sacrebleu's figure of the whole dataset needs of one sample."""
    return tuple(references), answer, tokenizer


def _measure(kind: str, tokenizer: str) -> Any:
    sacrebleu = extras.load("sacrebleu")
    metrics = sacrebleu.metrics
    measures: dict[str, Callable[[], Any]] = {
        "bleu": partial(metrics.BLEU, tokenize=tokenizer or None),
        "chrf": metrics.CHRF,
        "chrf++": partial(metrics.CHRF, word_order=2),
        "ter": metrics.TER,
    }
    return measures[kind]()


def corpus_statistics(kind: str, sentences: Sequence[Sentence]) -> Floats:
    """Counts of every sentence, one row each; sentences may have different numbers of right answers."""
    width = max(len(references) for references, _, _ in sentences)
    columns = [[right[place] if place < len(right) else None for right, _, _ in sentences] for place in range(width)]
    measure = _measure(kind, sentences[0][2])
    answers = [answer for _, answer, _ in sentences]
    # sacrebleu's own significance tests call its two private methods in the same way.
    return numpy.array(measure._extract_corpus_statistics(answers, columns), dtype=float)  # noqa: SLF001


def corpus_figures(kind: str, counts: Floats) -> Floats:
    """One figure for each draw, 0..100, or more for TER. `counts`: draws x sentences x numbers."""
    measure = _measure(kind, "")
    return numpy.array([measure._compute_score_from_stats(total.tolist()).score for total in counts.sum(axis=1)])  # noqa: SLF001


def corpus_ends(kind: str, sentences: Sequence[Sentence | LostValue]) -> Ends:
    """Between what the figure lies while some answers are unknown.

    One answer of any length can take BLEU and chrF almost to 0 and TER as high as one likes. For the other end the
    unknown answers are equal to all of their right answers, and long enough to spare the others BLEU's penalty for
    answers that are too short: a little better than they can be.
    """
    lost = [value.counted for value in sentences if isinstance(value, LostValue)]
    known = [value for value in sentences if not isinstance(value, LostValue)]
    if not lost:
        figure = float(corpus_figures(kind, corpus_statistics(kind, known)[None])[0])
        return figure, figure
    if kind == "ter":
        firsts = [(references, references[0], tokenizer) for references, _, tokenizer in lost]
        right = corpus_statistics(kind, firsts) * (0, 1)  # no edits
        counts = [corpus_statistics(kind, known), right] if known else [right]
        return float(corpus_figures(kind, numpy.concatenate(counts)[None])[0]), None
    if not known:
        return 0.0, 100.0
    copies = [(references, right, tokenizer) for references, _, tokenizer in lost for right in references]
    total = numpy.concatenate([corpus_statistics(kind, known), corpus_statistics(kind, copies)]).sum(axis=0)
    if kind == "bleu":
        total[0] = max(total[:2])
    used = total[_BLEU_TOTALS] if kind == "bleu" else corpus_statistics(kind, known).sum(axis=0)[::3]
    return 0.0, float(corpus_figures(kind, total[None, None])[0]) if used.all() else 100.0


_BLEU_TOTALS = slice(6, None)
"""Numbers of n-grams in all answers, behind both lengths and the numbers of n-grams that are right."""


def sentence_score(answer: str, references: Sequence[str], *, kind: str, tokenizer: str = "") -> float:
    """The figure of one sentence alone, as a share."""
    counts = corpus_statistics(kind, [sentence(answer, references, tokenizer=tokenizer)])
    return float(corpus_figures(kind, counts[None])[0]) / 100


_NEEDS = ("sacrebleu",)

TRANSLATION_METRICS = {
    **{
        name: Metric(
            score=sentence, aggregation=name, share=False, higher_is_better=name != "ter", needs=_NEEDS
        )
        for name in ("bleu", "chrf", "chrf++", "ter")
    },
    "sentence_bleu": Metric(score=partial(sentence_score, kind="bleu"), needs=_NEEDS),
    "sentence_chrf": Metric(score=partial(sentence_score, kind="chrf"), needs=_NEEDS),
}  # fmt: skip


def _corpus(kind: str) -> Aggregation:
    return _bootstrapped(
        partial(corpus_figures, kind),
        partial(corpus_statistics, kind),
        draws=100,
        limits=partial(corpus_ends, kind),
    )


def _labels(figures: Callable[[LabelCodes], Floats], least: float) -> Aggregation:
    """Labels that are 0 or 1 stay what they are; codes of others depend on all problems of a run. One lost label may
    change what all others are worth, so of a run that lacks any only the scale is known, from `least` to 1."""

    def limits(run: Sequence[Any]) -> Ends:
        if any(isinstance(pair, LostValue) for pair in run):
            return least, 1.0
        return (found.figure(run),) * 2

    found: Bootstrapped[Any] = _bootstrapped(
        figures,
        label_codes,
        limits=limits,
        stands_alone=lambda pair: set(pair) <= {0, 1},
        whole_numbers=True,
    )
    return found


AGGREGATIONS: dict[str, Aggregation] = {
    "mean": Aggregation(figure=intervals.mean, rises=True, error=_error_of_mean),
    "nanmean": _bootstrapped(_nanmean, _floats, rises=True),
    "median": _bootstrapped(_median, _floats, rises=True),
    "sum": Aggregation(figure=fsum, rises=True),
    "max": Aggregation(figure=max, rises=True),
    "min": Aggregation(figure=min, rises=True),
    "perplexity": _bootstrapped(lambda values: _exp(-values.mean(axis=1)), _floats, rises=False),
    "weighted_perplexity": _bootstrapped(lambda values: _exp(-_pooled(values)), _floats, rises=False),
    "bits_per_byte": _bootstrapped(lambda values: -_pooled(values) / log(2), _floats, rises=False),
    "pooled": _bootstrapped(_pooled, _floats, rises=True),
    "whole_groups": Aggregation(
        figure=groups.share_of_whole_groups, rises=True, limits=groups.ends, error=_error_of_groups
    ),
    "f1": _labels(f1, 0.0),
    "matthews_corrcoef": _labels(matthews, -1.0),
    "brier_score": Aggregation(figure=intervals.mean, rises=True, error=_error_of_mean),
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
