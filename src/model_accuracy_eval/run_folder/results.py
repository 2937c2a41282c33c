"""`results/<label>/<dataset>.json`: unrounded figures, 0..100, and every problem with its n verdicts."""

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import (
    AskedPart,
    Counts,
    DatasetResult,
    ExecutionSummary,
    FigureBounds,
    Interval,
    ProblemResult,
    Reading,
    RunPlan,
    Speed,
    SummaryRow,
    VerdictReason,
)
from model_accuracy_eval.scoring.figures.aggregations import Statistics
from model_accuracy_eval.scoring.figures.reductions import avg_at_n, cons_at_k, pass_at_k
from model_accuracy_eval.scoring.verdicts.comparison_statistics import (
    DatasetOutcome,
    ProblemOutcome,
    drawn_aggregations,
    whole_figures,
)

T = TypeVar("T")


class ResultsHead(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The file without its problems. Before these fields stand the figures under their names in the summary."""

    intervals: dict[str, Interval | None]
    bounds: dict[str, FigureBounds] = {}
    """Of the figures of which samples have no verdict."""
    chances: dict[str, float] = {}
    """What guessing would give."""
    version: str
    counts: Counts
    anomalies: dict[str, int] | None = None
    notes: tuple[str, ...]
    speed: Speed
    rows: tuple[SummaryRow, ...]
    ran: tuple[ExecutionSummary, ...] = ()
    readings: tuple[Reading, ...] = ()
    part: AskedPart | None = None
    """What was asked, where that was not everything; figures that are estimates then stand in `rows` alone."""


class ProblemEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A problem in `details`, under AISBench's names: `pred`, `answer` and `correct` have one entry a sample.

    After `c` stand the problem's figures under their names in the summary, as far as they follow from `n` and `c`.
    """

    example_abbr: str
    id: int
    n: int
    c: int | None
    pred: tuple[str | None, ...]
    answer: tuple[str, ...]
    correct: tuple[bool, ...]
    why: tuple[VerdictReason, ...]
    values: tuple[float, ...] = ()
    """Only where `c` does not say it all; `figures` likewise."""
    figures: dict[str, float | None] = {}
    key: tuple[str, ...] = ()
    category: str | None = None
    cluster: str = ""
    """Equal in problems that share a passage or the like."""
    cut: int = 0
    doubtful: tuple[int, ...] = ()
    """The samples whose replies state no answer, or several: what was read may not be meant."""
    bounds: dict[str, FigureBounds] = {}
    """For the figures of which samples have no verdict: their least and greatest values."""
    replicas: tuple[str, ...] = ()
    """Which replica of the service answered each sample, where there were several."""
    statistics: dict[str, Statistics] = {}
    """What each run adds to figures that are no means over problems."""


_BEFORE_FIGURES = ("example_abbr", "id", "n", "c")


class ResultsFile(ResultsHead, frozen=True, kw_only=True):
    """The whole file."""

    details: list[ProblemEntry]


class ResultsToCompare(ResultsHead, frozen=True, kw_only=True):
    """The file with those fields of a problem that a comparison needs; decoding the others takes six times as long."""

    details: list[ProblemOutcome]


def bounds_of(rows: Iterable[SummaryRow]) -> dict[str, FigureBounds]:
    """Figure → its limits, where samples have no verdict."""
    return {row.metric: row.bounds for row in rows if row.bounds is not None}


def estimates_of(rows: Iterable[SummaryRow]) -> dict[str, float]:
    """Figure → its estimate from a part of the dataset."""
    return {row.metric: row.value for row in rows if row.estimated and row.value is not None}


def chances_of(rows: Iterable[SummaryRow]) -> dict[str, float]:
    """Figure → what guessing would give, where it can be said."""
    return {row.metric: row.chance for row in rows if row.chance is not None}


def file(label: str, dataset: str) -> str:
    return f"results/{label}/{dataset}.json"


def as_json(result: DatasetResult, plan: RunPlan) -> bytes:
    """Figures first, as AISBench does it, then the fields of `ResultsFile`."""
    head = ResultsHead(
        intervals={row.metric: row.interval for row in result.rows},
        bounds=bounds_of(result.rows),
        chances=chances_of(result.rows),
        version=result.version,
        counts=result.counts,
        anomalies=result.anomalies,
        notes=result.notes,
        speed=result.speed,
        rows=result.rows,
        ran=result.ran,
        readings=result.readings,
        part=result.part,
    )
    fields: dict[str, Any] = whole_figures(result.rows) | msgspec.to_builtins(head)
    details = (_details(result.dataset, problem, plan.k) for problem in result.problem_results)
    fields["details"] = [msgspec.Raw(msgspec.json.encode(each)) for each in details]
    return msgspec.json.format(msgspec.json.encode(fields), indent=4) + b"\n"


def _details(dataset: str, result: ProblemResult, k: tuple[int, ...]) -> dict[str, Any]:
    figures = {} if result.c is None else _figures(result.n, result.c, k)
    plain = result.c is not None
    entry = ProblemEntry(
        example_abbr=f"{dataset}_{result.problem}",
        id=result.problem,
        n=result.n,
        c=result.c,
        pred=result.answers,
        answer=(result.references[0],) * result.n,
        correct=tuple(why == "right" for why in result.why),
        why=result.why,
        values=() if plain else result.values,
        figures={
            name: value
            for name, value in result.figures.items()
            if name not in figures and not (plain and name.partition(" (")[0] == "accuracy")
        },
        key=result.key,
        category=result.category,
        cluster=result.cluster,
        cut=result.cut,
        doubtful=result.doubtful,
        bounds=result.bounds,
        replicas=result.replicas,
        statistics=result.statistics,
    )
    fields: dict[str, Any] = msgspec.to_builtins(entry)
    return {name: fields[name] for name in _BEFORE_FIGURES} | figures | fields


def _figures(n: int, c: int, k: tuple[int, ...]) -> dict[str, float]:
    sizes = [size for size in k if size <= n]
    figures = {f"avg@{n}": 100 * avg_at_n(n, c)}
    figures |= {f"pass@{size}": 100 * pass_at_k(n, c, size) for size in sizes}
    return figures | {f"cons@{size}": 100 * cons_at_k(n, c, size) for size in sizes}


def dataset_result(archive: Archive, label: str, dataset: str) -> DatasetResult:
    """The result that a run's file was written from."""
    results = _read(archive, label, dataset, ResultsFile)
    return DatasetResult(
        dataset=dataset,
        version=results.version,
        rows=results.rows,
        problem_results=tuple(map(_problem_result, results.details)),
        counts=results.counts,
        anomalies=results.anomalies,
        notes=results.notes,
        speed=results.speed,
        ran=results.ran,
        readings=results.readings,
        part=results.part,
    )


def _problem_result(entry: ProblemEntry) -> ProblemResult:
    return ProblemResult(
        problem=entry.id,
        n=entry.n,
        c=entry.c,
        values=entry.values or tuple(map(float, entry.correct)),
        answers=entry.pred,
        why=entry.why,
        references=entry.answer[:1],
        figures=entry.figures,
        key=entry.key,
        category=entry.category,
        cluster=entry.cluster,
        cut=entry.cut,
        doubtful=entry.doubtful,
        bounds=entry.bounds,
        replicas=entry.replicas,
        statistics=entry.statistics,
    )


def side(archive: Archive, label: str, dataset: str) -> DatasetOutcome:
    """What a comparison needs of a run's file."""
    return outcome(dataset, to_compare(archive, label, dataset))


def outcome(dataset: str, results: ResultsToCompare) -> DatasetOutcome:
    return DatasetOutcome(
        dataset=dataset,
        version=results.version,
        figures=whole_figures(results.rows),
        shares=frozenset(row.metric for row in results.rows if row.interval is not None),
        bounds=bounds_of(results.rows),
        aggregations=drawn_aggregations(results.rows),
        problems=results.details,
        counts=results.counts,
        speed=results.speed,
        part=results.part,
    )


def to_compare(archive: Archive, label: str, dataset: str) -> ResultsToCompare:
    """The part of a run's file that a comparison needs."""
    return _read(archive, label, dataset, ResultsToCompare)


def _read(archive: Archive, label: str, dataset: str, kind: type[T]) -> T:
    name = file(label, dataset)
    where = f"{archive.root}/{name}"
    source = archive.read(name)
    if source is None:
        raise BadReuse(f"There is no '{where}', so '{dataset}' cannot be looked at problem by problem.")
    return decode(source, kind, where)


def decode(source: bytes, kind: type[T], where: str) -> T:
    """A file of a run folder; one that this program did not write is refused."""
    try:
        return msgspec.json.decode(source, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadReuse(f"'{where}' cannot be read as this program writes it: {error}.") from error
