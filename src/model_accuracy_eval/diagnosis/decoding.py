"""Whether tokens are written by the same network that reads them: cache, positions, kernels of decoding."""

from collections.abc import Sequence

from model_accuracy_eval.diagnosis.probe import Needle, ProbeResult, Subject
from model_accuracy_eval.records import Fault

_TIMES = (0, 2, 8, 32, 64)
"""How often question and answer stand before the question."""
_QUESTIONS = 3
_WRITTEN = 24
_OFF = 0.5
"""Nats by which one token's log-probability may differ: half precision and other kernels cause some hundredths."""
_MANY = 0.15
"""The same for the mean of all tokens of a text."""


async def decoding(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Log-probabilities of tokens as they were written, and of the same tokens read as a prompt, at growing lengths."""
    compared, worst, reached = 0, 0.0, 0
    longest = sorted(needles, key=lambda needle: -len(needle.text))[:_QUESTIONS]
    shots = [(needle.request.messages[-1].content, needle.text) for needle in longest]
    for prompt in (f"{question}{text} " * times + question for times in _TIMES for question, text in shots):
        found = await subject.rescored(prompt, _WRITTEN)
        if isinstance(found, Fault):
            if not compared and len(prompt) > 400:
                return ProbeResult("SKIP", f"The service does not show how it reads a text: {found.sentence}")
            continue
        written, read = found
        gaps = [abs(one.logprob - two.logprob) for one, two in zip(written, read, strict=False) if one.text == two.text]
        if not gaps:
            continue
        compared += len(gaps)
        reached = len(prompt)
        worst = max(worst, *gaps)
        if max(gaps) > _OFF or sum(gaps) / len(gaps) > _MANY:
            return ProbeResult(
                "FAIL",
                f"Behind a prompt of {len(prompt):,} characters, tokens that were written differ from the same tokens "
                f"read as a prompt by up to {max(gaps):.2f} nats (mean {sum(gaps) / len(gaps):.2f}).",
                "serve without the prefix cache, then without graphs, then with one sequence, and diagnose again",
            )
    if not compared:
        return ProbeResult("SKIP", "The service wrote nothing that could be read again.")
    return ProbeResult(
        "PASS",
        f"{compared} tokens behind up to {reached:,} characters are as likely written as read (±{worst:.2g} nats).",
    )
