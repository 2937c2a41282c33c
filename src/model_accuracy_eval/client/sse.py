"""Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream

Only data matters in a chat stream, so `event:`, `id:`, `retry:` and comments are ignored.
"""

import re

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
