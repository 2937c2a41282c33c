"""The story of rescoring a file: look at its first replies, choose a scoring, judge, and put our figures beside theirs.

The file is read twice, so that a problem's texts can be forgotten as soon as its last sample has been judged.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Attempt, Problem, Record, Row, TaskSpec
from model_accuracy_eval.rescoring import scorings
from model_accuracy_eval.rescoring.claims import Beside, Disagreement, beside
from model_accuracy_eval.rescoring.formats import Kept
from model_accuracy_eval.rescoring.settings import Settings
from model_accuracy_eval.scoring.scorecard import Scorecard
from model_accuracy_eval.scoring.scorers import pipelines

_LOOKED_AT = 500
_SHOWN = 20

Open = Callable[[], Iterable[Kept]]


class Rescored(Record, frozen=True, kw_only=True):
    """What a file of kept replies is worth."""

    name: str
    filter: str
    scoring: str
    problems: int
    samples: int
    lacking: int
    figures: tuple[Beside, ...]
    rows: tuple[Row, ...]
    differing: int
    disagreements: tuple[Disagreement, ...]


def rescore(
    name: str,
    read: Open,
    *,
    task: TaskSpec | None = None,
    settings: Settings | None = None,
    k: Sequence[int] = (),
    claimed: Mapping[str, float] = {},
) -> Iterator[Rescored]:
    """One result for every filter of the file. `claimed`: figures of a results file; else the samples' own are used.
    `settings`: how the tool judged, where it says so."""
    counts: dict[str, Counter[str]] = {}
    for kept in read():
        counts.setdefault(kept.filter, Counter())[kept.problem] += 1
    if not counts:
        raise BadData(f"{name} holds no kept replies.")
    for wanted, sizes in counts.items():

        def of_filter(wanted: str = wanted) -> Iterator[Kept]:
            return (kept for kept in read() if kept.filter == wanted)

        first = list(islice(of_filter(), _LOOKED_AT))
        chosen, words = (
            (scorings.like(task, name, wanted), task.name) if task else scorings.guessed(name, first, settings)
        )
        rescoring = _Rescoring((name, wanted, words), chosen, sizes, k)
        yield rescoring.run(of_filter(), claimed, settings.figures_of(wanted) if settings else {})


class _Rescoring:
    """One filter's replies, judged in one pass."""

    def __init__(self, name: tuple[str, str, str], task: TaskSpec, sizes: Mapping[str, int], k: Sequence[int]) -> None:
        self._name, self._filter, self._words = name
        self._task = task
        self._sizes = sizes
        self._n = max(sizes.values())
        self._card = Scorecard(task, self._n, k or (self._n,))
        self._pipeline = pipelines(task)[0].name
        self._headline = pipelines(task)[0].metrics[0]
        self._open: dict[str, list[Kept]] = {}
        self._marks: dict[str, bytes] = {}
        self._claims: dict[str, array[float]] = {}
        self._disagreements: list[Disagreement] = []
        self._differing = 0
        self._paired = False
        """Whether single marks are kept: only claims about several samples of a problem are explained by them."""

    def run(self, replies: Iterable[Kept], claimed: Mapping[str, float], besides: Mapping[str, float]) -> Rescored:
        """`besides`: what is claimed of metrics of the whole dataset, about which single samples say nothing."""
        self._paired = bool(claimed) and self._n > 1
        for kept in replies:
            held = self._open.setdefault(kept.problem, [])
            held.append(kept)
            if len(held) == self._sizes[kept.problem]:
                self._judge(kept.problem, self._open.pop(kept.problem))
        lacking = self._n * len(self._sizes) - sum(self._sizes.values())
        rows = self._card.rows("-")
        own = {metric: 100 * sum(values) / len(values) for metric, values in self._claims.items()}
        theirs = claimed or {**{self._told(metric): value for metric, value in besides.items()}, **own}
        marks = [self._marks[problem] for problem in sorted(self._marks, key=_natural)]
        return Rescored(
            name=self._name,
            filter=self._filter,
            scoring=self._words,
            problems=len(self._sizes),
            samples=sum(self._sizes.values()),
            lacking=lacking,
            figures=beside(rows, theirs, marks, lacking),
            rows=rows,
            differing=self._differing,
            disagreements=tuple(self._disagreements),
        )

    def _judge(self, number: str, replies: list[Kept]) -> None:
        problem = self._problem(replies[0])
        samples: list[Attempt | None] = [
            Attempt(problem=0, index=index, text=kept.text, weighed=kept.weighed) for index, kept in enumerate(replies)
        ]
        tally = self._card.take(problem, [*samples, *[None] * (self._n - len(samples))])
        if self._paired:
            self._marks[number] = bytes(why == "right" for why in tally.why)
        for index, kept in enumerate(replies):
            for metric, value in kept.claimed.items():
                self._claims.setdefault(self._told(metric), array("d")).append(value)
            self._compare(kept, tally.values[index], tally.answers[index])

    def _told(self, metric: str) -> str:
        """As our rows have it. Files that only say "correct" speak of accuracy."""
        title = self._headline.label or self._headline.name
        name = title if metric in {"correct", self._headline.name} else metric
        whole = name if self._pipeline == "none" else f"{name},{self._pipeline}"
        return f"{whole} ({self._n} runs average)" if self._n > 1 and name == title else whole

    def _compare(self, kept: Kept, ours: float, answer: str | None) -> None:
        claimed = kept.claimed.get(self._headline.name, kept.claimed.get("correct"))
        if claimed is None or abs(claimed - ours) <= 1e-9:
            return
        self._differing += 1
        if len(self._disagreements) < _SHOWN:
            gold = " / ".join(kept.gold)
            self._disagreements.append(
                Disagreement(
                    problem=kept.problem,
                    metric=self._headline.name,
                    claimed=claimed,
                    ours=ours,
                    answer=answer,
                    gold=gold,
                )
            )

    def _problem(self, kept: Kept) -> Problem:
        gold = kept.gold if kept.metrics else scorings.answers(kept.gold)
        chosen = tuple(int(one) for one in kept.gold if one.lstrip("-").isdigit()) if kept.weighed else ()
        choices = kept.options or scorings.options(self._task, gold)
        return Problem(id=0, messages=(), references=gold, choices=choices, gold=chosen)


def _natural(problem: str) -> tuple[int, str]:
    return (int(problem), "") if problem.isdigit() else (2**63, problem)
