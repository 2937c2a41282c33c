"""Stop strings: end the text before one, and let nothing out that might become one."""

from __future__ import annotations

from collections.abc import Sequence


class StopWatch:
    """Takes text as it is made and hands on what is safe to show."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = stops
        self._held = ""
        self.hit = False

    def feed(self, text: str) -> str:
        """Add text; return what can no longer be part of a stop string."""
        if not self._stops:
            return text
        self._held += text
        starts = [at for at in map(self._held.find, self._stops) if at >= 0]
        if starts:
            self.hit = True
            return self._let_out(min(starts), forget=True)
        return self._let_out(len(self._held) - self._doubtful())

    def flush(self) -> str:
        """The text is over: what was held back is only text."""
        return self._let_out(len(self._held))

    def _doubtful(self) -> int:
        """The length of the longest ending that begins a stop string."""
        longest = max(map(len, self._stops)) - 1
        for size in range(min(longest, len(self._held)), 0, -1):
            if any(stop.startswith(self._held[-size:]) for stop in self._stops):
                return size
        return 0

    def _let_out(self, size: int, *, forget: bool = False) -> str:
        out, self._held = self._held[:size], "" if forget else self._held[size:]
        return out
