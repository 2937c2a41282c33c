"""What a probe is made of: whom it asks, the questions whose answers are known, and what it finds.

No right answer is needed: a service is compared with itself. What it says to a question alone, one request after the
other, is what it has to say in any company, after any history and in any form.
"""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Fault, Message, Record, Reply, Request, ScoredToken

ProbeState = Literal["PASS", "FAIL", "SKIP"]


class ProbeResult(Record, frozen=True):
    """FAIL: a fault was seen, with what to try next. SKIP: it could not be looked at, which is no PASS."""

    state: ProbeState
    sentence: str
    next_step: str = ""


class Needle(NamedTuple):
    """A question, and the answer to it alone at temperature 0."""

    request: Request
    text: str
    tokens: tuple[ScoredToken, ...] = ()
    """Of the answer in one piece, where that was the same; empty: the service gives none."""
    is_strict: bool = False
    """Whether any other answer is a fault, also one that rounding explains."""

    def margin(self, other: str) -> float | None:
        """How far the likeliest token was ahead of the next one where another answer parts from this one, in nats.
        None: unknown. Near ties tip over by rounding alone; a token that was sure does not."""
        parts = next((at for at, (one, two) in enumerate(zip(self.text, other, strict=False)) if one != two), None)
        parts = min(len(self.text), len(other)) if parts is None else parts
        ends = accumulate(len(token.text) for token in self.tokens)
        token = next((token for token, end in zip(self.tokens, ends, strict=True) if end > parts), None)
        return (token or self.tokens[-1]).margin if self.tokens else None


class ChangedAnswers(NamedTuple):
    """Answers that were another one than before."""

    asked: int
    """Those that were answered."""
    changed: tuple[tuple[Needle, str], ...]

    @property
    def margins(self) -> list[float | None]:
        """Of the tokens at which the answers part."""
        return [needle.margin(text) for needle, text in self.changed]

    @property
    def is_fault(self) -> bool:
        """More than rounding: a sure token changed, or, of a service that shows no probabilities, a fifth of all."""
        if any(needle.is_strict for needle, _ in self.changed):
            return True
        known_margins = [margin for margin in self.margins if margin is not None]
        if known_margins:
            return max(known_margins) > SURE
        return len(self.changed) >= max(3, self.asked / 5)

    @property
    def shown(self) -> str:
        """Such as: 7 of 24 answers differ, such as '42' → '41' to '17+25='."""
        needle, other = max(zip(self.margins, self.changed, strict=True), key=lambda pair: pair[0] or 0.0)[1]
        example = f"{short(needle.text)} → {short(other)} to {short(needle.request.messages[-1].content)}"
        return f"{len(self.changed)} of {self.asked} answers differ, such as {example}"


def unanswered(answered: int, asked: int) -> ProbeResult | None:
    """Where most requests had no answer, nothing was looked at."""
    if 2 * answered >= asked:
        return None
    return ProbeResult("SKIP", f"Only {answered:,} of {asked:,} requests were answered.", "look at the server's log")


SURE = 1.0
"""Nats by which a token is ahead of all others, e times as likely: rounding moves log-probabilities by hundredths."""
FIRST_ROUNDS = 3
"""How often questions are asked to know which are answered alike."""
ENOUGH = 6
"""Needles below which a probe says that it lacks evidence."""


def changed_answers(needles: Sequence[Needle], replies: Iterable[Reply]) -> ChangedAnswers:
    """What of the answers to needles is another one now. A request without an answer says nothing here."""
    pairs = [(needle, text_of(reply)) for needle, reply in zip(needles, replies, strict=True) if reply.fault is None]
    return ChangedAnswers(len(pairs), tuple((needle, text) for needle, text in pairs if text != needle.text))


def text_of(reply: Reply) -> str:
    """All that was written in the first choice."""
    return "".join(choice.reasoning + choice.text for choice in reply.choices[:1])


