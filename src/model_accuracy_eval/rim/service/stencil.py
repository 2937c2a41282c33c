"""Token events read without decoding all of them, which halves what an answer costs.

Within a stream they are the same bytes but for one text. Once one has been decoded, what stands before and behind its
text is a stencil for its like: where both fit and the middle is one JSON string, the event is that one with another
text, whatever its fields are called. Any other event is decoded in full.
"""

import re
from typing import NamedTuple

import msgspec

from model_accuracy_eval.rim.service import wire

_FIELDS = ("content", "reasoning_content", "reasoning")
_TEXT = "text"
"""The same in completions, where it stands in the choice itself."""
_LITERAL = re.compile(rb'"(?:[^"\\]|\\.)*"')
_PROBE = "a probe: “no token is like this”"

decode_text = msgspec.json.Decoder(str).decode
"""A JSON string with its quotes; raises `ValueError` on anything else."""


class Stencil(NamedTuple):
    """What stands around the text of an event, and whose text it is."""

    before: bytes
    behind: bytes
    choice: int
    thought: bool


def cut(event: bytes, chunk: wire.Chunk) -> Stencil | None:
    """The stencil of a decoded event, if there is nothing in it but some text of one choice."""
    field = _only_text(chunk)
    if field is None or chunk.choices is None:
        return None
    part = chunk.choices[0]
    for match in re.finditer(rb'"%b"\s*:\s*' % field.encode(), event):
        literal = _LITERAL.match(event, match.end())
        if literal and _proven(event[: literal.start()], event[literal.end() :], chunk, field):
            before, behind = event[: literal.start()], event[literal.end() :]
            return Stencil(before, behind, part.index, field not in ("content", _TEXT))
    return None


def _only_text(chunk: wire.Chunk) -> str | None:
    """The one field of the one choice that holds text, when the event says nothing else."""
    if chunk.choices is None or len(chunk.choices) != 1:
        return None
    part = chunk.choices[0]
    delta = part.delta
    if part.finish_reason or part.message is not None:
        return None
    if any(wire.is_something(raw) for raw in (chunk.usage, chunk.error, part.usage)):
        return None
    if delta is None:
        return _TEXT if part.text else None
    if wire.is_something(delta.tool_calls) or wire.is_something(delta.function_call):
        return None
    filled = [field for field in _FIELDS if getattr(delta, field)]
    return filled[0] if len(filled) == 1 and isinstance(getattr(delta, filled[0]), str) else None


def _proven(before: bytes, behind: bytes, chunk: wire.Chunk, field: str) -> bool:
    """Whether another text in that place changes that field and nothing else: the word may stand elsewhere too."""
    try:
        probed = wire.decode_chunk(before + msgspec.json.encode(_PROBE) + behind)
    except ValueError:
        return False
    if not probed.choices or chunk.choices is None:
        return False
    place, original = _holder(probed.choices[0], field), _holder(chunk.choices[0], field)
    if getattr(place, field, None) != _PROBE:
        return False
    setattr(place, field, getattr(original, field))
    return probed == chunk


def _holder(part: wire.Part, field: str) -> wire.Part | wire.Delta | None:
    return part if field == _TEXT else part.delta
