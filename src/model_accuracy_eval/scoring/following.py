"""One dataset while it is asked: which samples its gates still need, and what was decided.

Samples are read in the order in which they were issued, whatever order they come back in, and only as far as all of
them are there: wrong answers are often long and late, so what has arrived first is better than the rest.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from random import Random
from typing import NamedTuple

from model_accuracy_eval.records import Decision, Gate, Record
from model_accuracy_eval.scoring.figure_so_far import BeginningMean
from model_accuracy_eval.scoring.followed_figures import FollowedFigure
from model_accuracy_eval.scoring.sequential import Covariate, MeanDecider
from model_accuracy_eval.scoring.stop_lines import StopLines

ValueEnds = tuple[float, float]
"""The least and the greatest value, 0..1: they differ where a sample is lost."""
SampleEnds = Mapping[str, ValueEnds]
"""What one sample is worth, by figure."""


class FollowedGate(Record, frozen=True, kw_only=True):
    """A gate, and what has to be proven to decide it."""

    gate: Gate
    lines: StopLines
    before: tuple[float, ...] = ()
    """The baseline's value of each problem; empty: there is none."""
    slope: float = 0.5
    """How new values are expected to follow those."""


class ReadUnit(NamedTuple):
    """What is read at once: one sample, or all samples of a problem."""

    place: int
    """Of the problem in the dataset."""
    sample: int | None
    """Its index; None: all of the problem's."""


class Following(Record, frozen=True, kw_only=True):
    """What is followed of one dataset."""

    problems: tuple[int, ...]
    """Their ids, in the order of the dataset."""
    n: int
    figures: dict[str, FollowedFigure]
    """Those that have to be known."""
    gates: tuple[FollowedGate, ...] = ()
    """None: every problem is asked, each until its figures are settled."""
    seed: str = ""

    @property
    def planned(self) -> int:
        return self.n * len(self.problems)

    @property
    def by_samples(self) -> bool:
        """Whether single samples are read; else problems."""
        return bool(self.gates) and all(figure.is_mean_of_samples for figure in self.figures.values())

    @property
    def stops_inside(self) -> bool:
        """Whether a problem may be left before all its samples are asked."""
        return not self.by_samples and all(figure.by_count is not None for figure in self.figures.values())

    @property
    def order(self) -> list[ReadUnit]:
        """All units, in the order in which they are asked and read: drawn at random where gates are decided."""
        indexes: Sequence[int | None] = range(self.n) if self.by_samples else (None,)
        units = [ReadUnit(place, index) for place in range(len(self.problems)) for index in indexes]
        if self.gates:
            Random(self.seed).shuffle(units)  # noqa: S311 - an order that can be repeated, not a secret
        return units


class PrefixReader:
    """Reads the longest completed prefix of the units, and decides the gates by it."""

    def __init__(self, following: Following) -> None:
        self._following = following
        self._order = following.order
        self._told: list[dict[int, SampleEnds]] = [{} for _ in following.problems]
        self._read = 0
        self._deciders = [_decider(following, gate, self._order) for gate in following.gates]
        self._decisions: dict[str, Decision] = {}
        self._first = next(iter(following.figures))
        self.so_far = BeginningMean(
            self._first,
            len(self._order),
            1 if following.by_samples else following.n,
            of_samples=following.by_samples,
        )
        self._note_decisions()

    def tell(self, place: int, index: int, ends: SampleEnds) -> None:
        """Notes what a sample is worth."""
        self._told[place][index] = ends
        while not self.is_done and self._is_complete(unit := self._order[self._read]):
            for gate, decider in zip(self._following.gates, self._deciders, strict=True):
                decider.tell(*self._ends(unit, gate.gate.metric))
            self.so_far.tell(self._read, *self._ends(unit, self._first))
            self._read += 1
            self._note_decisions()

    @property
    def is_decided(self) -> bool:
        """Whether every gate is."""
        return bool(self._deciders) and len(self._decisions) == len(self._deciders)

    @property
    def is_done(self) -> bool:
        """Whether no more samples are needed."""
        return self.is_decided or self._read == len(self._order)

    @property
    def decisions(self) -> Mapping[str, Decision]:
        """By gate, as it is written."""
        return self._decisions

    @property
    def told(self) -> int:
        """How many samples were told, read or not."""
        return sum(map(len, self._told))

    def lacks(self, place: int) -> tuple[int, ...]:
        """The samples of a problem that were not told and may be needed."""
        if self.is_decided or self._is_settled(place):
            return ()
        return tuple(index for index in range(self._following.n) if index not in self._told[place])

    def samples_read(self) -> Iterator[tuple[int, int]]:
        """Problem and index of every sample that was read."""
        for unit in self._order[: self._read]:
            for index in self._told[unit.place] if unit.sample is None else [unit.sample]:
                yield self._following.problems[unit.place], index

    def _note_decisions(self) -> None:
        for gate, decider in zip(self._following.gates, self._deciders, strict=True):
            if decider.is_decided:
                decision = gate.lines.above if decider.is_above else gate.lines.below
                self._decisions.setdefault(str(gate.gate), decision)

    def _is_complete(self, unit: ReadUnit) -> bool:
        told = self._told[unit.place]
        if unit.sample is not None:
            return unit.sample in told
        return len(told) == self._following.n or self._is_settled(unit.place)

    def _is_settled(self, place: int) -> bool:
        """Whether no sample that is left can change a figure of the problem."""
        if not self._following.stops_inside:
            return False
        return all(low == high for low, high in (self._problem_ends(place, name) for name in self._following.figures))

    def _ends(self, unit: ReadUnit, name: str) -> ValueEnds:
        if unit.sample is not None:
            return self._told[unit.place][unit.sample][name]
        return self._problem_ends(unit.place, name)

    def _problem_ends(self, place: int, name: str) -> ValueEnds:
        figure, told = self._following.figures[name], [ends[name] for ends in self._told[place].values()]
        unasked = self._following.n - len(told)
        if figure.by_count is None:
            low, high = fsum(low for low, _ in told), fsum(high for _, high in told) + unasked
            return low / self._following.n, high / self._following.n
        right = sum(low >= 1.0 for low, _ in told)
        return figure.ends(right, sum(low < high for low, high in told) + unasked)


def _decider(following: Following, followed: FollowedGate, order: Sequence[ReadUnit]) -> MeanDecider:
    figure = following.figures[followed.gate.metric]
    covariate = Covariate([followed.before[unit.place] for unit in order], followed.slope) if followed.before else None
    return MeanDecider(
        len(order),
        (followed.lines.lower, followed.lines.upper),
        followed.lines.errors,
        binary=figure.yes_or_no if following.by_samples else figure.zero_or_one,
        covariate=covariate,
    )
