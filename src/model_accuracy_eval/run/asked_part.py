"""The figures of a dataset that was asked no further than was needed: which samples count, and what they show."""

from collections.abc import Callable, Collection, Iterator, Sequence

from msgspec.structs import replace

from model_accuracy_eval.records import (
    AskedPart,
    Attempt,
    Interval,
    PreparedDataset,
    Problem,
    ProblemResult,
    Reading,
    RunPlan,
    SummaryRow,
)
from model_accuracy_eval.scoring.figures.intervals import interval_of_samples
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.verdicts.following import Following, PrefixReader, followed_figures

NewCard = Callable[[], Scorecard]


class PartJudge:
    """Judges the samples that were read. Where they are single samples, each stands for its problem."""

    def __init__(
        self, plan: RunPlan, prepared: PreparedDataset, following: Following, reader: PrefixReader, new_card: NewCard
    ) -> None:
        self._following = following
        self._reader = reader
        self._plain = followed_figures(prepared.task, following.n, plan.k)
        self._card = new_card()
        self._samples = new_card()
        """Collects each sample as if it were a problem."""
        self._values: dict[str, dict[int, list[tuple[float, float]]]] = {}
        """Figure → problem → the least and the greatest value of each of its samples."""
        self.indexes: dict[int, list[int]] = {}
        """Problem → the samples of it that were read."""
        for problem, index in sorted(reader.samples_read()):
            self.indexes.setdefault(problem, []).append(index)

    def judge(self, problem: Problem, samples: Sequence[Attempt | None]) -> ProblemResult:
        """`samples`: those that were read. No other one could change the figures that stay."""
        unasked = [None] * (self._following.n - len(samples))
        result = self._card.judge(problem, [*samples, *unasked])
        if self._following.by_samples:
            for sample in samples:
                self._note(self._samples.judge(problem, [sample] * self._following.n))
        known = () if self._following.by_samples else self._following.figures
        return _of_samples_read(result, len(samples), known if unasked else None)

    def leave_out(self, problem: Problem) -> None:
        """A problem that cannot be judged."""
        if not self._following.by_samples:
            self._card.leave_out(problem)
            return
        for _ in self.indexes[problem.id]:
            self._samples.leave_out(problem)

    def readings(self) -> tuple[Reading, ...]:
        return self._card.readings()

    def _note(self, result: ProblemResult) -> None:
        for name, value in result.figures.items():
            bounds = result.bounds.get(name)
            low, high = (bounds.low, bounds.high) if bounds else (value, value)
            if low is not None and high is not None:
                self._values.setdefault(name, {}).setdefault(result.problem, []).append((low / 100, high / 100))

    def rows(self, version: str, mode: str) -> tuple[SummaryRow, ...]:
        """The rows that a run of the whole has, without a value where the part does not give it."""
        card = self._samples if self._following.by_samples else self._card
        return tuple(self._row(row) for row in card.rows(version, mode))

    def _row(self, row: SummaryRow) -> SummaryRow:
        if not self._gives(row.metric):
            return replace(row, value=None, interval=None, stderr=None, bounds=None, chance=None, certainty=None)
        if self._following.by_samples:
            return replace(row, estimated=True, certainty=None, interval=self._interval(row.metric), stderr=None)
        return replace(row, estimated=self.estimated)

    def _gives(self, name: str) -> bool:
        """Whether what was read says something about the figure."""
        if self._following.by_samples:
            return name in self._plain and self._plain[name].is_mean_of_samples
        return name in (self._following.figures if self.left_inside else self._plain)

    @property
    def left_inside(self) -> bool:
        """Whether a problem was left before all its samples were asked."""
        return self._following.stops_inside and any(
            len(indexes) < self._following.n for indexes in self.indexes.values()
        )

    @property
    def estimated(self) -> bool:
        """Whether figures are those of a part."""
        return self._following.by_samples or len(self.indexes) < len(self._following.problems)

    def part(self) -> AskedPart:
        return AskedPart(
            read=sum(map(len, self.indexes.values())),
            answered=self._reader.told,
            planned=self._following.planned,
            problems=len(self.indexes),
            left_inside=self.left_inside,
            estimated=self.estimated,
            decisions=dict(self._reader.decisions),
        )

    def _interval(self, name: str) -> Interval | None:
        values = self._values.get(name, {})
        worst, best = (
            interval_of_samples([[ends[end] for ends in samples] for samples in values.values()]) for end in (0, 1)
        )
        return Interval(low=worst.low, high=best.high) if worst and best else None


def _of_samples_read(result: ProblemResult, count: int, known: Collection[str] | None) -> ProblemResult:
    """`known`: the figures that these samples give whatever the others would have been; None: all."""
    if known is None:
        return result
    values = result.values[:count]
    return replace(
        result,
        n=count,
        c=None if result.c is None else sum(value >= 1.0 for value in values),
        values=values,
        answers=result.answers[:count],
        why=result.why[:count],
        figures={name: value for name, value in result.figures.items() if name in known},
        bounds={name: bounds for name, bounds in result.bounds.items() if name in known},
    )


def notes(part: AskedPart | None, problems: int) -> Iterator[str]:
    """What a reader of the figures has to know first. `problems`: of the dataset."""
    if part is None:
        return
    asked = f"{part.share} of the requests ({part.read:,} of {part.planned:,} samples"
    if part.estimated:
        yield (
            f"Decided after {asked}, of {part.problems:,} of {problems:,} problems; {part.answered:,} samples were "
            "there by then): figures with ≈ are estimates from these, and those without a value need the rest, which "
            "--reuse RUN asks for."
        )
    else:
        yield f"{asked}) settled the figures that are shown, for all problems. --reuse RUN asks for the rest."
