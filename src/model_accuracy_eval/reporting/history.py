"""Runs that have ended, one after the other: each figure beside the one before it and the best so far."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from model_accuracy_eval.records import Record
from model_accuracy_eval.reporting import summary
from model_accuracy_eval.scoring.recurring import Recurring

_VERDICTS = {"passed", "failed", "undecided"}


class Past(Record, frozen=True, kw_only=True):
    """One dataset's first figure in one run. Only figures of the same version, label and metric are compared."""

    finished: str
    run_id: str
    label: str
    dataset: str
    version: str
    metric: str
    value: float
    change: float | None = None
    """Points above the run before; None: there was none."""
    best: float
    """The highest so far, this one included."""


def history(runs: Iterable[Mapping[str, Any]], dataset: str | None = None, label: str | None = None) -> list[Past]:
    """`runs` holds what each `run.json` says; runs that are no verdict are passed over."""
    told: list[Past] = []
    last: dict[tuple[str, ...], Past] = {}
    found = sorted((one for run in runs for one in _figures(run)), key=lambda one: (one.finished, one.run_id))
    for one in found:
        if dataset not in {None, one.dataset} or label not in {None, one.label}:
            continue
        key = (one.dataset, one.version, one.label, one.metric)
        last[key] = _after(last.get(key), one)
        told.append(last[key])
    return told


def _figures(run: Mapping[str, Any]) -> Iterator[Past]:
    if run.get("status") not in _VERDICTS:
        return
    for name, entry in run["datasets"].items():
        metric, value = next(iter(entry.get("metrics", {}).items()), (None, None))
        if metric is not None and value is not None:
            yield Past(
                finished=run["finished"],
                run_id=run["run_id"],
                label=run["label"],
                dataset=name,
                version=entry["version"],
                metric=metric,
                value=value,
                best=value,
            )


def _after(before: Past | None, one: Past) -> Past:
    if before is None:
        return one
    return msgspec.structs.replace(one, change=one.value - before.value, best=max(one.value, before.best))


def as_text(told: list[Past]) -> str:
    """A table; a star marks a figure that none before has reached."""
    head = ("finished", "run", "dataset", "version", "label", "metric", "value", "change", "best")
    return _table([head, *(_cells(one) for one in told)])


def problems_as_text(told: list[Recurring]) -> str:
    """A table: `any` is the share of the problems that at least one run solved."""
    head = ("dataset", "version", "runs", "problems", "in every run", "in some", "in none", "any")
    return _table([head, *(_solved(one) for one in told)])


def _table(lines: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _solved(one: Recurring) -> tuple[str, ...]:
    heaps = (one.runs, one.problems, one.every, len(one.sometimes), len(one.never))
    return (one.dataset, one.version, *map(str, heaps), summary.number(one.oracle))


def _cells(one: Past) -> tuple[str, ...]:
    change = "" if one.change is None else f"{one.change:+.2f}"
    best = f"{one.best:.2f}{'*' if one.value == one.best else ''}"
    named = (one.finished, one.run_id[:8], one.dataset, one.version, one.label, one.metric)
    return (*named, f"{one.value:.2f}", change, best)
