"""Answers that come alike each time, greedy ones and ones drawn with a seed; and what is wrong with another answer to
the same request: in another form, beside others, or after them.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.diagnosis.gathering import at_least
from model_accuracy_eval.diagnosis.probe import SURE, Needle, short, text_of
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Fault, Request, ScoredReply

_HOT = (3.0, 2.0)
"""Temperatures at which texts are long and of many characters; not every service takes the first."""
_SEEDS = 3
_LONG = 64
"""Tokens of such a text."""
_OFF = 0.5
"""Nats by which the log-probability of a token may differ: rounding and other kernels cause some hundredths."""
_LEAST = -8.0
"""Below it, rounding moves log-probabilities by more."""
_CHANCE = 0.002
"""How often so many more texts change by chance than without a cause."""


class Complaint(NamedTuple):
    """What is wrong with an answer."""

    rule: str
    says: str
    is_sure: bool = True
    """False: a drawn text, which rounding changes now and then."""


class Known(NamedTuple):
    """A request, and its answer alone and in one piece."""

    request: Request
    reply: ScoredReply

    @property
    def text(self) -> str:
        return self.request.messages[-1].content

    @property
    def is_greedy(self) -> bool:
        return self.request.temperature == 0

    @property
    def tokens(self) -> int | None:
        """Of all choices."""
        told = [len(choice.tokens) for choice in self.reply.choices]
        return sum(told) if all(told) else self.reply.usage.completion_tokens if self.reply.usage else None

    def complaint(self, reply: ScoredReply, stops: Sequence[str] = (), cap: int | None = None) -> Complaint | None:
        """What is wrong with the answer to the same request, which may also have stop strings or a lower cap."""
        if len(reply.choices) != len(self.reply.choices):
            says = f"{len(reply.choices)} choices come of {len(self.reply.choices)}"
            return Complaint("choices", says)
        for number, (then, now) in enumerate(zip(self.reply.choices, reply.choices, strict=True)):
            expected = _ended(then, stops, cap)
            if found := self._of_choice(expected, now):
                return found._replace(says=f"{found.says} (choice {number + 1})") if number else found
            if expected.text != now.text:
                return None  # a near tie tipped over, and what comes behind it is another answer
        return self._of_usage(reply, stops, cap)

    def _of_choice(self, then: ScoredReply, now: ScoredReply) -> Complaint | None:
        text, said = then.text, now.text
        margin = Needle(self.request, text, then.tokens).margin(said) if self.is_greedy and text != said else None
        if margin is not None and margin <= SURE:
            return self._of_tokens(then, now)
        if text != said:
            if text.startswith(said) and now.finish_reason == "stop":
                return Complaint("early end", f"it ends as if complete at {short(said)} of {short(text)}")
            return Complaint("text", f"the text is {short(said)} instead of {short(text)}", margin is not None)
        if None not in (then.finish_reason, now.finish_reason) and then.finish_reason != now.finish_reason:
            return Complaint("finish", f"finish_reason is '{now.finish_reason}' instead of '{then.finish_reason}'")
        return self._of_tokens(then, now)

    def _of_tokens(self, then: ScoredReply, now: ScoredReply) -> Complaint | None:
        for one, two in zip(then.tokens, now.tokens, strict=False):
            told = [logprob for text, logprob in ((two.text, two.logprob), *two.likeliest) if text == one.text]
            now_told = min(told, key=lambda logprob: abs(one.logprob - logprob), default=one.logprob)
            if one.logprob > _LEAST and abs(one.logprob - now_told) > _OFF:
                says = f"the log-probability of {one.text!r} is {now_told:.2f} instead of {one.logprob:.2f}"
                return Complaint("log-probabilities", says)
            if one.text != two.text:
                break  # a near tie tipped over, and behind it both answer another prompt
        least = min((token.margin or 0.0 for token in now.tokens), default=0.0)
        if self.is_greedy and least < -_OFF:
            says = f"a token is taken at temperature 0 that is {-least:.2f} nats less likely than another one"
            return Complaint("greed", says)
        return None

    def _of_usage(self, reply: ScoredReply, stops: Sequence[str], cap: int | None) -> Complaint | None:
        now, then = reply.usage, self.reply.usage
        if now is None or then is None:
            return None
        if now.prompt_tokens != then.prompt_tokens:
            return Complaint("usage", f"usage.prompt_tokens is {now.prompt_tokens} instead of {then.prompt_tokens}")
        if stops or cap is not None:
            told = [len(choice.tokens) for choice in reply.choices]
            tokens = sum(told) if cap is not None and all(told) else None
        else:
            tokens = self.tokens
        if None not in (tokens, now.completion_tokens) and tokens != now.completion_tokens:
            return Complaint("usage", f"usage counts {now.completion_tokens} tokens of an answer of {tokens}")
        return None


def _ended(reply: ScoredReply, stops: Sequence[str], cap: int | None) -> ScoredReply:
    """The choice as it has to be with these stop strings, or this cap."""
    found = [at for at in map(reply.text.find, stops) if at >= 0]
    if found:
        return replace(reply, text=reply.text[: min(found)], finish_reason="stop", tokens=())
    if cap is None or len(reply.tokens) <= cap:
        # With exactly as many, it depends on the end being a token whether it is told as an end.
        return replace(reply, finish_reason=None) if cap is not None and len(reply.tokens) == cap else reply
    shown = sum(len(token.text) for token in reply.tokens[:cap])  # at the end may be a token that shows no text
    return replace(reply, text=reply.text[:shown], finish_reason="length", tokens=reply.tokens[:cap])


async def known_answers(subject: Subject, requests: Sequence[Request]) -> list[Known]:
    """Those that are answered alike twice. Half characters are left out: each form may show them in its own way."""
    once, again = await subject.scored(requests), await subject.scored(requests)
    return [
        Known(request, one)
        for request, one, two in zip(requests, once, again, strict=True)
        if not isinstance(one, Fault) and not isinstance(two, Fault)
        if [each.text for each in one.choices] == [each.text for each in two.choices]
        if not any("\ufffd" in each.text for each in one.choices)
    ]


async def hot_requests(subject: Subject, needles: Sequence[Needle], count: int) -> list[Request]:
    """Those with seeds whose texts are of the most different characters, blanks among them, and long."""
    for temperature in _HOT:
        asked = [
            replace(needle.request, temperature=temperature, max_tokens=_LONG, seed=seed * len(needles) + number)
            for number, needle in enumerate(needles)
            for seed in range(1, 1 + _SEEDS)
        ]
        replies = await subject.ask(asked, at_once=4)
        given = [(_variety(text_of(reply)), at) for at, reply in enumerate(replies) if reply.fault is None]
        if given:
            return [asked[at] for _, at in sorted(given, reverse=True)[:count]]
    return []


def _variety(text: str) -> tuple[bool, int, int]:
    return any(map(str.isspace, text.strip())), len(set(text)), len(text)


class Judged(NamedTuple):
    """Answers to known requests under one circumstance."""

    asked: int
    complaints: tuple[tuple[Known, Complaint], ...]

    def exceeds(self, usual: "Judged") -> bool:
        """Whether more is wrong than rounding explains, which changes drawn texts as often in the usual case."""
        if any(complaint.is_sure for _, complaint in self.complaints):
            return True
        mine, others = len(self.complaints), len(usual.complaints)
        return mine > 0 and at_least(mine, self.asked, mine + others, self.asked + usual.asked) <= _CHANCE

    @property
    def shown(self) -> str:
        """Such as: 4 of 36 answers are wrong: the text is '4' instead of '42' ('17+25=')."""
        known, complaint = max(self.complaints, key=lambda each: (each[1].is_sure, each[1].rule == "text"))
        return f"{len(self.complaints)} of {self.asked} answers are wrong: {complaint.says} ({short(known.text)})"


def judged(knowns: Sequence[Known], replies: Iterable[ScoredReply | Fault]) -> Judged:
    pairs = [(known, reply) for known, reply in zip(knowns, replies, strict=True) if not isinstance(reply, Fault)]
    found = [(known, complaint) for known, reply in pairs if (complaint := known.complaint(reply))]
    return Judged(len(pairs), tuple(found))
