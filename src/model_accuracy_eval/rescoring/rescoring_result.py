"""What rescoring a file gives, as records and as text: our figures, the claimed ones, and where samples differ."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Counts, DatasetResult, MetricUse, Record, SummaryRow, TaskGroup
from model_accuracy_eval.report import figures
from model_accuracy_eval.rescoring import causes
from model_accuracy_eval.rescoring.causes import READ, Claim, Evidence, Measure, SampleValues
from model_accuracy_eval.rescoring.disagreements import Disagreement, DisagreementKind
from model_accuracy_eval.scoring.figures import groups as group_figures


class ClaimedFigure(Record, frozen=True, kw_only=True):
    """One metric's figure, ours and the tool's."""

    metric: str
    ours: float | None
    claimed: float | None
    why: str = ""
    causes: tuple[str, ...] = ()
    """The names of the ways to count that give the claim."""


class Rescored(Record, frozen=True, kw_only=True):
    """A file's replies, judged; of a file of lm-eval without a dataset, those of one filter."""

    name: str
    filter: str
    scoring: str
    problems: int
    """How many were judged."""
    samples: int
    """How many the file holds."""
    counts: Counts
    figures: tuple[ClaimedFigure, ...]
    rows: tuple[SummaryRow, ...]
    left_out: tuple[str, ...] = ()
    """Rows and problems of the file that are not judged, and why."""
    notes: tuple[str, ...]
    differing: int
    """How many samples have another value in the file."""
    kinds: dict[DisagreementKind, int]
    """The same by class."""
    disagreements: tuple[Disagreement, ...]
    """The first of them."""


def of_groups(groups: Sequence[TaskGroup], results: Sequence[DatasetResult]) -> Iterator[Rescored]:
    """The figures of groups of datasets, as a run has them."""
    for group in groups:
        rows = tuple(row for row in group_figures.all_rows(groups, results) if row.dataset == group.name)
        members = [result for result in results if result.dataset in group.members]
        yield Rescored(
            name=group.name,
            filter="none",
            scoring="the mean of its datasets",
            problems=sum(len(result.problem_results) for result in members),
            samples=sum(result.counts.planned - result.counts.missing for result in members),
            counts=Counts(),
            figures=tuple(ClaimedFigure(metric=row.metric, ours=row.value, claimed=None) for row in rows),
            rows=rows,
            notes=(),
            differing=0,
            kinds={},
            disagreements=(),
        )


def of_those_judged(result: DatasetResult) -> Iterator[str]:
    """What the headline is of the problems that have samples, if it is a mean over them."""
    problems = causes.samples(result.problem_results)
    row, rest = next(iter(result.rows), None), causes.without("missing")(problems, Measure("mean"))
    share = causes.as_defined(problems, Measure("mean"))
    if row is None or row.value is None or rest is None or share is None or abs(100 * share - row.value) > 1e-6:
        return
    yield f"Of the samples that are judged, {row.metric} is {100 * rest:.2f}."


_LISTED = 5
"""How many rows that are left out the text shows."""
_HEAD = ("metric", "ours", "95 %", "claimed", "difference")


def as_json(results: Sequence[Rescored]) -> str:
    return msgspec.json.format(msgspec.json.encode(results), indent=2).decode()


def as_text(results: Sequence[Rescored]) -> str:
    return "\n\n".join("\n".join(_lines(result)) for result in results)


def _lines(result: Rescored) -> Iterator[str]:
    title = result.name if result.filter == "none" else f"{result.name}, filter {result.filter}"
    yield f"{title}: {result.samples:,} samples of {result.problems:,} problems, judged by {result.scoring}"
    yield from _table(_HEAD, list(_cells(result)))
    for row in result.rows:
        if row.bounds:
            limits = figures.range_of(row.bounds)
            yield f"{row.metric}: {limits}, whatever the {row.bounds.samples:,} samples without a verdict would be"
    for figure in result.figures:
        if figure.why:
            yield f"{figure.metric}: {figure.why}"
    if result.counts.missing:
        where = "left out or not in the file" if result.left_out else "not in the file"
        yield f"{result.counts.missing:,} samples are {where} and count as not correct."
    if result.left_out:
        yield f"{len(result.left_out):,} rows or problems of the file are left out:"
        yield from (f"  {reason}" for reason in result.left_out[:_LISTED])
        if len(result.left_out) > _LISTED:
            yield f"  and {len(result.left_out) - _LISTED:,} more, which --json lists"
    yield from result.notes
    yield from _disagreements(result)