def question(text: str, max_tokens: int = 24, **fields: object) -> Request:
    """At temperature 0, unless the fields say another one."""
    greedy = Request(messages=(Message(role="user", content=text),), temperature=0.0, max_tokens=max_tokens)
    return replace(greedy, **fields)


def short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:39]}…")


_SUMS = ((17, 25), (36, 47), (208, 391), (5, 8), (999, 1), (64, 64), (73, 19), (450, 550), (81, 90), (12, 345))
_PHRASES = ("{}+{}=", "{} + {} =", "Question: {}+{}. Answer:")
_WORDS = (
    "Count from one to ten in words.",
    "Name three colours.",
    "Write the alphabet.",
    "Repeat: red green blue red green blue",
    "1, 2, 4, 8, 16,",
    "Say hello in five languages.",
)
QUESTIONS = (*(phrase.format(*pair) for phrase in _PHRASES for pair in _SUMS), *_WORDS)


async def needles_of(subject: Subject, *, strict: bool = False) -> tuple[tuple[Needle, ...], ProbeResult]:
    """The questions that are answered alike each time. How many these are is a figure, and no fault, as long as it is
    near ties that tip over."""
    requests = [question(text) for text in QUESTIONS]
    rounds = [await subject.ask(requests) for _ in range(FIRST_ROUNDS)]
    answered = {
        request.messages: [text_of(reply) for reply in replies]
        for request, *replies in zip(requests, *rounds, strict=True)
        if all(reply.fault is None for reply in replies)
    }
    if not answered:
        fault = next((reply.fault for replies in rounds for reply in replies if reply.fault), None)
        return (), ProbeResult("SKIP", f"Nothing was answered: {fault.sentence if fault else 'no choices'}")
    scored = {needle.request.messages: needle for needle in await known(subject, requests)}
    needles, changed = [], []
    for request in requests:
        texts = answered.get(request.messages)
        if not texts:
            continue
        needle = scored.get(request.messages)
        if needle is None or needle.text not in texts:
            needle = Needle(request, texts[0])
        needle = needle._replace(is_strict=strict)
        others = [(needle, text) for text in texts if text != needle.text]
        needles += [] if others else [needle]
        changed += others
    found = ChangedAnswers(FIRST_ROUNDS * len(answered), tuple(changed))
    if found.is_fault:
        return tuple(needles), _by_themselves(found)
    alike = f"{len(needles)} of {len(answered)} questions are answered alike"
    return tuple(needles), ProbeResult("PASS", f"{alike} {FIRST_ROUNDS} times at temperature 0, one at a time.")


async def changing_anyway(subject: Subject, needles: Sequence[Needle]) -> ProbeResult | None:
    """Where answers change one at a time, right now, their neighbours are not the cause."""
    for _ in range(FIRST_ROUNDS):
        changed = changed_answers(needles, await subject.ask([needle.request for needle in needles]))
        if changed.is_fault:
            return _by_themselves(changed)
    return None


def _by_themselves(changed: ChangedAnswers) -> ProbeResult:
    return ProbeResult(
        "FAIL",
        f"Answers change by themselves at temperature 0, one at a time: {changed.shown}.",
        "serve without graphs and without the prefix cache, and diagnose again: memory that is not cleared, or a race",
    )


async def known(subject: Subject, requests: Sequence[Request]) -> tuple[Needle, ...]:
    """The answers in one piece, with what is known of their tokens."""
    scored = await subject.scored(requests)
    return tuple(
        Needle(request, each.text, each.tokens)
        for request, each in zip(requests, scored, strict=True)
        if not isinstance(each, Fault)
    )


class Probe(NamedTuple):
    """One row of the table of probes."""

    name: str
    about: str
    look: Callable[[Subject, Sequence[Needle]], Coroutine[None, None, ProbeResult]]
    behind: frozenset[str] = frozenset()
    """Probes whose faults would show here, too: where one of them failed, this one says nothing about its own."""
