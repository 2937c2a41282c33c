"""A service beside a trusted one: the prompts as both count them, and the chances of every token up to where they part.

What a service does wrong in all that it says, such as a layer that is left out, shows in no comparison with itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from math import ceil, exp, log
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.diagnosis.probe import QUESTIONS, SURE, ProbeResult, question, short
from model_accuracy_eval.diagnosis.token_chances import shown
from model_accuracy_eval.errors import BadData, BadValue, UnknownName
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Fault, Gate, Record, ScoredReply, ScoredToken
from model_accuracy_eval.scoring.verdicts import gate_lines
from model_accuracy_eval.scoring.verdicts.gates import holds

_MEAN = 0.01
"""Nats of Kullback-Leibler divergence for the mean token: other kernels and half precision cause some thousandths."""
FIGURES = ("kl.mean", "kl.p99", "kl.max", "top1")
"""Of Kullback-Leibler divergences in nats, and the per cent of likeliest tokens that are the same: what gates name."""
_, P99, _, TOP = FIGURES
_GATED = "reference"
_AGAIN = (1, 4, 16)
"""Requests in flight, each time that a trusted service is asked again: other batches take other kernels."""
_FACTOR = 3
"""Times its own distance that another service may be away: that has other kernels, and as much noise of its own."""
_FINEST = 0.001
"""Nats that no gate needs to tell apart."""
_LEAST = 1e-9
"""Nats are counted of no smaller chance."""
_IDS = {"return_token_ids": True}
"""vLLM tells them; other servers pass the field over, or refuse it."""


class Trace(Record, frozen=True, kw_only=True):
    """What a trusted service answered."""

    schema: int = 1
    model: str
    answers: dict[str, ScoredReply]
    """Question → answer."""
    own: dict[str, float] = msgspec.field(default_factory=dict)
    """The worst figures of the same service asked again, by their names in gates; empty: it was not."""


async def record(subject: Subject, model: str, at_once: int = 4) -> Trace:
    scored = await subject.scored([question(text, extra=_IDS) for text in QUESTIONS], at_once)
    if all(isinstance(each, Fault) for each in scored):
        scored = await subject.scored([question(text) for text in QUESTIONS], at_once)
    pairs = zip(QUESTIONS, scored, strict=True)
    answers = {text: each for text, each in pairs if not isinstance(each, Fault) and each.tokens}
    if not answers:
        raise BadData("The service gives no log-probabilities, so there is nothing to record.")
    return Trace(model=model, answers=answers)


async def calibrated(subject: Subject, model: str) -> Trace:
    """What it answers, and how far it is from that when it is asked again, in batches of other sizes."""
    first = await record(subject, model)
    again = [(await _distance(subject, first, at_once)).named for at_once in _AGAIN]
    return replace(first, own={name: (min if name == TOP else max)(each[name] for each in again) for name in again[0]})


async def _distance(subject: Subject, then: Trace, at_once: int = 4) -> "TraceDifference":
    """Of what the service says now, and where it shows how it reads a text, of all that was said then."""
    now = await record(subject, then.model, at_once)
    asked = [(question(text), answer) for text, answer in then.answers.items() if text in now.answers]
    first = await subject.forced(asked[:1])
    is_offered = not any(isinstance(each, Fault) for each in first)
    rest = await subject.forced(asked[1:], at_once) if is_offered else []
    read: dict[str, Sequence[ScoredToken]] = {}
    for (request, answer), tokens in zip(asked, [*first, *rest], strict=False):
        text = request.messages[-1].content
        if not isinstance(tokens, Fault) and _texts(tokens) == _texts(answer.tokens)[: len(tokens)]:
            said = now.answers[text].tokens
            # The end of an answer is a token without a text, which cannot be sent: it is as it was written.
            ended = said[len(tokens) :] if _texts(said) == _texts(answer.tokens) else ()
            read |= {text: (*tokens, *ended)} if tokens or ended else {}
    return difference(then, now, read)


def _texts(tokens: Sequence[ScoredToken]) -> list[str]:
    return [_named(token.text) for token in tokens]


def _named(text: str) -> str:
    """A token that ends an answer, or marks a place in it, has a text on some servers, and none on others."""
    return "" if text.strip() and not shown(text) else text


def advised(trace: Trace) -> str:
    """What is told of a trace that was just made: its own noise, and a gate above it."""
    p99 = max(_FACTOR * trace.own[P99], _FINEST)
    return (
        f"Asked {len(_AGAIN)} times again it differs from itself by {_shown(trace.own)}.\n"
        f"Next: diagnose yours with --reference and --gate '{P99} <= {p99:.2g}'."
    )


def _shown(figures: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in figures.items())


def gates_of(lines: Iterable[str]) -> tuple[Gate, ...]:
    """Gates on the distance to a reference, such as `kl.p99 <= 0.05`."""
    found = gate_lines.parse("\n".join(f"{_GATED}: {line}" for line in lines))
    for gate in found:
        if gate.metric not in FIGURES:
            raise UnknownName("figure", gate.metric, FIGURES, where=f" in the gate '{gate.metric}'")
        if gate.from_baseline or (gate.percent and gate.metric != TOP):
            raise BadValue(f"A gate on {gate.metric} takes a number, such as '{gate.metric} {gate.comparison} 0.05'.")
    return found


def read(data: bytes, name: str) -> Trace:
    try:
        return msgspec.json.decode(data, type=Trace)
    except msgspec.DecodeError as error:
        raise BadData(f"{name} is no trace of `diagnose --record`: {error}.") from error


class TraceDifference(NamedTuple):
    """Of two services that were asked the same."""

    prompt: str = ""
    """A question whose prompts have unlike lengths, with these; empty: none has."""
    divergences: tuple[float, ...] = ()
    """Kullback-Leibler, of every token up to the first that is another one, and of all that were read."""
    same: int = 0
    flips: int = 0
    """Tokens that were sure and are others."""
    answers: int = 0
    read: int = 0
    """Answers of the one that the other has read to their ends."""

    @property
    def is_fault(self) -> bool:
        return bool(self.prompt or self.flips or self.mean > _MEAN)

    @property
    def mean(self) -> float:
        return sum(self.divergences) / len(self.divergences) if self.divergences else 0.0

    @property
    def named(self) -> dict[str, float]:
        """By their names in gates."""
        ordered, count = sorted(self.divergences) or [0.0], len(self.divergences)
        values = (self.mean, ordered[ceil(0.99 * len(ordered)) - 1], ordered[-1], 100 * self.same / max(count, 1))
        return dict(zip(FIGURES, values, strict=True))

    @property
    def figures(self) -> str:
        if self.prompt:
            return f"{self.prompt} there"
        mean, p99, most, _ = self.named.values()
        return (
            f"KL mean {mean:.2g}, p99 {p99:.2g}, max {most:.2g} nats; {self.same} of {len(self.divergences)} likeliest "
            f"tokens are the same, {self.flips} that were sure are others ({self._extent})"
        )

    @property
    def _extent(self) -> str:
        if not self.read:
            return "up to where answers part"
        others = ", the others up to where they part" if self.read < self.answers else ""
        return f"{self.read} of {self.answers} answers read to their ends{others}"


def difference(then: Trace, now: Trace, read: Mapping[str, Sequence[ScoredToken]] | None = None) -> TraceDifference:
    """`read`: question → the answer of then as it is read now."""
    read = read or {}
    pairs = [(text, was, now.answers[text]) for text, was in then.answers.items() if text in now.answers]
    for text, was, is_ in pairs:
        lengths = _prompt(was), _prompt(is_)
        if None not in lengths and lengths[0] != lengths[1]:
            return TraceDifference(f"the prompt of {short(text)} has {lengths[1]} tokens, and {lengths[0]}")
    divergences, flips, same = [], 0, 0
    for text, was, is_ in pairs:
        for one, two in zip(was.tokens, read.get(text, is_.tokens), strict=False):
            divergences.append(_divergence(one, two))
            if _named(one.text) == _named(two.text) and (two.margin or 0.0) >= 0:
                same += 1
                continue
            flips += (one.margin or 0.0) > SURE
            if text not in read:
                break  # behind it, both answer another prompt
    return TraceDifference("", tuple(divergences), same, flips, len(pairs), len(read))


async def beside(subject: Subject, trace: Trace, gates: Sequence[Gate] = ()) -> ProbeResult:
    """Compares the answers with those of the trace. `gates`: what decides in place of the usual bounds."""
    try:
        found = await _distance(subject, trace)
    except BadData:
        return ProbeResult("SKIP", "The service gives no log-probabilities, so it cannot be held beside the reference.")
    if not found.prompt and not found.divergences:
        return ProbeResult("SKIP", "The service answers none of the questions of the reference.")
    own = f"; the reference differs from itself by {_shown(trace.own)}" if trace.own else ""
    missed = [gate for gate in gates if not holds(gate, found.named[gate.metric])]
    if not found.prompt and not (missed if gates else found.is_fault):
        return ProbeResult("PASS", f"As the reference ({trace.model}): {found.figures}{own}.")
    if found.prompt:
        return ProbeResult(
            "FAIL",
            f"{found.prompt[0].upper()}{found.prompt[1:]} at the reference.",
            "compare the chat template, the beginning token and the tokenizer files of both",
        )
    return ProbeResult(
        "FAIL",
        f"Not the reference ({trace.model}){_missed(missed, found)}: {found.figures}{own}.",
        "compare weights, quantization and dtype first, then the attention and rope kernels, layer by layer",
    )


def _missed(gates: Sequence[Gate], found: TraceDifference) -> str:
    lines = (
        f"{gate.metric} is {found.named[gate.metric]:.3g}, and not {gate.comparison} {gate.threshold:g}"
        for gate in gates
    )
    return f", {', '.join(lines)}" if gates else ""


def alike(traces: Mapping[str, Trace]) -> ProbeResult:
    """Whether replicas, by their names, give the same answers the same chances; of three or more, which does not."""
    differences = {(one, two): difference(traces[one], traces[two]) for one, two in permutations(traces, 2)}
    groups = {one: [two for two in traces if two == one or not differences[one, two].is_fault] for one in traces}
    largest = max(groups.values(), key=len)
    others = [name for name in traces if name not in largest]
    if not others:
        worst = max(differences.values(), key=lambda each: each.mean)
        return ProbeResult("PASS", f"{len(traces)} replicas answer alike: {worst.figures}.")
    if len(largest) <= len(traces) / 2:
        one, two = next(pair for pair, each in differences.items() if each.is_fault)
        sentence = f"Replicas differ, and which one is at fault is not known: {two} beside {one}, "
        return ProbeResult("FAIL", f"{sentence}{differences[one, two].figures}.", "hold each beside a reference")
    found = differences[largest[0], others[0]].figures
    return ProbeResult(
        "FAIL",
        f"{', '.join(others)} {'answers' if len(others) == 1 else 'answer'} otherwise than the {len(largest)} others, "
        f"which agree: {found}.",
        "diagnose that replica",
    )


def _prompt(reply: ScoredReply) -> int | None:
    return reply.usage.prompt_tokens if reply.usage else None


def _divergence(then: ScoredToken, now: ScoredToken) -> float:
    """Kullback-Leibler, of the tokens that the reference lists, and of all others together."""
    p, q = _chances(then.likeliest), _chances(now.likeliest)
    # What is not listed is at most as likely as what is, and shares what that leaves.
    missing = p.keys() - q.keys()
    each = min(min(q.values(), default=1.0), max(0.0, 1 - sum(q.values())) / max(1, len(missing)))
    q |= dict.fromkeys(missing, each)
    listed = sum(chance * log(chance / max(q[text], _LEAST)) for text, chance in p.items() if chance > 0)
    rest, other = 1 - sum(p.values()), 1 - sum(q[text] for text in p)
    return max(0.0, listed + (rest * log(rest / max(other, _LEAST)) if rest > _LEAST else 0.0))


def _chances(likeliest: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Text → chance; several tokens may have one text."""
    chances: dict[str, float] = {}
    for text, logprob in likeliest:
        chances[_named(text)] = chances.get(_named(text), 0.0) + exp(min(logprob, 0.0))
    return chances
