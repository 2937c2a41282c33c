"""Under which circumstances odd replies gather: cuts through each circumstance, and whether one is more than chance.

All that is known of a request follows from its line in the journal, so runs that are kept can be looked at, too. What
gathers somewhere may have its cause elsewhere: in a run, requests in flight, position and time go together.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from math import exp, lgamma
from typing import NamedTuple

from model_accuracy_eval.records import Usage
from model_accuracy_eval.run_folder.journal import AnswerLine

SampleName = tuple[int, int]
"""Problem and index."""


class Circumstances(NamedTuple):
    """Of one reply; None: unknown."""

    in_flight: float | None = None
    """Other requests of the run that the service was at work on when this one came."""
    position: float | None = None
    """The request's place in the run, from 1."""
    prompt_tokens: float | None = None
    cached_tokens: float | None = None
    reply_tokens: float | None = None
    seconds: float | None = None
    """Since the run's first request; it is told with the position, whose order it shares."""
    replica: str = ""


def circumstances(answers: Iterable[AnswerLine], of_run: Iterable[AnswerLine]) -> dict[SampleName, Circumstances]:
    """Of a dataset's replies; `of_run`: all of the run, of its other datasets, too."""
    times: dict[str, tuple[float, float]] = {}
    for answer in of_run:
        if answer.request and answer.at is not None and answer.timings is not None:
            # A line is written when its request has ended.
            first, last = times.get(answer.request, (answer.at, answer.at))
            times[answer.request] = min(first, answer.at - answer.timings.e2e), max(last, answer.at)
    starts, ends = (sorted(each) for each in zip(*times.values(), strict=True)) if times else ([], [])
    found = {}
    for answer in answers:
        usage, start = answer.usage or Usage(), times[answer.request][0] if answer.request in times else None
        found[answer.id, answer.index] = Circumstances(
            in_flight=None if start is None else bisect_left(starts, start) - bisect_right(ends, start),
            position=None if start is None else bisect_left(starts, start) + 1,
            prompt_tokens=usage.prompt_tokens,
            cached_tokens=usage.cached_tokens,
            reply_tokens=usage.completion_tokens,
            seconds=None if start is None else start - starts[0],
            replica=answer.replica,
        )
    return found


CIRCUMSTANCES = {
    "in_flight": "at {} other requests in flight",
    "cached_tokens": "with {} cached tokens of the prompt",
    "prompt_tokens": "with {} tokens of prompt",
    "position": "at place {} of the run",
    "reply_tokens": "with {} tokens of reply",
}
"""How a side of a cut is told."""
LENGTH = "reply_tokens"
_CUTS = 128
"""Of one circumstance, at most."""
_SURE = 0.01
"""How often one of all cuts may be told although nothing gathers."""
_TOLD = 2


class _Cut(NamedTuple):
    """One side of a cut."""

    p: float
    words: str
    members: Callable[[Circumstances], bool]


def where(
    odd: Collection[SampleName], known: Mapping[SampleName, Circumstances], *, kinds: int = 1, length: bool = True
) -> str:
    """A sentence on where these replies gather; empty if that may be chance. `kinds`: how many sets are looked at.
    `length`: whether the number of tokens says something, because the replies are not odd by their length."""
    if not 2 < len(odd) < len(known):
        return ""
    sides, cuts = _sides(_one_of_each_problem(odd, known), known, length=length)
    told = [side for side in sides if side.p * cuts * kinds <= _SURE]
    clauses = []
    for side in sorted(told, key=lambda each: each.p)[:_TOLD]:
        inside = sum(side.members(known[name]) for name in odd)
        others = sum(map(side.members, known.values()))
        clauses.append(f"{inside:,} of {len(odd):,} {side.words}, where {others:,} of all {len(known):,} replies are")
    if not clauses:
        return ""
    chance = min(1.0, min(side.p for side in told) * cuts * kinds)
    return f"They gather: {'; '.join(clauses)} (p = {chance:.1g}, corrected for {cuts * kinds:,} cuts)."


