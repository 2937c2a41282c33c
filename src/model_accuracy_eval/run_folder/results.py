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
from model_accuracy_eval.records.base import filled
from model_accuracy_eval.scoring.figures.aggregations import Statistics
from model_accuracy_eval.scoring.figures.reductions import avg_at_n, cons_at_k, pass_at_k
from model_accuracy_eval.scoring.verdicts.comparison_statistics import whole_figures

T = TypeVar("T")


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


class ResultsFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The file. Before these fields stand the figures under their names in the summary."""

    intervals: dict[str, Interval | None]
    bounds: dict[str, FigureBounds] = {}
    """Of the figures of which samples have no verdict."""
    chances: dict[str, float] = {}
    """What guessing would give."""
    version: str
    counts: Counts
    anomalies: dict[str, int] | None = None
    look_first: str = ""
    notes: tuple[str, ...]
    speed: Speed
    rows: tuple[SummaryRow, ...]
    ran: tuple[ExecutionSummary, ...] = ()
    readings: tuple[Reading, ...] = ()
    part: AskedPart | None = None
    """What was asked, where that was not everything; figures that are estimates then stand in `rows` alone."""
    details: list[ProblemEntry]


def told(rows: Iterable[SummaryRow], field: str) -> dict[str, Any]:
    """Figure → what its row has in that field, where it has something."""
    return {row.metric: value for row in rows if (value := getattr(row, field)) is not None}


def file(label: str, dataset: str) -> str:
    return f"results/{label}/{dataset}.json"


def as_json(result: DatasetResult, plan: RunPlan) -> bytes:
    """Figures first, as AISBench does it, then the fields of `ResultsFile`."""
    whole = filled(
        ResultsFile,
        result,
        intervals={row.metric: row.interval for row in result.rows},
        bounds=told(result.rows, "bounds"),
        chances=told(result.rows, "chance"),
        details=[],
    )
    fields: dict[str, Any] = whole_figures(result.rows) | msgspec.to_builtins(whole)
    details = (_details(result.dataset, problem, plan.k) for problem in result.problem_results)
    fields["details"] = [msgspec.Raw(msgspec.json.encode(each)) for each in details]
    return msgspec.json.format(msgspec.json.encode(fields), indent=4) + b"\n"


def _details(dataset: str, result: ProblemResult, k: tuple[int, ...]) -> dict[str, Any]:
    figures = {} if result.c is None else _figures(result.n, result.c, k)
    plain = result.c is not None
    entry = filled(
        ProblemEntry,
        result,
        example_abbr=f"{dataset}_{result.problem}",
        id=result.problem,
        pred=result.answers,
        answer=(result.references[0],) * result.n,
        correct=tuple(why == "right" for why in result.why),
        values=() if plain else result.values,
        figures={
            name: value
            for name, value in result.figures.items()
            if name not in figures and not (plain and name.partition(" (")[0] == "accuracy")
        },
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
    name = file(label, dataset)
    where = f"{archive.root}/{name}"
    source = archive.read(name)
    if source is None:
        raise BadReuse(f"There is no '{where}', so '{dataset}' cannot be looked at problem by problem.")
    results = decode(source, ResultsFile, where)
    return filled(DatasetResult, results, dataset=dataset, problem_results=tuple(map(_problem_result, results.details)))


def _problem_result(entry: ProblemEntry) -> ProblemResult:
    return filled(
        ProblemResult,
        entry,
        problem=entry.id,
        values=entry.values or tuple(map(float, entry.correct)),
        answers=entry.pred,
        references=entry.answer[:1],
    )


def decode(source: bytes, kind: type[T], where: str) -> T:
    """A file of a run folder; one that this program did not write is refused."""
    try:
        return msgspec.json.decode(source, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadReuse(f"'{where}' cannot be read as this program writes it: {error}.") from error
