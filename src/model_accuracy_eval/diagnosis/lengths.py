"""Up to which length of its prompt a service still sees what stands at the beginning."""

from collections.abc import Sequence

from model_accuracy_eval.diagnosis.probe import Needle, ProbeResult, question, text_of
from model_accuracy_eval.ports import Subject

_WORDS = ("marmalade", "lighthouse", "saxophone")
_SENTENCE = "The grass is green and the sky is blue. "
_STEPS = (4, 16, 64, 128, 256, 512, 1024, 2048)
"""Sentences of filler, about ten tokens each."""


async def recall(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """A word at the beginning is asked for at the end, at growing lengths, then in between to the first that fails."""
    good, tokens = 0, 0
    for step in _STEPS:
        is_right, seen = await _recalled(subject, step)
        if is_right is None:
            break
        if not is_right:
            if not good:
                return ProbeResult("SKIP", f"The model does not repeat a word even behind {seen or 'a few'} tokens.")
            return await _narrowed(subject, good, step)
        good, tokens = step, seen or tokens
    if not good:
        return ProbeResult("SKIP", "The service answers no longer prompts.")
    return ProbeResult(
        "PASS", f"A word at the beginning is repeated up to {tokens or good * 10:,} tokens, as far as it was tried."
    )


async def _narrowed(subject: Subject, good: int, bad: int) -> ProbeResult:
    bounds = {good: (await _recalled(subject, good))[1], bad: (await _recalled(subject, bad))[1]}
    while bad - good > max(1, good // 32):
        middle = (good + bad) // 2
        is_right, bounds[middle] = await _recalled(subject, middle)
        good, bad = (middle, bad) if is_right else (good, middle)
    low, high = bounds[good] or good * 10, bounds[bad] or bad * 10
    return ProbeResult(
        "FAIL",
        f"A word at the beginning is repeated up to {low:,} tokens, and not from {high:,}.",
        "compare with the sliding window, the rope scaling and max_position_embeddings of config.json",
    )


async def _recalled(subject: Subject, sentences: int) -> tuple[bool | None, int | None]:
    """Whether most of three words come back, and how long the prompt is in tokens; None: not answered."""
    requests = [
        question(f"The secret word is {word}. {_SENTENCE * sentences}What is the secret word?", max_tokens=256)
        for word in _WORDS
    ]
    replies = await subject.ask(requests, at_once=len(requests))
    if any(reply.fault is not None for reply in replies):
        return None, None
    right = sum(word in text_of(reply).lower() for word, reply in zip(_WORDS, replies, strict=True))
    usage = replies[0].usage
    return 2 * right > len(_WORDS), usage.prompt_tokens if usage else None
