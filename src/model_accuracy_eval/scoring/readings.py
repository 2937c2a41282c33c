"""What a task's other pipelines read in the same replies, compared with the first one.

A score depends on how answers are read. Where a stricter or a looser reading is as defensible, a task has a pipeline
for each, as lm-eval's tasks do (`strict-match`, `flexible-extract`), and a report says how often they differ.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from model_accuracy_eval.records import Pipeline, Reading, SummaryRow, Verdict
from model_accuracy_eval.scoring import filters

_Relation = Literal["equal", "more", "fewer", "different"]


class ReadingCounter(msgspec.Struct):
    """Counts the replies of one dataset that one of its other pipelines reads otherwise."""

    pipeline: str
    metric: str
    answers: int = 0
    relations: Counter[_Relation] = msgspec.field(default_factory=Counter)

    def add(self, first: Sequence[Verdict], other: Sequence[Verdict]) -> None:
        for verdict, second in zip(first, other, strict=True):
            self.answers += verdict.answer is not None
            self.relations[_relation(verdict.answer, second.answer)] += 1

    def reading(self) -> Reading:
        return Reading(
            pipeline=self.pipeline,
            answers=self.answers,
            more=self.relations["more"],
            fewer=self.relations["fewer"],
            different=self.relations["different"],
            metric=self.metric,
        )


def _relation(first: str | None, other: str | None) -> _Relation:
    if first == other:
        return "equal"
    if first is None:
        return "more"
    return "fewer" if other is None else "different"


def reads_otherwise(first: Pipeline, other: Pipeline) -> bool:
    """Whether the filters that read single replies differ; filters that choose among samples read nothing, and other
    turns are other replies."""
    return first.turn == other.turn and _reading_filters(first) != _reading_filters(other)


def _reading_filters(pipeline: Pipeline) -> list[object]:
    return [step for step in pipeline.filters if not filters.choose([step])]


def reading_notes(readings: Sequence[Reading], rows: Sequence[SummaryRow]) -> Iterator[str]:
    """One sentence for each reading that differs, with the figure that it gives."""
    values = {row.metric: row.value for row in rows}
    for reading in readings:
        if reading.more or reading.fewer or reading.different:
            yield (
                f"The first reading finds an answer in {reading.answers:,} replies; '{reading.pipeline}' finds one in "
                f"{reading.more:,} more and {reading.fewer:,} fewer, and a different one in {reading.different:,}: "
                f"{_figure(rows[0].metric, values)}, {_figure(reading.metric, values)}."
            )


def _figure(metric: str, values: Mapping[str, float | None]) -> str:
    value = values.get(metric)
    return f"{metric} is unknown" if value is None else f"{metric} is {value:.2f}"
