"""What each problem gives to a figure, in little memory: most problems give the same as others do.

With 10 samples that are right or wrong there are eleven different cells, however many problems there are. Where values
are continuous, such as shares of a text, a cell is four numbers in arrays.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from math import copysign
from typing import NamedTuple, overload

from model_accuracy_eval.scoring.figures.intervals import Noise
from model_accuracy_eval.scoring.figures.lost_values import LostValue
from model_accuracy_eval.scoring.metrics.metric_table import SampleValue

MOST_DIFFERENT = 4_096
"""Cells that are told apart as a whole; from then on they are taken for continuous."""


class Cell(NamedTuple):
    """What one problem gives to a figure: a value, or the values of all runs."""

    value: SampleValue | None
    """None where nothing is known."""
    lost: SampleValue | None = None
    """The same with a `LostValue` for each value that depends on lost samples; None if none does."""
    chance: float | None = None
    """The expected value of guessing."""
    noise: tuple[Noise, Noise] | None = None
    """How the value varies from draw to draw: lost samples at their worst, and at their best; None: it is not known."""

    @property
    def lost_values(self) -> tuple[LostValue, ...]:
        if self.lost is None:
            return ()
        entries = self.lost if isinstance(self.lost, tuple) else (self.lost,)
        return tuple(value for value in entries if isinstance(value, LostValue))

    @property
    def is_silent(self) -> bool:
        """Whether no sample of the problem has a verdict."""
        if self.lost is None:
            return False
        entries = self.lost if isinstance(self.lost, tuple) else (self.lost,)
        return all(isinstance(value, LostValue) and value.alone for value in entries)


_Shape = tuple[bool, tuple[tuple[bool, int, int], ...] | None]
"""Of a cell of plain numbers, what is not in the arrays: whether there is a chance, and of each noise whether there is
a variance, and its whole numbers."""


class ProblemCells(Sequence[Cell]):
    """A list of cells, to which more can be added."""

    def __init__(self, cells: Iterable[Cell] = ()) -> None:
        self._codes = array("q")
        """Of each cell: a place in `_different`, or from -1 downwards a row of `_numbers`."""
        self._different: list[Cell] = []
        self._known: dict[Cell, int] = {}
        self._numbers = array("d")
        """Value, chance and both variances."""
        self._shapes: list[_Shape] = []
        self._shape_codes = array("q")
        for cell in cells:
            self.append(cell)

    def append(self, cell: Cell) -> None:
        code = self._known.get(cell) if _is_plain(cell) else None
        self._codes.append(self._new_code(cell) if code is None else code)

    def _new_code(self, cell: Cell) -> int:
        if _is_plain(cell):
            if len(self._known) >= MOST_DIFFERENT:
                return self._added_numbers(cell)
            self._known[cell] = len(self._different)
        self._different.append(cell)
        return len(self._different) - 1

    def _added_numbers(self, cell: Cell) -> int:
        shape = _shape(cell)
        if shape not in self._shapes:
            self._shapes.append(shape)
        self._shape_codes.append(self._shapes.index(shape))
        variances = [noise.variance or 0.0 for noise in cell.noise or ()] or [0.0, 0.0]
        assert isinstance(cell.value, float)
        self._numbers.extend((cell.value, cell.chance or 0.0, *variances))
        return -len(self._shape_codes)

    def put_last(self, cell: Cell) -> None:
        """In place of the last one."""
        self._codes.pop()
        self.append(cell)

    def __len__(self) -> int:
        return len(self._codes)

    def __iter__(self) -> Iterator[Cell]:
        different = self._different
        return (different[code] if code >= 0 else self._of_numbers(-code - 1) for code in self._codes)

    @overload
    def __getitem__(self, place: int) -> Cell: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Cell]: ...
    def __getitem__(self, place: int | slice) -> Cell | Sequence[Cell]:
        if isinstance(place, slice):
            return [self[at] for at in range(len(self))[place]]
        code = self._codes[place]
        return self._different[code] if code >= 0 else self._of_numbers(-code - 1)

    def _of_numbers(self, row: int) -> Cell:
        value, chance, *variances = self._numbers[4 * row : 4 * row + 4]
        has_chance, noises = self._shapes[self._shape_codes[row]]
        return Cell(
            value,
            chance=chance if has_chance else None,
            noise=_noises(noises, variances) if noises is not None else None,
        )


def _is_plain(cell: Cell) -> bool:
    """Whether equal cells are the same: 1 equals 1.0, and 0.0 equals -0.0."""
    value = cell.value
    return cell.lost is None and type(value) is float and (value != 0 or copysign(1.0, value) > 0)


def _shape(cell: Cell) -> _Shape:
    noises = cell.noise
    return (
        cell.chance is not None,
        None if noises is None else tuple((one.variance is not None, one.freedom, one.draws) for one in noises),
    )


def _noises(shapes: tuple[tuple[bool, int, int], ...], variances: Sequence[float]) -> tuple[Noise, Noise]:
    worst, best = (
        Noise(variance if known else None, freedom, draws)
        for (known, freedom, draws), variance in zip(shapes, variances, strict=True)
    )
    return worst, best
