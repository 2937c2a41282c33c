"""Which problems of a dataset are drawn, if not all are asked: the first N of one order of them all.

So the sample of 100 is part of the sample of 500. In every sample each part of the dataset (subject, language, level)
has its share of N, rounded down or up; by largest remainder alone, a larger sample could lose a problem of a smaller
one. Which problems of a part come first is decided by hashes of their numbers in it: the same for the same dataset,
on every machine and in every release.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

import numpy

from model_accuracy_eval.records import Draw
from model_accuracy_eval.scoring.figures.groups import connected


class Described(NamedTuple):
    """What a problem's being drawn depends on."""

    part: str
    groups: Sequence[Hashable] = ()
    """Names of groups of rows that count only as a whole."""


def chosen(
    places: Sequence[int], described: Callable[[int], Described], limit: int | None, first: int | None, *, by: str
) -> tuple[Sequence[int], Draw | None]:
    """Those of the places that are asked, in their order; None if these are all. `by`: the name of their parts."""
    if first is not None and first < len(places):
        return places[:first], Draw(asked=first, of=len(places))
    if limit is None or limit >= len(places):
        return places, None
    known = [described(place) for place in places]
    parts, groups = [each.part for each in known], [each.groups for each in known]
    sizes, together = Counter(parts), any(groups)
    found = drawn(parts, limit, together=groups if together else ())
    name = by.replace("_", " ") if len(sizes) > 1 else ""
    draw = Draw(asked=limit, of=len(places), by=name, parts=dict(sizes), whole_groups=together)
    return [places[at] for at in sorted(found)], draw


def drawn(
    parts: Sequence[str], count: int, *, together: Sequence[Sequence[Hashable]] = (), seed: str = ""
) -> list[int]:
    """The places of the first `count` problems of the order.

    `parts`: of every problem. `together`: of every problem, the names of groups that count only as a whole: problems of
    one group follow each other. `seed`: another one gives another order.
    """
    units: Sequence[Sequence[int]] = connected(together) if together else [(place,) for place in range(len(parts))]
    members: dict[str, list[Sequence[int]]] = {}
    for unit in units:
        members.setdefault(parts[unit[0]], []).append(unit)
    queues = {part: iter(_mixed(own, f"{seed}\n{part}")) for part, own in members.items()}
    phases = [_uniform(f"{seed}\n{part}\nphase") for part in members]
    names, places = list(members), list[int]()
    for turn in _turns([len(own) for own in members.values()], phases):
        if len(places) >= count:
            break
        places += next(queues[names[turn]])
    return places[:count]


def _turns(sizes: Sequence[int], phases: Sequence[float]) -> Iterator[int]:
    """Which part each problem of the order is of.

    Of the first t problems, a part with the share s has given s·t, rounded down or up: so each problem of a part is
    free from one turn on and due by another. Of those that are free, the one comes whose place in its part, moved by a
    random phase, is the earliest; so every problem is about as likely to be drawn as every other one. But where as many
    are due by a turn as there are turns until then, these come first, else one of them would be late.
    """
    if len(sizes) == 1:
        yield from [0] * sizes[0]
        return
    size, whole = numpy.array(sizes), sum(sizes)
    due = numpy.concatenate([-(-numpy.arange(1, each + 1) * whole // each) for each in sizes])
    # Before each turn: the turns until then, without those that problems which are due by then need.
    spare = numpy.arange(whole + 1) - numpy.cumsum(numpy.bincount(due, minlength=whole + 1))
    given, phase = numpy.zeros(len(sizes), dtype=int), numpy.array(phases)
    for turn in range(1, whole + 1):
        latest = turn + int(numpy.argmax(spare[turn:] == 0))
        until = -(-(given + 1) * whole // size)
        may_come = (given * whole < turn * size) & (until <= latest)
        chosen = int(numpy.argmin(numpy.where(may_come, (given + phase) / size, numpy.inf)))
        spare[turn : until[chosen]] -= 1
        given[chosen] += 1
        yield chosen


def _mixed(units: Sequence[Sequence[int]], seed: str) -> list[Sequence[int]]:
    ordered = sorted(range(len(units)), key=lambda number: sha256(f"{seed}\n{number}".encode()).digest())
    return [units[number] for number in ordered]


def _uniform(seed: str) -> float:
    return int.from_bytes(sha256(seed.encode()).digest()[:6], "big") / 2**48
