"""Whether each answer rolls dice of its own: without a seed, with another one, and each choice of a request."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import sqrt
from typing import NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.diagnosis.probe import Needle, ProbeResult, text_of, unanswered
from model_accuracy_eval.diagnosis.sampling import OpenQuestion, spreads
from model_accuracy_eval.diagnosis.token_chances import REST, among, chances_of, likeliest_sampler, unlikely
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Fault, Request, ScoredReply, ScoredToken

_SURE = 0.0005
"""The p-value of a fault, of some five."""
_DRAWS = 40
_AGAIN = 5
_ALIKE = 0.9
"""The share of usual seeds that give their answer once more, from which on each has to."""


class _Row(NamedTuple):
    """Requests that must be drawn apart."""

    words: str
    first: int | None
    streamed: bool = True
    at_once: int = 4


_APART = (
    _Row("requests without a seed, in one piece and one at a time", None, streamed=False, at_once=1),
    _Row("requests without a seed, streamed and one at a time", None, at_once=1),
    _Row("requests without a seed, at the same time", None, at_once=8),
    _Row("seeds from 100", 100),
    _Row("seeds from 100 in one piece", 100, streamed=False),
    _Row("seeds from 2,147,483,648", 2**31),
    _Row("seeds from 4,294,967,296", 2**32),
)
_EDGES = (0, 1, 2**31 - 1, 2**31)
_FAR = (-1, 2**63 - 1)
"""Seeds that some services take for none on purpose."""


async def seeds(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """What has no seed or another one is drawn apart; what has the same one is drawn alike, if that is usual here."""
    open_ones = await spreads(subject, needles)
    if not open_ones:
        return ProbeResult("SKIP", "No question is known to have an open answer.")
    taken = 0
    for row in _APART:
        drawn = await _drawn(subject, open_ones[0], row)
        if not drawn.total():
            continue
        taken += row.first is not None
        if unlikely(drawn, open_ones[0].shown) <= _SURE:
            drawn = await _drawn(subject, open_ones[0], row, later=_DRAWS)  # chance does not do it twice
        if unlikely(drawn, open_ones[0].shown) <= _SURE:
            (text, most), *_ = drawn.most_common()
            return ProbeResult(
                "FAIL",
                f"{drawn.total()} {row.words}: {most} first tokens are {text!r}, where "
                f"{drawn.total() * open_ones[0].shown.get(text, 0.0):.0f} are to be expected.",
                "look for replies that are kept for the next equal request, and at how the server seeds its sampler: "
                "samples of a problem must not be copies",
            )
    if not taken:
        return ProbeResult("SKIP", "The service refuses seeds; requests without one are drawn apart.")
    request = replace(open_ones[0].request, max_tokens=8)
    first, second = [await _texts(subject, request, range(100, 120)) for _ in range(2)]
    alike = sum(one == two for one, two in zip(first, second, strict=True))
    usual = f"20 seeds gave {len(set(first))} answers; asked again, {alike} of 20 gave theirs once more"
    lost = [seed for seed in (*_EDGES, *_FAR) if await _is_lost(subject, request, seed)]
    if alike >= _ALIKE * len(first) and (edges := [seed for seed in lost if seed in _EDGES]):
        return ProbeResult(
            "FAIL",
            f"Asked {_AGAIN} times each, {_said(edges)} gave different answers; {usual}.",
            "look at how the server reads a seed: 0 is one, too, and so are the largest",
        )
    far = [seed for seed in lost if seed in _FAR] if alike >= _ALIKE * len(first) else []
    return ProbeResult("PASS", f"{usual}{f'; {_said(far)} counts as none' if far else ''}.")


async def _drawn(subject: Subject, one: OpenQuestion, row: _Row, later: int = 0) -> Counter[str]:
    """First tokens."""
    numbers = [None if row.first is None else row.first + later + number for number in range(_DRAWS)]
    extra = {} if row.streamed else {"logprobs": False}
    asked = [(replace(one.request, seed=seed, extra=extra), row.streamed) for seed in numbers]
    replies = await subject.answered(asked, row.at_once)
    return Counter(among(one.shown, reply.text) for reply in replies if not isinstance(reply, Fault))


async def _texts(subject: Subject, request: Request, numbers: Sequence[int]) -> list[str | None]:
    replies = await subject.ask([replace(request, seed=seed) for seed in numbers], at_once=4)
    return [None if reply.fault else text_of(reply) for reply in replies]


async def _is_lost(subject: Subject, request: Request, seed: int) -> bool:
    """Whether it gives different answers, and does so again."""
    return all([len({*await _texts(subject, request, [seed] * _AGAIN)}) > 1 for _ in range(2)])


def _said(numbers: Sequence[int]) -> str:
    return f"seed{'s' * (len(numbers) > 1)} {' and '.join(f'{number:,}' for number in numbers)}"


_CHOICES = 5
_REQUESTS = 60
_TOKENS = 4
_PLACES = ("the first token", "the second token", "a later token")
_OFF = 5.0
"""Standard deviations off that are a fault, in any of 30 sums."""


class AlikeChoices(NamedTuple):
    """How often two choices with the same beginning go on alike."""

    alike: float = 0.0
    expected: float = 0.0
    variance: float = 0.0
    pairs: int = 0

    @property
    def off(self) -> float:
        return (self.alike - self.expected) / sqrt(self.variance) if self.variance > 1 else 0.0


async def choices(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Each choice of a request is drawn like a single answer, and apart from the others, token after token."""
    open_ones = await spreads(subject, needles)
    if not open_ones:
        return ProbeResult("SKIP", "No question is known to have an open answer.")
    found = await _choices(subject, open_ones[0], 1000)
    # Chance does not do it twice.
    return found if found.state != "FAIL" else await _choices(subject, open_ones[0], 2000)


