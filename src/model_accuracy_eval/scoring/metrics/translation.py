"""BLEU, chrF and TER by sacrebleu: figures of a whole dataset, kept as statistics of its sentences.

The statistics add up, so a bootstrap draws them anew instead of counting n-grams a hundred times.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from model_accuracy_eval.scoring.libraries import library
from model_accuracy_eval.scoring.metrics.row import Metric

Sentence = tuple[tuple[str, ...], str, str]
"""Right answers, answer, and the tokeniser that both are cut by."""


def sentence(answer: str, references: Sequence[str], *, tokenizer: str = "") -> Sentence:
    """What is needed of one sample: the figure is of all of them together."""
    return tuple(references), answer, tokenizer


def _measure(kind: str, tokenizer: str) -> Any:
    metrics = library("sacrebleu.metrics", "text")
    made: dict[str, Callable[[], Any]] = {
        "bleu": partial(metrics.BLEU, tokenize=tokenizer or None),
        "chrf": metrics.CHRF,
        "chrf++": partial(metrics.CHRF, word_order=2),
        "ter": metrics.TER,
    }
    return made[kind]()


def statistics(kind: str, sentences: Sequence[Sentence]) -> list[list[float]]:
    """One list of counts for every sentence; sentences may have different numbers of right answers."""
    most = max(len(references) for references, _, _ in sentences)
    columns = [[right[place] if place < len(right) else None for right, _, _ in sentences] for place in range(most)]
    measure = _measure(kind, sentences[0][2])
    # sacrebleu's own significance tests, in another of its modules, use these two in the same way.
    found: list[list[float]] = measure._extract_corpus_statistics([said for _, said, _ in sentences], columns)  # noqa: SLF001
    return found


def figure(kind: str, counted: Sequence[Sequence[float]]) -> float:
    """0..100, or more for TER."""
    return float(_measure(kind, "")._aggregate_and_compute(counted).score)  # noqa: SLF001


def sentence_score(answer: str, references: Sequence[str], *, kind: str, tokenizer: str = "") -> float:
    """The same of one sentence alone, as a share."""
    return figure(kind, statistics(kind, [sentence(answer, references, tokenizer=tokenizer)])) / 100


_SACREBLEU = "text:sacrebleu"

ROWS = {
    **{
        name: Metric(
            score=sentence, aggregation=name, share=False, higher_is_better=name != "ter", extra=_SACREBLEU
        )
        for name in ("bleu", "chrf", "chrf++", "ter")
    },
    "sentence_bleu": Metric(score=partial(sentence_score, kind="bleu"), extra=_SACREBLEU),
    "sentence_chrf": Metric(score=partial(sentence_score, kind="chrf"), extra=_SACREBLEU),
}  # fmt: skip
