"""Under which circumstances odd replies gather: cuts through each circumstance, and whether one is more than chance.

All that is known of a request follows from its line in the journal, so runs that are kept can be looked at, too. What
gathers somewhere may have its cause elsewhere: in a run, requests in flight, position and time go together.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
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


class RequestTime(NamedTuple):
    start: float
    end: float


def request_time(answer: AnswerLine) -> RequestTime | None:
    """Its line was written when the request ended."""
    if answer.at is None or answer.timings is None:
        return None
    return RequestTime(answer.at - answer.timings.e2e, answer.at)


def circumstances(answers: Iterable[AnswerLine], of_run: Iterable[AnswerLine]) -> dict[SampleName, Circumstances]:
    """Of a dataset's replies; `of_run`: all of the run, of its other datasets, too."""
    times: dict[str, RequestTime] = {}
    for answer in of_run:
        if answer.request and (time := request_time(answer)):
            known = times.get(answer.request, time)
            times[answer.request] = RequestTime(min(time.start, known.start), max(time.end, known.end))
    starts, ends = (sorted(each) for each in zip(*times.values(), strict=True)) if times else ([], [])
    found = {}
    for answer in answers:
        time, usage = times.get(answer.request), answer.usage or Usage()
        found[answer.id, answer.index] = Circumstances(
            in_flight=time and bisect_left(starts, time.start) - bisect_right(ends, time.start),
            position=time and bisect_left(starts, time.start) + 1,
            prompt_tokens=usage.prompt_tokens,
            cached_tokens=usage.cached_tokens,
            reply_tokens=usage.completion_tokens,
            seconds=time and time.start - starts[0],
            replica=answer.replica,
        )
    return found


class Circumstance(NamedTuple):
    """One row: which circumstance, and how a side of a cut is told."""

    name: str
    high: str
    low: str


CIRCUMSTANCES = (
    Circumstance("in_flight", "at ≥ {} other requests in flight", "at < {} other requests in flight"),
    Circumstance("cached_tokens", "with ≥ {} cached tokens of the prompt", "with < {} cached tokens of the prompt"),
    Circumstance("prompt_tokens", "with ≥ {} tokens of prompt", "with < {} tokens of prompt"),
    Circumstance("position", "from request {} on", "before request {}"),
    Circumstance("reply_tokens", "with ≥ {} tokens of reply", "with < {} tokens of reply"),
)
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
    for row in CIRCUMSTANCES:
        if row.name == LENGTH and not length:
            continue
        pairs = [(value, bad) for unit, bad in units if (value := getattr(unit, row.name)) is not None]
        best, tried = _best(sorted(pairs))
        cuts += tried
        if best:
            sides.append(_numeric(row, *best, known))
    replicas = {unit.replica for unit, _ in units} - {""}
    for name in replicas if len(replicas) > 1 else ():
        cuts += 1
        inside = [bad for unit, bad in units if unit.replica == name]
        p = at_least(sum(inside), len(inside), sum(bad for _, bad in units), len(units))
        sides.append(_Cut(p, f"from the replica {name}", partial(_is_from, name)))
    return sides, cuts


def _is_from(replica: str, of: Circumstances) -> bool:
    return of.replica == replica


def _numeric(
    row: Circumstance, p: float, line: float, is_high: bool, known: Mapping[SampleName, Circumstances]
) -> _Cut:
    words = (row.high if is_high else row.low).format(f"{line:,.0f}")
    if row.name == "position":
        later = (of.seconds for of in known.values() if of.position is not None and of.position >= line)
        after = min((seconds for seconds in later if seconds is not None), default=0)
        words += f" ({after:,.0f} s after the first)"
    return _Cut(p, words, lambda of: (value := getattr(of, row.name)) is not None and (value >= line) is is_high)


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
    everything = _choices(total, odd)
    last = min(odd, inside)
    first = max(found, odd - (total - inside))
    return min(1.0, sum(exp(_choices(inside, n) + _choices(total - inside, odd - n) - everything)
                        for n in range(first, last + 1)))  # fmt: skip


def _choices(of: int, some: int) -> float:
    """The logarithm of the number of ways to choose."""
    return lgamma(of + 1) - lgamma(some + 1) - lgamma(of - some + 1)