async def _choices(subject: Subject, one: OpenQuestion, first_seed: int) -> ProbeResult:
    asked = [
        replace(
            one.request, n=_CHOICES, max_tokens=_TOKENS, seed=first_seed + _CHOICES * number if number % 2 else None
        )
        for number in range(_REQUESTS)
    ]
    replies = [each for each in await subject.scored(asked, at_once=4) if not isinstance(each, Fault)]
    if silent := unanswered(len(replies), len(asked)):
        return silent
    given = [reply.choices for reply in replies if len(reply.choices) == _CHOICES]
    if len(given) < len(replies) / 2:
        return ProbeResult("SKIP", "The service gives fewer choices than a request asks for.")
    advice = "ask with --num-return-sequences 1, or one request a sample"
    worst = [(max(range(len(pairs)), key=lambda at: abs(pairs[at].off)), pairs) for pairs in _all_pairs(given)]
    for (two, other), (at, pairs) in zip(combinations(range(_CHOICES), 2), worst, strict=True):
        if abs(pairs[at].off) > _OFF:
            right = [_PLACES[place] for place, each in enumerate(pairs) if abs(each.off) <= _OFF and each.variance > 1]
            return ProbeResult(
                "FAIL",
                f"In choices {two + 1} and {other + 1} of a request, {_PLACES[at]} is the same in "
                f"{pairs[at].alike:.0f} of {pairs[at].pairs} where {pairs[at].expected:.0f} are to be expected"
                f"{'; ' + ' and '.join(right) + ' as often as expected' if right else ''}.",
                f"look at how the server gives each choice dice of its own; until then, {advice}",
            )
    told = one.shown
    for number in range(_CHOICES):
        drawn = Counter(among(told, each[number].tokens[0].text) for each in given if each[number].tokens)
        if unlikely(drawn, told) <= _SURE:
            actual = likeliest_sampler({one.text: drawn}, {one.text: one.chances})
            looks = f", but as with {actual}" if actual else ""
            return ProbeResult(
                "FAIL", f"Choice {number + 1} of a request is not drawn as a single answer is{looks}.", advice
            )
    first = worst[0][1][0]
    return ProbeResult(
        "PASS",
        f"The choices of {len(given)} requests are drawn apart: the first two begin alike in {first.alike:.0f}, and "
        f"{first.expected:.0f} are to be expected.",
    )


def _all_pairs(given: Sequence[Sequence[ScoredReply]]) -> list[list[AlikeChoices]]:
    """For any two choices, at each of the places."""
    return [
        [_pairs([(reply[one].tokens, reply[two].tokens) for reply in given], place) for place in range(len(_PLACES))]
        for one, two in combinations(range(_CHOICES), 2)
    ]


def _pairs(answers: Sequence[tuple[Sequence[ScoredToken], Sequence[ScoredToken]]], place: int) -> AlikeChoices:
    """At this place, or from it on if it is the last one that has a name."""
    total = AlikeChoices()
    for one, two in answers:
        for at, (first, second) in enumerate(zip(one, two, strict=False)):
            if at == place or at > place == len(_PLACES) - 1:
                chances = chances_of(first)
                expected = sum(chance**2 for text, chance in chances.items() if text != REST)
                alike = first.text == second.text and first.text in chances
                total = AlikeChoices(
                    total.alike + alike,
                    total.expected + expected,
                    total.variance + expected * (1 - expected),
                    total.pairs + 1,
                )
            if first.text != second.text:
                break
    return total