def _cells(result: Rescored) -> Iterator[tuple[str, ...]]:
    intervals = {row.metric: row.interval for row in result.rows}
    for figure in result.figures:
        interval = intervals.get(figure.metric)
        both = figure.ours is not None and figure.claimed is not None
        yield (
            figure.metric,
            _number(figure.ours),
            f"{interval.low:.1f} – {interval.high:.1f}" if interval else "",
            _number(figure.claimed),
            f"{round((figure.ours or 0.0) - (figure.claimed or 0.0), 6) + 0.0:+.2f}" if both else "",
        )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _disagreements(result: Rescored) -> Iterator[str]:
    if not result.differing:
        return
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in result.kinds.items())
    yield f"{result.differing:,} of {result.samples:,} samples are judged differently ({kinds}), such as:"
    for sample in result.disagreements:
        answer = "nothing was read" if sample.answer is None else f"read {sample.answer[:60]!r}"
        values = f"the file says {sample.claimed:g}, we {sample.ours:g}"
        yield f"  problem {sample.problem}: {values} ({answer}, right is {sample.gold[-60:]!r})"
    if result.differing > len(result.disagreements):
        yield "--diff FILE lists them all, with the ends of the replies."


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head))]
    for row in [head, *rows]:
        numbers = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join([row[0].ljust(widths[0]), *numbers]).rstrip()


# The figures that a tool claims for the replies in its file, next to ours, and why the two differ.


_LARGEST = 1e300
"""NaN, infinity and whole numbers that no float holds are no figures."""
_MOST = 200
"""More numbers than this are not the figures of one dataset."""
_SIZED = re.compile(r"(?P<kind>pass|cons|avg)(?:@|_at_)(?P<k>[1-9]\d*)")
_AVERAGED = re.compile(r" \(\d+ runs average\)")
_ACCURACIES = {"accuracy", "acc", "score", "correct", "mean"}
"""How tools call the share of correct samples."""


def read_figures(data: bytes, name: str, *, required: bool = False) -> dict[str, float]:
    """The numbers in a results file; if all of them are in objects, by their last names where these differ.

    None where it says only that a tool failed, or holds so many that they are no figures of one dataset; refused where
    figures are required, because the user named the file.
    """
    try:
        # By Python's own reader, because many tools write NaN, which is not JSON.
        content = msgspec.convert(json.loads(data), dict[str, Any])
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise BadData(f"{name}: this is not a results file: {error}.") from error
    numbers = dict(_numbers(content))
    numbers = {path: value for path, value in numbers.items() if len(path) == 1} or numbers
    if required and not 0 < len(numbers) <= _MOST:
        raise BadData(
            f'{name}: a results file holds 1 to {_MOST} figures, such as {{"accuracy": 62.5}}; here are none, or more.'
        )
    if len(numbers) > _MOST:
        return {}
    ambiguous = Counter(path[-1] for path in numbers)
    return {path[-1] if ambiguous[path[-1]] == 1 else ".".join(path): value for path, value in numbers.items()}


def _numbers(content: Mapping[str, Any], *above: str) -> Iterator[tuple[tuple[str, ...], float]]:
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _numbers(value, *above, key)
        elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST:
            yield (*above, key), float(value)


def compare(
    result: DatasetResult,
    headline: MetricUse,
    claimed: Mapping[str, float],
    of_samples: SampleValues,
    guesses: SampleValues = MappingProxyType({}),
) -> tuple[ClaimedFigure, ...]:
    """Every figure that either side has. `of_samples`: of the headline; `guesses`: where no answer was read."""
    claims = causes.claims(claimed)
    names = dict.fromkeys([*(row.metric for row in result.rows), *claimed])
    own = _OwnFigures(result, headline, of_samples, guesses)
    return tuple(own.against(name, claims.get(name)) for name in names)


