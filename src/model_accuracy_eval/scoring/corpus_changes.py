"""The change of a figure of a whole corpus, such as BLEU, between two runs: a paired bootstrap over problems.

Every draw takes the same problems from both runs, so how hard they are drops out. What is drawn are the statistics of
each problem that the figure is made of, so that no answer has to be judged again.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy

from model_accuracy_eval.scoring import stats
from model_accuracy_eval.scoring.aggregations import Bootstrapped, Statistics, aggregation

if TYPE_CHECKING:
    from model_accuracy_eval.scoring.stats import Floats, Places

DRAWS = 1000


class CorpusChange(NamedTuple):
    """Figures over the problems of both runs, and the standard error of their difference."""

    old: float
    new: float
    stderr: float


def corpus_change(name: str, scale: float, old: Sequence[Statistics], new: Sequence[Statistics]) -> CorpusChange | None:
    """`old` and `new` are of the same problems, in the same order; None if the figure cannot be made of them."""
    found = aggregation(name)
    if not isinstance(found, Bootstrapped) or len(old) < 2:
        return None
    sides = found.arrays(old), found.arrays(new)
    if None in sides:
        return None

    def differences(drawn: "Places") -> "Floats":
        before, after = (found.figures_of(arrays, drawn) for arrays in sides if arrays is not None)
        return after - before

    whole = numpy.arange(len(old))[None]
    before, after = (float(found.figures_of(arrays, whole)[0]) for arrays in sides if arrays is not None)
    stderr = stats.bootstrap(differences, len(old), DRAWS)
    if stderr is None or not numpy.isfinite([before, after, stderr]).all():
        return None
    return CorpusChange(scale * before, scale * after, scale * stderr)
