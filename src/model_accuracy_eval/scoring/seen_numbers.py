"""Which numbers of samples were there before, in a bit for each."""

_PAGE = 4_096


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
