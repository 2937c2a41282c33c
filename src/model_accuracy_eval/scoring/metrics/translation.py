"""BLEU, chrF and TER by sacrebleu: figures of a whole dataset, computed from statistics of its sentences.

The statistics add up, so a bootstrap draws them again instead of counting n-grams a hundred times.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy

from model_accuracy_eval import extras
from model_accuracy_eval.scoring.figures.intervals import Floats
from model_accuracy_eval.scoring.metrics.metric_type import Ends, LostValue, Metric

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


def statistics(kind: str, sentences: Sequence[Sentence]) -> Floats:
    """Counts of every sentence, one row each; sentences may have different numbers of right answers."""
    width = max(len(references) for references, _, _ in sentences)
    columns = [[right[place] if place < len(right) else None for right, _, _ in sentences] for place in range(width)]
    measure = _measure(kind, sentences[0][2])
    answers = [answer for _, answer, _ in sentences]
    # sacrebleu's own significance tests call its two private methods in the same way.
    return numpy.array(measure._extract_corpus_statistics(answers, columns), dtype=float)  # noqa: SLF001


def figures(kind: str, counts: Floats) -> Floats:
    """One figure for each draw, 0..100, or more for TER. `counts`: draws x sentences x numbers."""
    measure = _measure(kind, "")
    return numpy.array([measure._compute_score_from_stats(total.tolist()).score for total in counts.sum(axis=1)])  # noqa: SLF001


def ends(kind: str, sentences: Sequence[Sentence | LostValue]) -> Ends:
    """Between what the figure lies while some answers are unknown.

    One answer of any length can take BLEU and chrF almost to 0 and TER as high as one likes. For the other end the
    unknown answers are equal to all of their right answers, and long enough to spare the others BLEU's penalty for
    answers that are too short: a little better than they can be.
    """
    lost = [value.counted for value in sentences if isinstance(value, LostValue)]
    known = [value for value in sentences if not isinstance(value, LostValue)]
    if not lost:
        figure = float(figures(kind, statistics(kind, known)[None])[0])
        return figure, figure
    if kind == "ter":
        firsts = [(references, references[0], tokenizer) for references, _, tokenizer in lost]
        right = statistics(kind, firsts) * (0, 1)  # no edits
        return float(figures(kind, numpy.concatenate([*_counts(kind, known), right])[None])[0]), None
    if not known:
        return 0.0, 100.0
    copies = [(references, right, tokenizer) for references, _, tokenizer in lost for right in references]
    total = numpy.concatenate([statistics(kind, known), statistics(kind, copies)]).sum(axis=0)
    if kind == "bleu":
        total[0] = max(total[:2])
    used = total[_BLEU_TOTALS] if kind == "bleu" else statistics(kind, known).sum(axis=0)[::3]
    return 0.0, float(figures(kind, total[None, None])[0]) if used.all() else 100.0


def _counts(kind: str, sentences: Sequence[Sentence]) -> list[Floats]:
    return [statistics(kind, sentences)] if sentences else []


_BLEU_TOTALS = slice(6, None)
"""Numbers of n-grams in all answers, behind both lengths and the numbers of n-grams that are right."""


def sentence_score(answer: str, references: Sequence[str], *, kind: str, tokenizer: str = "") -> float:
    """The figure of one sentence alone, as a share."""
    counts = statistics(kind, [sentence(answer, references, tokenizer=tokenizer)])
    return float(figures(kind, counts[None])[0]) / 100


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
