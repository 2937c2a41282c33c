"""Whether tokens are written by the same network that reads them: cache, positions, kernels of decoding."""

from collections.abc import Sequence

from model_accuracy_eval.diagnosis.probe import Needle, ProbeResult
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Fault

_TEXT = "1 2 3 4 5 6 7 8 9 "
_TIMES = (0, 2, 8, 24, 64, 200, 600)
"""How often the text stands before a question: a model that counts goes on, at every length."""
_QUESTIONS = 3
_WRITTEN, _COUNTED = 24, 160
"""Tokens behind a question, and behind the bare text."""
_OFF = 0.5
"""Nats by which one token's log-probability may differ: half precision and other kernels cause some hundredths."""
_MANY = 0.15
"""The same for the mean of all tokens of a text."""


async def decoding(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Log-probabilities of tokens as they were written, and of the same tokens read as a prompt, at growing lengths."""
    compared, worst = 0, 0.0
    right: list[int] = []
    """Lengths of texts in which at least one token was written by what writes: the first one is told by what reads."""
    longest = sorted(needles, key=lambda needle: -len(needle.text))[:_QUESTIONS]
    tails = [needle.request.messages[-1].content for needle in longest]
    asked: list[tuple[str, int]] = []
    for times in _TIMES:
        asked += [(f"{_TEXT * times}{tail}", _WRITTEN) for tail in tails]
        asked += [(_TEXT * times, _COUNTED)] if times else []
    for prompt, tokens in asked:
        found = await subject.rescored(prompt, tokens)
        if isinstance(found, Fault):
            if not compared and len(prompt) > 400:
                return ProbeResult("SKIP", f"The service does not show how it reads a text: {found.sentence}")
            continue
        pairs = [
            (one.text, one.logprob - two.logprob)
            for one, two in zip(found.written, found.read, strict=False)
            if one.text == two.text
        ]
        gaps = [abs(gap) for _, gap in pairs]
        if not gaps:
            continue
        compared += len(gaps)
        before = [length for length in right if length < found.length]
        if max(gaps) > _OFF or sum(gaps) / len(gaps) > _MANY:
            return ProbeResult(
                "FAIL",
                f"In a text of {found.length:,} tokens, those that were written differ from the same tokens read as "
                f"a prompt by up to {max(gaps):.2f} nats (mean {sum(gaps) / len(gaps):.2f}); "
                + (f"right up to {max(before):,}." if before else "no shorter text was right."),
                "look for a penalty on repetition in the server's own defaults (generation_config.json)"
                if _shuns_repeats(pairs)
                else "serve without the prefix cache, then without graphs, then with one sequence, and diagnose again",
            )
        right += [found.length] if len(gaps) > 1 else []
        worst = max(worst, *gaps)
    if not compared:
        return ProbeResult("SKIP", "The service wrote nothing that could be read again.")
    return ProbeResult(
        "PASS",
        f"{compared} tokens in texts of up to {max(right, default=0):,} are as likely written as read "
        f"(±{worst:.2g} nats).",
    )


def _shuns_repeats(pairs: Sequence[tuple[str, float]]) -> bool:
    """Whether tokens that were written before are less likely written than read, and no others are."""
    again = [gap for at, (text, gap) in enumerate(pairs) if text in {before for before, _ in pairs[:at]}]
    new = [gap for at, (text, gap) in enumerate(pairs) if text not in {before for before, _ in pairs[:at]}]
    return bool(again) and sum(again) / len(again) < -_MANY and all(gap > -_MANY for gap in new)
