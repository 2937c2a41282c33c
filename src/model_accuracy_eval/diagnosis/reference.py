"""A service beside a trusted one: the prompts as both count them, and the chances of every token up to where they part.

What a service does wrong in all that it says, such as a layer that is left out, shows in no comparison with itself.
"""

from collections.abc import Sequence
from math import exp, log

import msgspec

from model_accuracy_eval.diagnosis.probe import QUESTIONS, SURE, ProbeResult, Subject, question, short
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Fault, Record, ScoredReply, ScoredToken

_MEAN = 0.01
"""Nats of Kullback-Leibler divergence for the mean token: other kernels and half precision cause some thousandths."""
_LEAST = 1e-6
"""Chance of what the service does not list."""


class Trace(Record, frozen=True, kw_only=True):
    """What a trusted service answered."""

    schema: int = 1
    model: str
    answers: dict[str, ScoredReply]
    """Question → answer."""


async def record(subject: Subject, model: str) -> Trace:
    scored = await subject.scored([question(text) for text in QUESTIONS], at_once=4)
    pairs = zip(QUESTIONS, scored, strict=True)
    answers = {text: each for text, each in pairs if not isinstance(each, Fault) and each.tokens}
    if not answers:
        raise BadData("The service gives no log-probabilities, so there is nothing to record.")
    return Trace(model=model, answers=answers)


def read(data: bytes, name: str) -> Trace:
    try:
        return msgspec.json.decode(data, type=Trace)
    except msgspec.DecodeError as error:
        raise BadData(f"{name} is no trace of `diagnose --record`: {error}.") from error


async def beside(subject: Subject, trace: Trace) -> ProbeResult:
    """Compares the answers with those of the trace."""
    scored = await subject.scored([question(text) for text in trace.answers], at_once=4)
    pairs = [
        (text, then, now)
        for (text, then), now in zip(trace.answers.items(), scored, strict=True)
        if not isinstance(now, Fault) and now.tokens
    ]
    if not pairs:
        return ProbeResult("SKIP", "The service gives no log-probabilities, so it cannot be held beside the reference.")
    for text, then, now in pairs:
        was, is_ = _prompt(then), _prompt(now)
        if was is not None and is_ is not None and was != is_:
            return ProbeResult(
                "FAIL",
                f"The prompt of {short(text)} has {is_} tokens, and {was} at the reference.",
                "compare the chat template, the beginning token and the tokenizer files of both",
            )
    divergences, flips, same = [], 0, 0
    for _, then, now in pairs:
        for one, two in zip(then.tokens, now.tokens, strict=False):
            divergences.append(_divergence(one, two))
            if one.text != two.text:
                flips += (one.margin or 0.0) > SURE
                break  # behind it, both answer another prompt
            same += 1
    mean, largest = sum(divergences) / len(divergences), max(divergences)
    figures = (
        f"KL mean {mean:.2g}, max {largest:.2g} nats; {same} of {len(divergences)} likeliest tokens are the same, "
        f"{flips} that were sure are others"
    )
    if flips or mean > _MEAN:
        return ProbeResult(
            "FAIL",
            f"Not the reference ({trace.model}): {figures}.",
            "compare weights, quantization and dtype first, then the attention and rope kernels, layer by layer",
        )
    return ProbeResult("PASS", f"As the reference ({trace.model}): {figures}.")


def _prompt(reply: ScoredReply) -> int | None:
    return reply.usage.prompt_tokens if reply.usage else None


def _divergence(then: ScoredToken, now: ScoredToken) -> float:
    """Kullback-Leibler, of the tokens that the reference lists, and of all others together."""
    p, q = _chances(then.likeliest), _chances(now.likeliest)
    listed = sum(chance * log(chance / max(q.get(text, 0.0), _LEAST)) for text, chance in p.items() if chance > 0)
    rest, other = 1 - sum(p.values()), 1 - sum(q.get(text, 0.0) for text in p)
    return max(0.0, listed + (rest * log(rest / max(other, _LEAST)) if rest > _LEAST else 0.0))


def _chances(likeliest: Sequence[tuple[str, float]]) -> dict[str, float]:
    return {text: exp(min(logprob, 0.0)) for text, logprob in likeliest}
