"""What a service says about the tokens of several choices: some count one of them alone."""

from msgspec.structs import replace

from model_accuracy_eval.records import Reply


def counts_one_choice(reply: Reply) -> bool:
    """Whether the completion tokens are too few for all choices of the reply, and enough for each of them.

    Each chunk with text holds one token or more; one more in each choice may have come in two chunks.
    """
    counted = reply.usage.completion_tokens if reply.usage else None
    chunks = [choice.timings.chunks for choice in reply.choices]
    return counted is not None and len(chunks) > 1 and max(chunks) <= counted < sum(chunks) - len(chunks)


def without_partial_count(reply: Reply) -> Reply:
    """Where one choice was counted, nobody knows how many tokens the others have: the number is left out."""
    if reply.usage is None or not counts_one_choice(reply):
        return reply
    return replace(reply, usage=replace(reply.usage, completion_tokens=None, reasoning_tokens=None))
