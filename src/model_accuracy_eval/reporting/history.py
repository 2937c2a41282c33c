"""Runs that have ended, in order of time: each figure with its change to the run before and the best so far."""

from collections.abc import Iterable, Iterator

import msgspec

from model_accuracy_eval.records import FigureBounds, Record, SamplingSetting
from model_accuracy_eval.reporting import summary
from model_accuracy_eval.reporting.runfile import RunFile
from model_accuracy_eval.scoring.run_consistency import RunConsistency


class PastFigure(Record, frozen=True, kw_only=True):
    """One dataset's first figure in one run. Only figures of the same version, sampling, label and metric are
    compared."""

    finished: str
    run_id: str
    label: str
    dataset: str
    version: str
    sampling: SamplingSetting = "server"
    metric: str
    value: float
    bounds: FigureBounds | None = None
    """Limits of the value where samples have no verdict."""
    change: float | None = None
    """Points above the run before; None for the first, and where one of the two is not exact."""
    best: float | None
    """The highest so far, this one included if it is exact."""


def history(runs: Iterable[RunFile], dataset: str | None = None, label: str | None = None) -> list[PastFigure]:
    """The figures of all runs, the oldest first; runs that were broken or stopped are left out."""
    last: dict[tuple[str, ...], PastFigure] = {}
    figures = []
    for figure in sorted(
        (figure for run in runs if run.is_verdict for figure in _figures(run)),
        key=lambda figure: (figure.finished, figure.run_id),
    ):
        if dataset not in {None, figure.dataset} or label not in {None, figure.label}:
            continue
        key = (figure.dataset, figure.version, figure.sampling, figure.label, figure.metric)
        last[key] = _after(last.get(key), figure)
        figures.append(last[key])
    return figures


def _figures(run: RunFile) -> Iterator[PastFigure]:
    for name, entry in run.datasets.items():
        metric, value = next(iter((entry.metrics or {}).items()), ("", None))
        if value is not None:
            yield PastFigure(
                finished=run.finished,
                run_id=run.run_id,
                label=run.label,
                dataset=name,
                version=entry.version,
                sampling=run.sampling,
                metric=metric,
                value=value,
                bounds=entry.bounds.get(metric),
                best=None if metric in entry.bounds else value,
            )


def _after(before: PastFigure | None, figure: PastFigure) -> PastFigure:
    if before is None:
        return figure
    exact = before.bounds is None and figure.bounds is None
    return msgspec.structs.replace(
        figure,
        change=figure.value - before.value if exact else None,
        best=max((best for best in (figure.best, before.best) if best is not None), default=None),
    )


def as_text(figures: list[PastFigure]) -> str:
    """A table; a star marks a figure that is the highest so far."""
    head = ("finished", "run", "dataset", "version", "sampling", "label", "metric", "value", "change", "best")
    return _table([head, *map(_cells, figures)])


def _cells(figure: PastFigure) -> tuple[str, ...]:
    change = "" if figure.change is None else f"{figure.change:+.2f}"
    best = "" if figure.best is None else f"{figure.best:.2f}{'*' if figure.value == figure.best else ''}"
    run = (figure.finished, figure.run_id[:8])
    names = (figure.dataset, figure.version, figure.sampling, figure.label, figure.metric)
    value = f"{figure.value:.2f}" if figure.bounds is None else summary.range_of(figure.bounds)
    return (*run, *names, value, change, best)


def problems_as_text(datasets: list[RunConsistency]) -> str:
    """A table: `any` is the share of the problems that at least one run solved."""
    head = ("dataset", "version", "sampling", "runs", "problems", "in every run", "in some", "in none", "any")
    return _table([head, *map(_problem_cells, datasets)])


def _problem_cells(dataset: RunConsistency) -> tuple[str, ...]:
    numbers = (dataset.runs, dataset.problems, dataset.every, len(dataset.sometimes), len(dataset.never))
    return (dataset.dataset, dataset.version, dataset.sampling, *map(str, numbers), summary.number(dataset.oracle))


def _table(lines: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
