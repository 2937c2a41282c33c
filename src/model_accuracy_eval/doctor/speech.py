"""How answers come: in pieces, counted, in good time, and ended where they should."""

from model_accuracy_eval.doctor.asking import SILENT, Talk, either, refused, said, unknown
from model_accuracy_eval.records import Reply
from model_accuracy_eval.records.doctor import Finding


def streaming(reply: Reply) -> Finding:
    if not said(reply):
        return unknown("streaming", SILENT)
    times = reply.choices[0].timings
    sentence = (
        f"The answer came in {times.chunks} pieces."
        if times.ttft is not None
        else "The answer came in one piece, so the time to the first token is unknown in reports."
    )
    return either("streaming", times.ttft is not None, sentence)


def usage(reply: Reply) -> Finding:
    tokens = reply.usage.completion_tokens if reply.usage else None
    told = (
        f"Tokens are counted: {tokens} for this answer."
        if tokens is not None
        else "No tokens are counted: reports will not have any."
    )
    return either("usage", tokens is not None, told)


def speed(reply: Reply) -> Finding:
    """Of one stream alone: many at once are slower each and faster together."""
    tokens = reply.usage.completion_tokens if reply.usage else None
    seconds = reply.choices[0].timings.e2e if reply.choices else 0.0
    if not tokens or tokens < 2 or seconds <= 0:
        return unknown("speed", "Fewer than two tokens were counted, so tokens a second cannot be told.")
    return either(
        "speed", True, f"One stream alone: {tokens / seconds:,.1f} tokens a second, {tokens} in {seconds:.2f} s."
    )


async def stop(talk: Talk) -> Finding:
    """As a field of the user's own, because the client would cut the answer itself at a stop that it knows."""
    text = said(talk.first)
    mark = text[len(text) // 2 :][:4]
    if not text[: text.find(mark)].strip():
        return unknown("stop", "The answer is too short to be stopped in its middle; answers are cut here as well.")
    reply = await talk.again(extra={"stop": [mark]})
    if reply.fault is not None:
        return refused("stop", reply.fault, "Tasks with stop strings will fail.")
    obeyed = mark not in said(reply)
    told = "is obeyed" if obeyed else "is passed over; answers are cut here, and cost time until then"
    return either("stop", obeyed, f"A stop string {told}.")
