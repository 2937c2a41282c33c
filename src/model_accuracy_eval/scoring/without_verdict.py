"""Whose samples have no verdict, as a gate that they leave open says it."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from model_accuracy_eval.records import FigureBounds, Gate, RunPlan, SummaryRow
from model_accuracy_eval.scoring import groups

_NAMED = 5
"""Datasets that are named; the others are counted."""


def by_dataset(samples: Mapping[str, int]) -> str:
    """How many samples of which datasets, the most first."""
    found = sorted(((name, number) for name, number in samples.items() if number), key=lambda each: -each[1])
    more = [f"and {len(found) - _NAMED} more datasets"] if len(found) > _NAMED else []
    return ", ".join([*(f"{name}: {number:,}" for name, number in found[:_NAMED]), *more])


class WithoutVerdict(NamedTuple):
    """The samples without a verdict that a gate's figure is made of, by dataset."""

    samples: Mapping[str, int] = MappingProxyType({})
    file: str = "predictions/…_failed.jsonl"
    """Where the run's folder says why they have none."""

    def shown(self, bounds: FigureBounds) -> str:
        """What the figure may be, and because of whom."""
        low, high = (None if end is None else f"{end:.2f}" for end in (bounds.low, bounds.high))
        limits = (
            f"from {low} to {high}" if low and high else f"from {low} up" if low else f"up to {high}" if high else ""
        )
        has = "1 sample{} has" if bounds.samples == 1 else f"{bounds.samples:,} samples{{}} have"
        return f", or anything{f' {limits}' if limits else ''}, because {has.format(self._whose(bounds))} no verdict"

    def _whose(self, bounds: FigureBounds) -> str:
        if [*self.samples.values()] == [bounds.samples]:
            return f" of {next(iter(self.samples))}"
        return f" ({by_dataset(self.samples)})" if self.samples else ""

    @property
    def next_step(self) -> str:
        return f" Find out why they have none in {self.file}, and ask for them again with --reuse RUN."


NOT_NAMED = WithoutVerdict()


def without_verdict(plan: RunPlan, gate: Gate, rows: Sequence[SummaryRow]) -> WithoutVerdict:
    """Of a gate on a group, those of its members."""
    by_name = {group.name: group for group in plan.groups}
    group = by_name.get(gate.dataset)
    names = groups.datasets(group, by_name) if group else (gate.dataset,)
    lost = {
        row.dataset: row.bounds.samples for row in reversed(rows) if row.bounds is not None and row.dataset in names
    }
    if not lost:
        return NOT_NAMED
    most = max(lost, key=lost.__getitem__)
    return WithoutVerdict(lost, f"predictions/{plan.settings.label}/{most}_failed.jsonl")
