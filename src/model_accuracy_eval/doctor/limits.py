"""Which model is served, and how many tokens it reads at once."""

from model_accuracy_eval.doctor.asking import COUNT, either, question, refused, unknown
from model_accuracy_eval.ports import Chat
from model_accuracy_eval.records.doctor import Finding

_TOO_MANY = 10_000_000
"""Tokens for an answer that no model has room for."""


async def model(chat: Chat) -> Finding:
    names = await chat.models()
    if names:
        return either("model", True, f"It serves {', '.join(names)}.")
    return unknown("model", "/v1/models lists nothing; name the model with --model-name.")


async def context(chat: Chat) -> Finding:
    """What the service tells; else what it says when far too much is asked for."""
    told = await chat.context()
    if told is not None:
        return either("context", True, f"It reads and writes up to {told:,} tokens (max_model_len of /v1/models).")
    # A service that does not mind stops at the first blank, so that nobody waits for ten million tokens.
    request = question(COUNT, max_tokens=_TOO_MANY, stop=(" ", "\n", "."))
    reply = await chat.ask(request)
    asked = f"a request for {_TOO_MANY:,} tokens"
    if reply.fault is None:
        return unknown(
            "context",
            f"/v1/models does not tell it, and {asked} is not refused: look it up in the server's settings, because "
            "what is too long may be cut without a word.",
        )
    if reply.fault.kind == "rejected":
        return either("context", True, f"/v1/models does not tell it; {asked} is refused: {reply.fault.sentence}")
    return refused("context", reply.fault, f"That came of {asked}: keep --max-tokens within the model's context.")
