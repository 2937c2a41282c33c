"""What a file says of each of its samples, and where that differs from our verdicts."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from model_accuracy_eval.records import Attempt, DatasetResult, Pipeline, ProblemResult, Record, VerdictReason
from model_accuracy_eval.report import markdown
from model_accuracy_eval.rescoring.causes import SampleValues
from model_accuracy_eval.rescoring.saved_replies import SavedReply

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


class ProblemTitle(Record, frozen=True):
    """How a file calls a problem, and the right answers that it has."""

    name: str
    gold: str


class Disagreements:
    """Those of one file, or of one filter of it."""

    def __init__(
        self,
        file: str,
        metric: str,
        result: DatasetResult,
        values: SampleValues,
        titles: Mapping[int, ProblemTitle],
    ) -> None:
        """`values`: those of the samples in the file. `titles`: of the problems by their ids."""
        self._file = file
        self._metric = metric
        self._titles = titles
        self._values = values
        self._results = {one.problem: one for one in result.problem_results}
        self._kinds = dict(_kinds(result.problem_results, values))
        self.counts = Counter(self._kinds.values())

    def listed(self, attempts: Iterable[Attempt]) -> Iterator[Disagreement]:
        """All of them, class by class."""
        ends: dict[tuple[int, int], str] = {}
        for attempt in attempts:
            key = attempt.problem, attempt.index
            if key in self._kinds and (attempt.fault is not None) == (self._kinds[key] in {"failed", "rejected"}):
                ends[key] = (attempt.fault.sentence if attempt.fault else attempt.text)[-_END:]
        for kind, _ in self.counts.most_common():
            yield from (self._disagreement(key, ends.get(key, "")) for key, its in self._kinds.items() if its == kind)

    def _disagreement(self, key: tuple[int, int], end: str) -> Disagreement:
        problem, sample = key
        result = self._results[problem]
        title = self._titles.get(problem, ProblemTitle("", ""))
        return Disagreement(
            file=self._file,
            kind=self._kinds[key],
            problem=title.name or str(problem),
            sample=sample,
            metric=self._metric,
            claimed=self._values[key],
            ours=result.values[sample],
            answer=result.answers[sample],
            gold=title.gold or " / ".join(result.references),
            end=end,
        )


def _kinds(
    results: Iterable[ProblemResult], values: SampleValues
) -> Iterator[tuple[tuple[int, int], DisagreementKind]]:
    for result in results:
        for sample, (ours, why) in enumerate(zip(result.values, result.why, strict=True)):
            claimed = values.get((result.problem, sample))
            if claimed is not None and abs(claimed - ours) > _SAME:
                yield (result.problem, sample), KINDS[why] if claimed > ours else LOWER


_ACCURACY = "correct"
"""The name of a value in files that have only one."""


class SampleClaims:
    """The values of all samples. The first metric's are kept one by one, to compare them with ours."""

    def __init__(self, pipelines: Sequence[Pipeline], n: int) -> None:
        self._first = pipelines[0]
        self._n = n
        self._values: dict[str, list[float]] = {}
        self.of_samples: dict[tuple[int, int], float] = {}
        self._titles: dict[int, ProblemTitle] = {}

    def add(self, reply: SavedReply, problem: int, index: int) -> None:
        for metric, value in reply.claimed.items():
            self._values.setdefault(self._row_name(metric, reply.filter), []).append(value)
        if reply.filter in ("none", self._first.name):
            of_first = reply.claimed.get(self._first.metrics[0].name, reply.claimed.get(_ACCURACY))
            if of_first is not None:
                self.of_samples[problem, index] = of_first
                self._titles[problem] = ProblemTitle(reply.problem, " / ".join(reply.gold))

    def figures(self, others: Mapping[str, float], filter_name: str) -> dict[str, float]:
        """Their means. `others`: claimed figures of metrics that have no value for a sample."""
        means = {metric: 100 * sum(values) / len(values) for metric, values in self._values.items()}
        return {**{self._row_name(metric, filter_name): value for metric, value in others.items()}, **means}

    def disagreements(self, file: str, result: DatasetResult) -> Disagreements:
        """Where the first metric's values differ from ours."""
        return Disagreements(file, self._first.metrics[0].name, result, self.of_samples, self._titles)

    def _row_name(self, metric: str, filter_name: str) -> str:
        """The metric's name in our rows, or lm-eval's if no reading of ours has the name of its filter. Files that only
        say "correct" mean accuracy."""
        first = self._first.metrics[0]
        headline = first.label or first.name
        name = headline if metric in {_ACCURACY, first.name} else metric
        pipeline = self._first.name if filter_name == "none" else filter_name
        row_name = name if pipeline == "none" else f"{name},{pipeline}"
        return f"{row_name} ({self._n} runs average)" if self._n > 1 and name == headline else row_name


COLUMNS = Disagreement.__struct_fields__
_LONGEST_CELL = 1000


def _as_json(disagreement: Disagreement) -> str:
    return msgspec.json.encode(disagreement).decode() + "\n"


def _as_csv(disagreement: Disagreement) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(_cells(disagreement))
    return text.getvalue()


def _as_markdown(disagreement: Disagreement) -> str:
    return f"| {' | '.join(markdown.text(cell, _LONGEST_CELL) for cell in _cells(disagreement))} |\n"


def _cells(disagreement: Disagreement) -> list[str]:
    values = (getattr(disagreement, column) for column in COLUMNS)
    return ["" if value is None else f"{value:g}" if isinstance(value, float) else str(value) for value in values]


_FORMATS: Mapping[str, tuple[str, Callable[[Disagreement], str]]] = {
    ".csv": (",".join(COLUMNS) + "\r\n", _as_csv),
    ".md": (f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|\n", _as_markdown),
}


def text_format(suffix: str) -> tuple[str, Callable[[Disagreement], str]]:
    """What a file of that suffix begins with, and how it shows a disagreement; any other has lines of JSON."""
    return _FORMATS.get(suffix.lower(), ("", _as_json))
