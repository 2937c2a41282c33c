"""Server-sent events as the standard has them, and fast for the one shape that nearly all servers send.

The standard: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
Only data matters to a chat stream, so `event:`, `id:`, `retry:` and comments are read and dropped.
"""

import re

BOM = b"\xef\xbb\xbf"
LIMIT = 64 * 1024 * 1024

_LINE_END = re.compile(rb"\r\n|\n|\r")


class EventTooLongError(ValueError):
    """A line that never ends, so that no server can fill our memory."""


class EventStream:
    """Cuts a body into the data of its events, however the bytes are split over reads."""

    __slots__ = ("_data", "_line", "_skip_lf", "_start")

    def __init__(self) -> None:
        self._line = b""
        """What came since the last line (fast path: since the last event) ended."""
        self._data: list[bytes] = []
        """`data:` lines of the event that is still open."""
        self._start = True
        self._skip_lf = False

    def feed(self, data: bytes) -> list[bytes]:
        """The data of every event that these bytes complete."""
        if self._line:
            data = self._line + data
        # Nearly always: `data: <one line>\n\n`, again and again. A split and a count in C prove that there is
        # nothing else in these bytes; any doubt leads to the slow path, which gives the same events.
        if data.startswith(b"data: ") and not (self._data or self._skip_lf) and b"\r" not in data:
            cut = data.rfind(b"\n\n")
            if cut >= 0:
                events = data[6:cut].split(b"\n\ndata: ")
                if data.count(b"\n", 0, cut) == 2 * (len(events) - 1):
                    self._line = data[cut + 2 :]
                    self._start = False
                    return events
        return self._read_lines(data)

    def close(self) -> list[bytes]:
        """The event that the end of the body completes: some servers leave out the last blank line."""
        tail, self._line = self._line, b""
        events = self._take_lines(_LINE_END.split(self._without_bom(tail, final=True)))
        if self._data:
            events.append(b"\n".join(self._data))
            self._data = []
        return events

    def _read_lines(self, data: bytes) -> list[bytes]:
        data = self._without_bom(data, final=False)
        if self._skip_lf and data:
            data = data[1:] if data.startswith(b"\n") else data
            self._skip_lf = False
        # A CR ends the line at once; should an LF follow in the next read, it belongs to this line end.
        if data.endswith(b"\r"):
            self._skip_lf = True
        lines = _LINE_END.split(data)
        self._line = lines.pop()
        if len(self._line) > LIMIT:
            raise EventTooLongError(f"an event of more than {LIMIT // 1024 // 1024} MiB")
        return self._take_lines(lines)

    def _without_bom(self, data: bytes, *, final: bool) -> bytes:
        """Drops a byte order mark at the start of the body; one that is not all there yet has to wait."""
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
