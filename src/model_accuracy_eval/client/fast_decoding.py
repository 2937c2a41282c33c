"""Reads most token events without decoding their JSON, which halves the cost of an answer.

The token events of one stream have the same bytes everywhere except in their text. So one event is decoded in full,
and its bytes before and after the text are kept as a `FastDecoder`. A later event with the same beginning and end, and
with one JSON string between them, is the same event with that text; only the string is decoded. All other events are
decoded in full.

That this gives the same result is tested on the spot: a made-up text is put in the place, and the fast decoder is used
only if full decoding then differs in that one field and in nothing else. Names of fields play no role in this.
"""

import re
from typing import NamedTuple

import msgspec

from model_accuracy_eval.client import wire_format
from model_accuracy_eval.client.dialects import REASONING_FIELDS, Chunk, ChunkChoice, Delta

_DELTA_FIELDS = ("content", *REASONING_FIELDS)
_COMPLETION_FIELD = "text"
"""The text of completions, which is in the choice itself and not in a delta."""
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_TEST_TEXT = "a test: “no token is like this”"

decode_text = msgspec.json.Decoder(str).decode
"""Decodes a JSON string with its quotes; raises `ValueError` for anything else."""


class FastDecoder(NamedTuple):
    """The bytes around the text of an event, and where the text belongs."""

    before: bytes
    after: bytes
    choice: int
    is_reasoning: bool


def fast_decoder(event: bytes, chunk: Chunk) -> FastDecoder | None:
    """A decoder for all events like this one; None unless the event holds nothing but some text of one choice."""
    field = _only_text(chunk)
    if field is None or chunk.choices is None:
        return None
    for match in re.finditer(rb'"%b"\s*:\s*' % field.encode(), event):
        string = _STRING.match(event, match.end())
        if string is None:
            continue
        before, after = event[: string.start()], event[string.end() :]
        if _equals_full_decoding(before, after, chunk, field):
            return FastDecoder(before, after, chunk.choices[0].index, field in REASONING_FIELDS)
    return None


def _only_text(chunk: Chunk) -> str | None:
    """The field that holds the text, if the event has one choice with one text and no other content."""
    if chunk.choices is None or len(chunk.choices) != 1:
        return None
    part = chunk.choices[0]
    delta = part.delta
    if part.finish_reason or part.message is not None:
        return None
    if any(wire_format.has_content(raw) for raw in (chunk.usage, chunk.error, part.usage)):
        return None
    if delta is None:
        return _COMPLETION_FIELD if part.text else None
    if wire_format.has_content(delta.tool_calls) or wire_format.has_content(delta.function_call):
        return None
    filled = [field for field in _DELTA_FIELDS if getattr(delta, field)]
    return filled[0] if len(filled) == 1 and isinstance(getattr(delta, filled[0]), str) else None


def _equals_full_decoding(before: bytes, after: bytes, chunk: Chunk, field: str) -> bool:
    """Whether another text in this place changes this field only: its name may stand elsewhere in the event too."""
    try:
        changed = wire_format.decode_chunk(before + msgspec.json.encode(_TEST_TEXT) + after)
    except ValueError:
        return False
    if not changed.choices or chunk.choices is None:
        return False
    holder, original = _holder(changed.choices[0], field), _holder(chunk.choices[0], field)
    if getattr(holder, field, None) != _TEST_TEXT:
        return False
    setattr(holder, field, getattr(original, field))
    return changed == chunk


def _holder(part: ChunkChoice, field: str) -> ChunkChoice | Delta | None:
    return part if field == _COMPLETION_FIELD else part.delta