class _OwnFigures:
    """Our figures, and any others that the samples give."""

    def __init__(
        self, result: DatasetResult, headline: MetricUse, of_samples: SampleValues, guesses: SampleValues
    ) -> None:
        self._rows = {row.metric: row for row in result.rows}
        self._first = result.rows[0].metric if result.rows else ""
        self._names = {headline.name, headline.label or headline.name}
        self._problems = causes.samples(result.problem_results)
        self._verdicts = causes.with_values(result.problem_results, of_samples, guesses)
        self._read = [
            problem.only(places)
            for result, problem in zip(result.problem_results, self._problems, strict=True)
            if (places := [at for at in range(result.n) if (result.problem, at) in of_samples])
        ]
        self._n = causes.samples_of_each(self._problems)
        self._yes_or_no = all(problem.c is not None for problem in result.problem_results)

    def against(self, name: str, claim: Claim | None) -> ClaimedFigure:
        row, figure = self._rows.get(name), self._figure(name)
        ours = row.value if row else self._count(figure)
        if name == READ and (share := causes.as_defined(self._read, Measure("mean"))) is not None:
            ours = 100 * share
        if claim is None:
            return ClaimedFigure(metric=name, ours=ours, claimed=None)
        explanation = causes.explain(claim, self._evidence(name, ours, figure))
        why = explanation.sentence
        if not explanation.causes and ours is None:
            why = self._why_not(name)
        elif why and not explanation.causes and row and row.bounds and _is_within(claim.value, row):
            why = f"{claim} is within the range that the {row.bounds.samples:,} samples without a verdict leave."
        return ClaimedFigure(metric=name, ours=ours, claimed=claim.value, why=why, causes=explanation.causes)

    def _evidence(self, name: str, ours: float | None, figure: Measure | None) -> Evidence:
        row = self._rows.get(name)
        if name == READ and self._verdicts:
            valued = self._verdicts.valued
            verdicts = self._verdicts._replace(all=valued, guessed=valued)
            return Evidence(problems=self._read, verdicts=verdicts, ours=ours, figure=Measure("mean"), others={})
        return Evidence(
            problems=self._problems,
            verdicts=self._verdicts,
            ours=ours,
            figure=figure,
            others={n: row.value for n, row in self._rows.items() if row.value is not None and n != name},
            share=row.share if row else True,
        )

    def _figure(self, name: str) -> Measure | None:
        """What the figure of that name counts; None if it is not counted from right and wrong samples."""
        if sized := _SIZED.fullmatch(name):
            k = int(sized["k"])
            if k > self._n or not self._yes_or_no:
                return None
            if k == 1 or sized["kind"] == "avg":
                return Measure("mean")
            return Measure("pass" if sized["kind"] == "pass" else "cons", k)
        plain = _AVERAGED.sub("", name)
        of_all_tests = {"plus"} if "base" in self._rows else set()  # EvalPlus's, of programs that pass the first too
        names = _ACCURACIES | self._names | of_all_tests
        is_headline = name == self._first or (name not in self._rows and plain in names)
        return Measure("mean") if is_headline and self._is_mean() else None

    def _is_mean(self) -> bool:
        """Whether our first figure is the mean of the samples' values in per cent."""
        row, share = self._rows.get(self._first), causes.as_defined(self._problems, Measure("mean"))
        return row is not None and row.value is not None and share is not None and abs(100 * share - row.value) < 1e-6

    def _count(self, figure: Measure | None) -> float | None:
        share = causes.as_defined(self._problems, figure) if figure else None
        return None if share is None else 100 * share

    def _why_not(self, name: str) -> str:
        """Why there is no figure of ours to compare with."""
        sized = _SIZED.fullmatch(name)
        if sized and int(sized["k"]) > self._n:
            return f"{name} needs {sized['k']} samples of every problem, and the file holds {self._n}."
        if sized and not self._yes_or_no:
            return f"{name} counts samples that are right or wrong, which {self._first} does not say."
        return f"No figure here is called {name}, and none equals it: there are {_list(self._rows)}."


def _is_within(claim: float, row: SummaryRow) -> bool:
    """Whether the claim, also as a share of 1, is a figure that the row's lost samples allow."""
    low, high = (row.bounds.low, row.bounds.high) if row.bounds else (None, None)
    values = (claim, 100 * claim) if row.share else (claim,)
    return low is not None and high is not None and any(low <= value <= high + 1e-9 for value in values)


def _list(names: Iterable[str]) -> str:
    first, *others = list(names) or ["none"]
    shown = [first, *others[:4], *([f"{len(others) - 4} more"] if len(others) > 4 else [])]
    return ", ".join(shown)
