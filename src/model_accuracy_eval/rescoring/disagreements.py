"""Samples whose value in the file differs from ours: how many there are of each class, and all of them one by one."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

from model_accuracy_eval.records import Attempt, DatasetResult, ProblemResult, Record, VerdictReason
from model_accuracy_eval.rescoring.recounts import SampleValues

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

    def listed(self, attempts: Callable[[], Iterable[Attempt]]) -> Iterator[Disagreement]:
        """All of them, class by class. `attempts` yields the samples anew for every class, so that no text is kept."""
        for kind, _ in self.counts.most_common():
            if kind == "missing":
                yield from (self._disagreement(key, "") for key, its in self._kinds.items() if its == kind)
                continue
            for attempt in attempts():
                key = attempt.problem, attempt.index
                if self._kinds.get(key) == kind and (attempt.fault is not None) == (kind in {"failed", "rejected"}):
                    yield self._disagreement(key, attempt.fault.sentence if attempt.fault else attempt.text)

    def _disagreement(self, key: tuple[int, int], text: str) -> Disagreement:
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
            end=text[-_END:],
        )


def _kinds(
    results: Iterable[ProblemResult], values: SampleValues
) -> Iterator[tuple[tuple[int, int], DisagreementKind]]:
    for result in results:
        for sample, (ours, why) in enumerate(zip(result.values, result.why, strict=True)):
            claimed = values.get((result.problem, sample))
            if claimed is not None and abs(claimed - ours) > _SAME:
                yield (result.problem, sample), KINDS[why] if claimed > ours else LOWER
