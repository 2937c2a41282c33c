"""Rescores a file: counts its replies, chooses a scoring, judges, and puts our figures next to the tool's.

The file is read twice, so that a problem's texts can be forgotten as soon as its last sample has been judged.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Attempt, Problem, Record, SummaryRow, TaskSpec
from model_accuracy_eval.rescoring import choose_scoring
from model_accuracy_eval.rescoring.choose_scoring import LmEvalResults
from model_accuracy_eval.rescoring.claims import ClaimedFigure, Disagreement, compare
from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.scoring.scorecard import Scorecard
from model_accuracy_eval.scoring.scorers import pipelines

_LOOKED_AT = 500
"""How many replies decide by what an unknown dataset is judged."""
_SHOWN = 20
"""How many disagreements are listed."""

ReadReplies = Callable[[], Iterable[SavedReply]]


class Rescored(Record, frozen=True, kw_only=True):
    """One filter's replies in a file, judged."""

    name: str
    filter: str
    scoring: str
    problems: int
    samples: int
    lacking: int
    figures: tuple[ClaimedFigure, ...]
    rows: tuple[SummaryRow, ...]
    differing: int
    disagreements: tuple[Disagreement, ...]


def rescore(
    name: str,
    read: ReadReplies,
    *,
    task: TaskSpec | None = None,
    results: LmEvalResults | None = None,
    k: Sequence[int] = (),
    claimed: Mapping[str, float] = {},
) -> Iterator[Rescored]:
    """One result for every filter of the file.

    `claimed`: the figures of a results file; without them, the values in the samples are the claim. `results`: how
    lm-eval judged the samples, where its results file is there.
    """
    counts: dict[str, Counter[str]] = {}
    for reply in read():
        counts.setdefault(reply.filter, Counter())[reply.problem] += 1
    if not counts:
        raise BadData(f"{name} holds no saved replies.")
    for filter_name, sizes in counts.items():

        def filtered(filter_name: str = filter_name) -> Iterator[SavedReply]:
            return (reply for reply in read() if reply.filter == filter_name)

        if task:
            scoring, description = choose_scoring.as_task(task, name, filter_name), task.name
        else:
            scoring, description = choose_scoring.guess(name, list(islice(filtered(), _LOOKED_AT)), results)
        rescoring = _Rescoring(scoring, sizes, k, keep_marks=bool(claimed))
        for reply in filtered():
            rescoring.add(reply)
        claims = claimed or rescoring.claims(results.figures_of(filter_name) if results else {})
        yield rescoring.result(name, filter_name, description, claims)


class _Rescoring:
    """One filter's replies, judged in one pass."""

    def __init__(self, task: TaskSpec, sizes: Mapping[str, int], k: Sequence[int], *, keep_marks: bool) -> None:
        self._task = task
        self._sizes = sizes
        self._n = max(sizes.values())
        self._card = Scorecard(task, self._n, k or (self._n,))
        pipeline = pipelines(task)[0]
        self._pipeline, self._headline = pipeline.name, pipeline.metrics[0]
        self._open: dict[str, list[SavedReply]] = {}
        self._marks: dict[str, bytes] = {}
        self._keep_marks = keep_marks and self._n > 1
        """Single marks explain only claims about several samples of a problem."""
        self._claimed: dict[str, array[float]] = {}
        self._disagreements: list[Disagreement] = []
        self._differing = 0

    def add(self, reply: SavedReply) -> None:
        replies = self._open.setdefault(reply.problem, [])
        replies.append(reply)
        if len(replies) == self._sizes[reply.problem]:
            self._judge(reply.problem, self._open.pop(reply.problem))

    def claims(self, figures: Mapping[str, float]) -> dict[str, float]:
        """The means of the samples' values in the file. `figures`: of metrics that have no value for a sample."""
        own = {metric: 100 * sum(values) / len(values) for metric, values in self._claimed.items()}
        return {**{self._row_name(metric): value for metric, value in figures.items()}, **own}

    def result(self, name: str, filter_name: str, description: str, claims: Mapping[str, float]) -> Rescored:
        samples = sum(self._sizes.values())
        lacking = self._n * len(self._sizes) - samples
        rows = self._card.rows("-")
        marks = [self._marks[problem] for problem in sorted(self._marks, key=_natural_order)]
        return Rescored(
            name=name,
            filter=filter_name,
            scoring=description,
            problems=len(self._sizes),
            samples=samples,
            lacking=lacking,
            figures=compare(rows, claims, marks, lacking),
            rows=rows,
            differing=self._differing,
            disagreements=tuple(self._disagreements),
        )

    def _judge(self, number: str, replies: list[SavedReply]) -> None:
        samples: list[Attempt | None] = [
            Attempt(
                problem=0,
                index=index,
                text=reply.text if reply.answer is None else reply.answer,
                loglikelihoods=reply.loglikelihoods,
            )
            for index, reply in enumerate(replies)
        ]
        missing = [None] * (self._n - len(samples))
        problem_result = self._card.judge(self._problem(replies[0]), [*samples, *missing])
        if self._keep_marks:
            self._marks[number] = bytes(why == "right" for why in problem_result.why)
        for index, reply in enumerate(replies):
            for metric, value in reply.claimed.items():
                self._claimed.setdefault(self._row_name(metric), array("d")).append(value)
            self._compare(reply, problem_result.values[index], problem_result.answers[index])

    def _row_name(self, metric: str) -> str:
        """The metric's name in our rows. Files that only say "correct" mean accuracy."""
        headline = self._headline.label or self._headline.name
        name = headline if metric in {"correct", self._headline.name} else metric
        row_name = name if self._pipeline == "none" else f"{name},{self._pipeline}"
        return f"{row_name} ({self._n} runs average)" if self._n > 1 and name == headline else row_name

    def _compare(self, reply: SavedReply, ours: float, answer: str | None) -> None:
        claimed = reply.claimed.get(self._headline.name, reply.claimed.get("correct"))
        if claimed is None or abs(claimed - ours) <= 1e-9:
            return
        self._differing += 1
        if len(self._disagreements) < _SHOWN:
            disagreement = Disagreement(
                problem=reply.problem,
                metric=self._headline.name,
                claimed=claimed,
                ours=ours,
                answer=answer,
                gold=" / ".join(reply.gold),
            )
            self._disagreements.append(disagreement)

    def _problem(self, reply: SavedReply) -> Problem:
        gold = reply.gold if reply.metrics else choose_scoring.right_answers(reply.gold)
        positions = tuple(int(text) for text in reply.gold if text.lstrip("-").isdigit())
        return Problem(
            id=0,
            messages=(),
            references=gold,
            choices=reply.options or choose_scoring.options(self._task, gold),
            gold=positions if reply.loglikelihoods else (),
        )


def _natural_order(problem: str) -> tuple[int, str]:
    return (int(problem), "") if problem.isdigit() else (2**63, problem)
