"""A mapping of whole numbers to whole numbers in sixteen bytes for each."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping


class NumbersByNumber(Mapping[int, int]):
    """Keys with their values, as they came; no key may be there twice."""

    def __init__(self, keys: "array[int]", values: "array[int]") -> None:
        rises = all(keys[at] < keys[at + 1] for at in range(len(keys) - 1))
        order = range(len(keys)) if rises else sorted(range(len(keys)), key=keys.__getitem__)
        self._keys = keys if rises else array("q", map(keys.__getitem__, order))
        self._values = values if rises else array("q", map(values.__getitem__, order))

    def __getitem__(self, key: int) -> int:
        place = bisect_left(self._keys, key)
        if place == len(self._keys) or self._keys[place] != key:
            raise KeyError(key)
        return self._values[place]

    def __iter__(self) -> Iterator[int]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
