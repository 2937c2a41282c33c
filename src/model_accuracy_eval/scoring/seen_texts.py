"""What was there before: ids of millions of requests in some twenty bytes for each, numbers of samples in a bit."""

from array import array

_FULL = 0.7
_PAGE = 4_096


class SeenTexts:
    """A set of 64-bit hashes. Of ten million different texts two have the same one with a chance of 3 in a million."""

    def __init__(self) -> None:
        self._slots = array("q", [0]) * 64
        """Hashes, each at the first free place from the one that its low bits name; 0: free."""
        self._count = 0
        self._last: str | None = None

    def add(self, text: str) -> bool:
        """Returns whether it is new."""
        if text == self._last:  # the samples of one request follow each other
            return False
        self._last = text
        if self._count >= _FULL * len(self._slots):
            self._grow()
        is_new = _put(self._slots, hash(text) or 1)
        self._count += is_new
        return is_new

    def __len__(self) -> int:
        return self._count

    def _grow(self) -> None:
        before, self._slots = self._slots, array("q", [0]) * (2 * len(self._slots))
        for number in before:
            if number:
                _put(self._slots, number)


def _put(slots: "array[int]", number: int) -> bool:
    mask = len(slots) - 1
    place = number & mask
    while slots[place]:
        if slots[place] == number:
            return False
        place = (place + 1) & mask
    slots[place] = number
    return True


class SeenNumbers:
    """A set of numbers from 0, a bit for each where they are near each other."""

    def __init__(self) -> None:
        self._pages: dict[int, bytearray] = {}

    def add(self, number: int) -> bool:
        """Returns whether it is new."""
        page, place = divmod(number, 8 * _PAGE)
        if page not in self._pages:
            self._pages[page] = bytearray(_PAGE)
        bits = self._pages[page]
        bit = 1 << place % 8
        is_new = not bits[place // 8] & bit
        bits[place // 8] |= bit
        return is_new
