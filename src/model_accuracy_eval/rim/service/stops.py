"""Stop strings. Servers take a few of them; here all are honoured, whatever the server made of its own."""

from collections.abc import Sequence

SENT = 4
"""As many as OpenAI's API takes; some servers cut longer lists in silence, others refuse them."""


def cut(text: str, stops: Sequence[str]) -> str | None:
    """What stands before the first stop; None where there is none in the text."""
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return text[: min(places)] if places else None


class Lookout:
    """Watches one growing text for the stops that the server does not know of."""

    __slots__ = ("_looked", "_reach", "_stops", "_tail", "hit")

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = stops
        self._reach = max(map(len, stops)) - 1
        self._looked = 0
        self._tail = ""
        self.hit = False

    def look(self, pieces: Sequence[str]) -> bool:
        """Whether a stop has come by now; a stop may lie across pieces."""
        if not self.hit and len(pieces) > self._looked:
            fresh = self._tail + "".join(pieces[self._looked :])
            self.hit = any(stop in fresh for stop in self._stops)
            self._looked, self._tail = len(pieces), fresh[-self._reach :] if self._reach else ""
        return self.hit
