"""What a file says of each of its samples, and where that differs from our verdicts."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Literal

import msgspec

from model_accuracy_eval.benchmarks.dataset_names import normal
from model_accuracy_eval.records import Attempt, DatasetResult, Pipeline, Record, VerdictReason
from model_accuracy_eval.report import markdown
from model_accuracy_eval.rescoring.causes import READ
from model_accuracy_eval.rescoring.saved_replies import HEADLINE, SavedReply

DisagreementKind = Literal[
    "another answer read",
    "no answer read",
    "empty reply",
    "failed",
    "rejected",
    "missing",
    "unjudged",
    "lower in the file",
]
KINDS: Mapping[VerdictReason, DisagreementKind] = {
    "right": "another answer read",  # a value above 1
    "wrong": "another answer read",
    "not found": "no answer read",
    "empty": "empty reply",
    "failed": "failed",
    "rejected": "rejected",
    "missing": "missing",
    "unjudged": "unjudged",
}
"""Our verdict on a sample that has a higher value in the file → the class of the disagreement."""
LOWER: DisagreementKind = "lower in the file"
_SAME = 1e-9
_END = 400
"""How many characters of a reply's end are shown."""


class Disagreement(Record, frozen=True, kw_only=True):
    """One sample whose value in the file differs from ours."""

    file: str
    kind: DisagreementKind
    problem: str
    sample: int
    """Its number, from 0."""
    metric: str
    claimed: float
    ours: float
    answer: str | None
    """What was read from the reply."""
    gold: str
    end: str
    """The end of the reply; of a failed sample, why there is none."""


def disagreements(
    file: str, result: DatasetResult, claims: "SampleClaims", attempts: Iterable[Attempt]
) -> tuple[Counter[DisagreementKind], list[Disagreement]]:
    """Where the first metric's values in the file differ from ours: how many of each class, and all of them, class by
    class."""
    kinds = {
        (one.problem, sample): KINDS[why] if claimed > ours else LOWER
        for one in result.problem_results
        for sample, (ours, why) in enumerate(zip(one.values, one.why, strict=True))
        if abs((claimed := claims.of_samples.get((one.problem, sample), ours)) - ours) > _SAME
    }
    ends: dict[tuple[int, int], str] = {}
    for attempt in attempts:
        key = attempt.problem, attempt.index
        if key in kinds and (attempt.fault is not None) == (kinds[key] in {"failed", "rejected"}):
            ends[key] = (attempt.fault.sentence if attempt.fault else attempt.text)[-_END:]
    counts = Counter(kinds.values())
    results = {one.problem: one for one in result.problem_results}

    def disagreement(problem: int, sample: int) -> Disagreement:
        name, gold = claims.titles.get(problem, ("", ""))
        return Disagreement(
            file=file,
            kind=kinds[problem, sample],
            problem=name or str(problem),
            sample=sample,
            metric=claims.metric,
            claimed=claims.of_samples[problem, sample],
            ours=results[problem].values[sample],
            answer=results[problem].answers[sample],
            gold=gold or " / ".join(results[problem].references),
            end=ends.get((problem, sample), ""),
        )

    ordered = [key for kind, _ in counts.most_common() for key, its in kinds.items() if its == kind]
    return counts, [disagreement(*key) for key in ordered]


class SampleClaims:
    """The values of all samples. The first metric's are kept one by one, to compare them with ours."""

    def __init__(self, pipelines: Sequence[Pipeline], n: int) -> None:
        self._first = pipelines[0]
        self._n = n
        self._labels = {normal(use.label or use.name): use.label or use.name for use in self._first.metrics}
        self._values: dict[str, list[float]] = {}
        self.of_samples: dict[tuple[int, int], float] = {}
        self.guesses: dict[tuple[int, int], float] = {}
        """What guesses are worth, where no answer was read."""
        self.titles: dict[int, tuple[str, str]] = {}
        """How the file calls a problem, and the right answers that it has."""

    def add(self, reply: SavedReply, problem: int, index: int) -> None:
        headline = self._headline_of(reply)
        for metric, value in reply.claimed.items():
            name = HEADLINE if metric == headline else metric
            self._values.setdefault(self._row_name(name, reply.filter), []).append(value)
        if headline is not None and reply.filter in ("none", self._first.name):
            (self.guesses if reply.is_guess else self.of_samples)[problem, index] = reply.claimed[headline]
            self.titles[problem] = reply.problem, " / ".join(reply.gold)

    def _headline_of(self, reply: SavedReply) -> str | None:
        """Which of a sample's values is by our first metric. EvalPlus calls all tests plus, and the first ones base."""
        tests = "plus" if "base" in self._labels.values() else "base"
        names = (self.metric, self._first.metrics[0].label, HEADLINE, reply.main, tests)
        return next((name for name in names if name in reply.claimed), None)

    def figures(self, others: Mapping[str, float], filter_name: str) -> dict[str, float]:
        """Their means. `others`: claimed figures of metrics that have no value for a sample."""
        means = {metric: 100 * fmean(values) for metric, values in self._values.items()}
        if self.guesses and self.of_samples:
            means[READ] = 100 * fmean(self.of_samples.values())
        return {**{self._row_name(metric, filter_name): value for metric, value in others.items()}, **means}

    @property
    def metric(self) -> str:
        return self._first.metrics[0].name

    def _row_name(self, metric: str, filter_name: str) -> str:
        """The metric's name in our rows, or lm-eval's if no reading of ours has the name of its filter."""
        first = self._first.metrics[0]
        headline = first.label or first.name
        forms = (normal(metric), f"{normal(metric)}acc")  # EvalScope writes prompt_level_strict for …_acc
        known = next((self._labels[form] for form in forms if form in self._labels), metric)
        name = headline if metric in {HEADLINE, first.name} else known
        pipeline = self._first.name if filter_name == "none" else filter_name
        row_name = name if pipeline == "none" else f"{name},{pipeline}"
        return f"{row_name} ({self._n} runs average)" if self._n > 1 and name == headline else row_name


COLUMNS = Disagreement.__struct_fields__
_LONGEST_CELL = 1000


def _cells(disagreement: Disagreement) -> list[str]:
    values = (getattr(disagreement, column) for column in COLUMNS)
    return ["" if value is None else f"{value:g}" if isinstance(value, float) else str(value) for value in values]


def _as_csv(disagreement: Disagreement) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(_cells(disagreement))
    return text.getvalue()


def _as_markdown(disagreement: Disagreement) -> str:
    return f"| {' | '.join(markdown.text(cell, _LONGEST_CELL) for cell in _cells(disagreement))} |\n"


def text_format(suffix: str) -> tuple[str, Callable[[Disagreement], str]]:
    """What a file of that suffix begins with, and how it shows a disagreement; any other has lines of JSON."""
    match suffix.lower():
        case ".csv":
            return ",".join(COLUMNS) + "\r\n", _as_csv
        case ".md":
            return f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|\n", _as_markdown
    return "", lambda disagreement: msgspec.json.encode(disagreement).decode() + "\n"
