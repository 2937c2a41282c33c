"""Server-sent events by the standard, and fast for the one shape that nearly all servers send.

The standard: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
Only data matters in a chat stream, so `event:`, `id:`, `retry:` and comments are ignored.
"""

import re
from typing import NamedTuple

import msgspec

from model_accuracy_eval.client import wire_format
from model_accuracy_eval.client.dialects import REASONING_FIELDS, Chunk, ChunkChoice, Delta

BOM = b"\xef\xbb\xbf"
LIMIT = 64 * 1024 * 1024

_LINE_END = re.compile(rb"\r\n|\n|\r")


class EventTooLongError(ValueError):
    """A line without an end, which would fill the memory."""


class EventStream:
    """Splits a body into the data of its events, wherever the reads cut it."""

    __slots__ = ("_data", "_line", "_skip_lf", "_start", "remainder")

    def __init__(self) -> None:
        self._line = b""
        """Bytes after the last complete line; on the fast path, after the last complete event."""
        self._data: list[bytes] = []
        """`data:` lines of the event that is not complete yet."""
        self._start = True
        self._skip_lf = False
        self.remainder = b""
        """What the body held after its last blank line, without comments; known once it is closed."""

    def feed(self, data: bytes) -> list[bytes]:
        """The data of every event that these bytes complete."""
        if self._line:
            data = self._line + data
        # Nearly all bodies are `data: <one line>\n\n` repeated. No line end inside of an event proves that these bytes
        # have no other form; otherwise the slow path reads them, with the same result. (To look for a byte takes a
        # sixth of the time that it takes to count them.)
        if data.startswith(b"data: ") and not (self._data or self._skip_lf) and b"\r" not in data:
            cut = data.rfind(b"\n\n")
            if cut >= 0:
                events = data[6:cut].split(b"\n\ndata: ")
                if b"\n" not in b"".join(events):
                    self._line = data[cut + 2 :]
                    self._start = False
                    return events
        return self._read_lines(data)

    def close(self) -> list[bytes]:
        """The last event, if the end of the body completes it: some servers leave out the last blank line."""
        lines, self._line = _LINE_END.split(self._without_bom(self._line, final=True)), b""
        self.remainder = b"\n".join((*self._data, *(line for line in lines if not line.startswith(b":")))).strip()
        events = self._take_lines(lines)
        if self._data:
            events.append(b"\n".join(self._data))
            self._data = []
        return events

    def _read_lines(self, data: bytes) -> list[bytes]:
        data = self._without_bom(data, final=False)
        if self._skip_lf and data:
            data = data[1:] if data.startswith(b"\n") else data
            self._skip_lf = False
        # A CR ends the line at once; an LF at the start of the next read belongs to the same line end.
        if data.endswith(b"\r"):
            self._skip_lf = True
        lines = _LINE_END.split(data)
        self._line = lines.pop()
        if len(self._line) > LIMIT:
            raise EventTooLongError(f"an event of more than {LIMIT // 1024 // 1024} MiB")
        return self._take_lines(lines)

    def _without_bom(self, data: bytes, *, final: bool) -> bytes:
        """Drops a byte order mark at the start of the body; an incomplete one waits for the next read."""
        if not self._start or (not final and BOM.startswith(data) and data != BOM):
            return data
        self._start = False
        return data.removeprefix(BOM)

    def _take_lines(self, lines: list[bytes]) -> list[bytes]:
        events = []
        for line in lines:
            if not line:
                if self._data:
                    events.append(b"\n".join(self._data))
                    self._data = []
                continue
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value[1:] if value.startswith(b" ") else value)
        return events


# Reads most token events without decoding their JSON, which halves the cost of an answer.
#
# The token events of one stream have the same bytes everywhere except in their text. So one event is decoded in full,
# and its bytes before and after the text are kept as a `FastDecoder`. A later event with the same beginning and end,
# and with one JSON string between them, is the same event with that text; only the string is decoded. All other events
# are decoded in full.
#
# That this gives the same result is tested on the spot: a made-up text is put in the place, and the fast decoder is
# used only if full decoding then differs in that one field and in nothing else. Names of fields play no role in this.


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
