"""Whether an answer ends where it was asked to, and by itself."""

from collections.abc import Sequence

from msgspec.structs import replace

from model_accuracy_eval.diagnosis.probe import Needle, ProbeResult, question, short, text_of
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Usage

_LONG = tuple(
    question(text, max_tokens=64)
    for text in (
        "Count from 1 to 100.",
        "Write a long poem about the sea.",
        "1 2 3 4 5 6 7 8",
        "Question: 77+18. Answer:",
    )
)


async def caps(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """No answer goes on behind max_tokens, and none is cut before it."""
    # The end of an answer is a token, too.
    longer = {needle.request.messages: needle for needle in needles if len(needle.tokens) > 3}
    requests = [replace(needle.request, max_tokens=2) for needle in longer.values()] + [*_LONG]
    replies = await subject.ask(requests, at_once=4)
    cut = 0
    for request, reply in zip(requests, replies, strict=True):
        tokens = _tokens(reply.usage)
        if reply.fault is not None or tokens is None:
            continue
        said = short(request.messages[-1].content)
        reason = reply.choices[0].finish_reason if reply.choices else None
        if tokens > request.max_tokens:
            return ProbeResult(
                "FAIL",
                f"max_tokens {request.max_tokens} gave {tokens} tokens ({said}).",
                "look at how the server reads max_tokens",
            )
        if reason == "length" and tokens < request.max_tokens:
            return ProbeResult(
                "FAIL",
                f"An answer ended by 'length' after {tokens} tokens of max_tokens {request.max_tokens} ({said}).",
                "look for a lower cap of the server's own (--max-new-tokens, --max-model-len, generation_config.json)",
            )
        whole = longer.get(request.messages)
        if whole is not None and reason == "stop" and text_of(reply) != whole.text:
            return ProbeResult(
                "FAIL",
                f"An answer that was cut at max_tokens {request.max_tokens} ended by 'stop' ({said}).",
                "look at how the server tells an end from a cut: cut answers are counted as complete ones",
            )
        cut += reason == "length"
    if not cut:
        return ProbeResult("SKIP", "No answer reached its cap with its tokens counted.")
    return ProbeResult("PASS", f"{cut} answers were cut at their caps, {len(replies) - cut} ended before.")


async def ends(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Short questions come to an end by themselves."""
    requests = [replace(needle.request, max_tokens=512) for needle in needles[:12]]
    given = [reply.choices[0] for reply in await subject.ask(requests, at_once=4) if reply.choices]
    plain = [choice for choice in given if not choice.reasoning and "<think>" not in choice.text]
    known_ends = [choice.finish_reason for choice in plain if choice.finish_reason is not None]
    if not known_ends:
        return ProbeResult("SKIP", "No answer has a finish_reason, or the model thinks before it answers.")
    stopped = sum(reason != "length" for reason in known_ends)
    if not stopped:
        return ProbeResult(
            "FAIL",
            f"None of {len(known_ends)} answers to short questions ended within 512 tokens.",
            "look at eos_token_id in generation_config.json and the chat template: the end of an answer is not seen",
        )
    return ProbeResult("PASS", f"{stopped} of {len(known_ends)} answers to short questions ended by themselves.")


def _tokens(usage: Usage | None) -> int | None:
    return None if usage is None else usage.completion_tokens