def _one_of_each_problem(
    odd: Collection[SampleName], known: Mapping[SampleName, Circumstances]
) -> list[tuple[Circumstances, bool]]:
    """Samples of a problem go wrong together, so each problem counts once: by an odd sample, if it has one."""
    problems: dict[int, list[SampleName]] = {}
    for name in known:
        problems.setdefault(name[0], []).append(name)
    chosen = []
    for number, names in problems.items():
        bad = [name for name in names if name in odd]
        several = bad or names
        chosen.append((known[several[number % len(several)]], bool(bad)))
    return chosen


def _sides(
    units: Sequence[tuple[Circumstances, bool]], known: Mapping[SampleName, Circumstances], *, length: bool
) -> tuple[list[_Cut], int]:
    """The best side of each circumstance with its p-value, and how many were tried."""
    sides, cuts = [], 0
    for name in CIRCUMSTANCES:
        if name == LENGTH and not length:
            continue
        pairs = [(value, bad) for unit, bad in units if (value := getattr(unit, name)) is not None]
        best, tried = _best(sorted(pairs))
        cuts += tried
        if best:
            sides.append(_numeric(name, *best, known))
    replicas = {unit.replica for unit, _ in units} - {""}
    for name in replicas if len(replicas) > 1 else ():
        cuts += 1
        inside = [bad for unit, bad in units if unit.replica == name]
        p = at_least(sum(inside), len(inside), sum(bad for _, bad in units), len(units))
        sides.append(_of_replica(name, p))
    return sides, cuts


def _of_replica(name: str, p: float) -> _Cut:
    return _Cut(p, f"from the replica {name}", lambda of: of.replica == name)


def _numeric(name: str, p: float, line: float, is_high: bool, known: Mapping[SampleName, Circumstances]) -> _Cut:
    words = CIRCUMSTANCES[name].format(f"{'≥' if is_high else '<'} {line:,.0f}")
    if name == "position":
        after = min(of.seconds or 0 for of in known.values() if of.position is not None and of.position >= line)
        words += f" ({after:,.0f} s after the first request)"
    return _Cut(p, words, lambda of: (value := getattr(of, name)) is not None and (value >= line) is is_high)


def _best(pairs: Sequence[tuple[float, bool]]) -> tuple[tuple[float, float, bool] | None, int]:
    """(p, line, whether at or above it) of the sharpest cut through sorted values, and how many there are."""
    values = [value for value, _ in pairs]
    lines = sorted(set(values))[1:]
    if len(lines) > _CUTS:
        lines = sorted({values[len(values) * step // _CUTS] for step in range(1, _CUTS)} - {values[0]})
    below = [0, *accumulate(bad for _, bad in pairs)]
    total, odd = len(pairs), below[-1]
    best: tuple[float, float, bool] | None = None
    sharpest = 0.0
    for line in lines:
        place = bisect_left(values, line)
        # How far the number of odd ones is from what its share would be, in standard deviations.
        off = below[place] - odd * place / total
        sharp = off * off / (place * (total - place))
        if sharp > sharpest:
            is_high = off < 0
            found, of = (odd - below[place], total - place) if is_high else (below[place], place)
            sharpest, best = sharp, (at_least(found, of, odd, total), line, is_high)
    return best, 2 * len(lines)


def at_least(found: int, inside: int, odd: int, total: int) -> float:
    """Fisher's exact test, one-sided: the chance that of `inside` out of `total`, drawn without regard to the `odd`
    ones, at least `found` are odd."""
    numbers = range(max(found, odd - (total - inside)), min(odd, inside) + 1)
    ways = (_choices(inside, n) + _choices(total - inside, odd - n) - _choices(total, odd) for n in numbers)
    return min(1.0, sum(map(exp, ways)))


def _choices(of: int, some: int) -> float:
    """The logarithm of the number of ways to choose."""
    return lgamma(of + 1) - lgamma(some + 1) - lgamma(of - some + 1)
