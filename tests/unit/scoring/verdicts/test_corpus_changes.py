"""Changes of corpus figures: a paired bootstrap, against sacrebleu itself and against runs that were drawn anew."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import sacrebleu
from msgspec.structs import replace
from tests.unit.scoring.judged_tasks import pipe, problem, said, task

from model_accuracy_eval.records import Comparison, Counts, DatasetResult, Difference, Gate, MetricUse, Speed
from model_accuracy_eval.scoring.figures import intervals
from model_accuracy_eval.scoring.figures.aggregations import AGGREGATIONS, Bootstrapped
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.verdicts import comparison_statistics, gates
from model_accuracy_eval.scoring.verdicts.gates import GateRule

WORDS = ["the", "a", "cat", "dog", "house", "sees", "has", "red", "small", "near", "under", "and", "runs"]
REFERENCES = [" ".join(random.Random(at).choices(WORDS, k=9)) for at in range(60)]


def garbled(texts: Sequence[str], share: float, seed: int) -> list[str]:
    """Every word becomes another one with this chance."""
    chance = random.Random(seed)
    return [
        " ".join(chance.choice(WORDS) if chance.random() < share else word for word in text.split()) for text in texts
    ]


def judged(
    runs: Sequence[Sequence[str]], *metrics: str | MetricUse, references: Sequence[str] = REFERENCES
) -> DatasetResult:
    """A dataset whose problems got these answers; one list a run."""
    card = Scorecard(task(pipe(*metrics)), len(runs), (len(runs),))
    results = [card.judge(problem(at, right), said(*(run[at] for run in runs))) for at, right in enumerate(references)]
    return DatasetResult(
        dataset="demo", version="1", rows=card.rows("1"), problem_results=tuple(results), counts=Counts(), speed=Speed()
    )


def comparison_of(old: DatasetResult, new: DatasetResult) -> Comparison:
    found = comparison_statistics.compare(old, new)
    return Comparison(base="a" * 32, new="b" * 32, changes=(found,))


def decision(old: DatasetResult, new: DatasetResult) -> str:
    gate = Gate(dataset="demo", metric="bleu", comparison=">=", threshold=0.0, from_baseline=True)
    return gates.result(gate, new.rows[0], comparison_of(old, new), GateRule()).decision


def change(old: DatasetResult, new: DatasetResult, metric: str) -> Difference:
    return next(each for each in comparison_statistics.compare(old, new).differences if each.metric == metric)


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
def test_the_error_is_that_of_sacrebleu_over_the_same_draws(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every draw of sentences, scored by sacrebleu as a corpus of its own, in both runs."""
    monkeypatch.setattr(comparison_statistics, "DRAWS", 40)
    before, after = garbled(REFERENCES, 0.3, 1), garbled(REFERENCES, 0.4, 2)
    found = change(judged([before], metric), judged([after], metric), metric)
    score: Callable[..., Any] = getattr(sacrebleu, f"corpus_{metric}")

    def scored(answers: list[str], drawn: Sequence[int]) -> float:
        return float(score([answers[at] for at in drawn], [[REFERENCES[at] for at in drawn]]).score)

    (draws,) = intervals._draw(len(REFERENCES), 40)
    differences = [scored(after, list(drawn)) - scored(before, list(drawn)) for drawn in draws]
    assert found.certainty is not None
    assert found.certainty.worst_stderr == pytest.approx(np.std(differences, ddof=1), rel=1e-6)
    assert found.points == pytest.approx(scored(after, range(60)) - scored(before, range(60)))


@pytest.mark.slow
def test_a_gate_on_a_corpus_figure_is_seldom_wrong() -> None:
    """Two runs of the same service: of 60 gates on no loss at all, few pass or fail."""
    decisions = []
    for seed in range(60):
        old, new = (judged([garbled(REFERENCES, 0.3, 100 * seed + at)], "bleu") for at in (1, 2))
        decisions.append(decision(old, new))
    assert decisions.count("passed") <= 8
    assert decisions.count("failed") <= 8


def test_a_gate_on_a_corpus_figure_sees_a_real_loss() -> None:
    """It fails, the other way round it passes, and the same runs are compared alike every time."""
    old, new = (judged([garbled(REFERENCES, share, 5)], "bleu") for share in (0.1, 0.5))
    assert decision(old, new) == "failed"
    assert decision(new, old) == "passed"
    assert comparison_of(old, new) == comparison_of(old, new)


@pytest.mark.parametrize(("labels", "known"), [((0, 1), True), (("yes", "no"), False)])
def test_labels_of_which_the_codes_depend_on_the_others_have_no_error(
    labels: tuple[object, object], known: bool
) -> None:
    """F1 counts label 1; which codes other labels get, a run's problems decide together."""
    aggregation = AGGREGATIONS["f1"]
    assert isinstance(aggregation, Bootstrapped)
    pairs = [(labels[at % 2], labels[at % 3 == 0]) for at in range(30)]
    kept = [aggregation.statistics([pair]) for pair in pairs]
    assert all((each is not None) == known for each in kept)
    found = comparison_statistics.corpus_change("f1", 1.0, *2 * [[each for each in kept if each is not None]])
    assert (found is not None) == known
    if found is not None:
        assert found.old == pytest.approx(aggregation.figure(pairs))


@pytest.mark.parametrize("spoil", ["no statistics", "fewer problems", "other figure", "other aggregation"])
def test_what_was_not_kept_is_not_guessed(spoil: str) -> None:
    """Results of older versions, of other problems, or that do not make up the figure: undecided, as it was."""
    new = judged([garbled(REFERENCES, 0.3, 1)], "bleu")
    old = new
    if spoil == "no statistics":
        old = replace(new, problem_results=tuple(replace(one, statistics={}) for one in new.problem_results))
    elif spoil == "fewer problems":
        old = replace(new, problem_results=new.problem_results[:-1])
    elif spoil == "other figure":
        old = replace(new, rows=(replace(new.rows[0], value=99.0),))
    else:
        old = replace(new, rows=(replace(new.rows[0], aggregation="chrf"),))
    assert change(new, new, "bleu").certainty is not None
    assert change(old, new, "bleu").certainty is None
