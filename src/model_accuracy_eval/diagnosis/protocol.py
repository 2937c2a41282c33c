"""Whether an answer is the same in every form, and ends where it was asked to."""

from collections.abc import Sequence

from msgspec.structs import replace

from model_accuracy_eval.diagnosis.probe import (
    Needle,
    ProbeResult,
    Subject,
    changed_answers,
    question,
    short,
    text_of,
    unanswered,
)
from model_accuracy_eval.records import Fault, Usage

_LONG = tuple(
    question(text, max_tokens=64)
    for text in (
        "Count from 1 to 100.",
        "Write a long poem about the sea.",
        "1 2 3 4 5 6 7 8",
        "Question: 77+18. Answer:",
    )
)


async def streams(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Streamed and in one piece: text, ends and counts of tokens."""
    requests = [needle.request for needle in needles]
    pieces, wholes = await subject.ask(requests), await subject.scored(requests)
    pairs = [
        (needle, piece, whole)
        for needle, piece, whole in zip(needles, pieces, wholes, strict=True)
        if piece.fault is None and not isinstance(whole, Fault)
    ]
    if silent := unanswered(len(pairs), len(needles)):
        return silent
    for needle, piece, whole in pairs:
        said = short(needle.request.messages[-1].content)
        ends = piece.choices[0].finish_reason, whole.finish_reason
        count = _tokens(whole.usage)
        if (
            text_of(piece) != whole.text
            and changed_answers([needle._replace(text=whole.text, tokens=whole.tokens)], [piece]).is_fault
        ):
            return _differs("text", repr(text_of(piece)[:40]), repr(whole.text[:40]), said)
        if None not in ends and ends[0] != ends[1]:
            return _differs("finish_reason", str(ends[0]), str(ends[1]), said)
        for field in ("prompt_tokens", "completion_tokens") if text_of(piece) == whole.text else ():
            told = getattr(piece.usage, field, None), getattr(whole.usage, field, None)
            if None not in told and told[0] != told[1]:
                return _differs(f"usage.{field}", str(told[0]), str(told[1]), said)
        if count is not None and whole.tokens and count != len(whole.tokens):
            return ProbeResult(
                "FAIL",
                f"usage counts {count} tokens of an answer with log-probabilities of {len(whole.tokens)} ({said}).",
                "speeds and caps follow from usage: look at how the server counts",
            )
    return ProbeResult("PASS", f"{len(pairs)} answers are the same streamed and in one piece, ends and counts too.")


def _differs(what: str, streamed: str, whole: str, said: str) -> ProbeResult:
    return ProbeResult(
        "FAIL",
        f"Streamed, {what} is {streamed}; in one piece {whole} ({said}).",
        "look at the server's output parsers (reasoning, tools, detokenizer) with stream true and false",
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


async def stop_strings(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Stop strings within tokens and across their borders. They are sent as a further field, else the client cuts."""
    cases = []
    for needle in needles:
        text = needle.text
        cases += [(needle, text[at : at + size]) for size in (1, 2, 3) for at in range(1, len(text) - size + 1)][:6]
    if len(cases) < 3:
        return ProbeResult("SKIP", "The answers are too short to be stopped in their middle.")
    cases = cases[:48]
    replies = await subject.ask([replace(needle.request, extra={"stop": [stop]}) for needle, stop in cases], at_once=4)
    answered = [(*case, text_of(reply)) for case, reply in zip(cases, replies, strict=True) if reply.fault is None]
    if silent := unanswered(len(answered), len(cases)):
        return silent
    missed = [each for each in answered if each[1] in each[2]]
    if missed:
        needle, stop, said = missed[0]
        return ProbeResult(
            "FAIL",
            f"{len(missed)} of {len(cases)} stop strings were passed over, such as {stop!r} in {said[:40]!r}.",
            "look at how the server finds stop strings that begin in one token and end in another",
        )
    return ProbeResult("PASS", f"{len(cases)} stop strings ended their answers, within tokens and across them.")


def _tokens(usage: Usage | None) -> int | None:
    return None if usage is None else usage.completion_tokens
