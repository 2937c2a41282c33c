"""The lines of a journal by problem, as its sorted view has them."""

from collections.abc import Iterable, Iterator

import numpy

from model_accuracy_eval.records.disk_numbers import DiskNumbers
from model_accuracy_eval.reporting import journal

_MANY_LINES = 100_000
"""So many are sorted at once, and without NumPy, which takes as long to load."""


def places_by_problem(lines: Iterable[bytes]) -> Iterable[int]:
    """Where each line begins, by problem and then as they stand. Of many lines, few are in memory at a time."""
    problems, places, place = DiskNumbers("q"), DiskNumbers("q"), 0
    for source in lines:
        problems.append(journal.key(source)[0])
        places.append(place)
        place += len(source)
    if len(problems) <= _MANY_LINES:
        return (int(place) for _, place in sorted(zip(problems, places, strict=True)))
    return _of_many(problems, places)


def _of_many(problems: DiskNumbers, places: DiskNumbers) -> Iterator[int]:
    """Each pass takes the lines of some of the problems: as many as fit, where each has about as many lines."""
    first = min(int(numpy.frombuffer(block, dtype="int64").min()) for block in problems.blocks() if block)
    last = max(int(numpy.frombuffer(block, dtype="int64").max()) for block in problems.blocks() if block)
    step = max(1, (last - first + 1) * _MANY_LINES // len(problems))
    for start in range(first, last + 1, step):
        found = []
        for some, their_places in zip(problems.blocks(), places.blocks(), strict=True):
            numbers = numpy.frombuffer(some, dtype="int64")
            chosen = (numbers >= start) & (numbers < start + step)
            found.append(numpy.stack([numbers[chosen], numpy.frombuffer(their_places, dtype="int64")[chosen]]))
        those = numpy.concatenate(found, axis=1)
        yield from map(int, those[1][numpy.argsort(those[0], kind="stable")])
