"""Tokens of requests, each counted once, however many samples share it and in whatever order these come."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy

from model_accuracy_eval.records.disk_numbers import DiskNumbers

IN_MEMORY = 100_000
"""So many requests are told apart at once, and without NumPy, which takes as long to load."""
_UNKNOWN = -1


class RequestTokens:
    """Requests by 64-bit hashes of their ids: of ten million, two have the same with a chance of 3 in a million."""

    def __init__(self) -> None:
        self._hashes, self._prompt, self._completion = (DiskNumbers("q") for _ in range(3))
        self._last: str | None = None

    def add(self, request: str, prompt: int | None = None, completion: int | None = None) -> None:
        """The tokens of the first sample of a request count."""
        if request == self._last:  # the samples of one request follow each other
            return
        self._last = request
        self._hashes.append(hash(request))
        self._prompt.append(_UNKNOWN if prompt is None else prompt)
        self._completion.append(_UNKNOWN if completion is None else completion)

    def totals(self) -> tuple[int, int | None, int | None]:
        """How many requests there are, and their tokens of prompts and completions; None: none is known."""
        count, totals = 0, [_UNKNOWN, _UNKNOWN]
        for first_ones in self._first_ones():
            count += 1
            totals = [_sum(total, int(number)) for total, number in zip(totals, first_ones, strict=True)]
        prompt, completion = (None if total == _UNKNOWN else total for total in totals)
        return count, prompt, completion

    def _first_ones(self) -> Iterable[tuple[float, float]]:
        """The tokens of each request. Of many, each pass takes those whose hash leaves one remainder."""
        parts = -(-len(self._hashes) // IN_MEMORY)
        if parts <= 1:
            rows = zip(self._hashes, self._prompt, self._completion, strict=True)
            first: dict[float, tuple[float, float]] = {}
            for number, *tokens in rows:
                first.setdefault(number, (tokens[0], tokens[1]))
            return first.values()
        return chain.from_iterable(self._part(part, parts) for part in range(parts))

    def _part(self, part: int, parts: int) -> Iterator[tuple[float, float]]:
        columns = zip(*(column.blocks() for column in (self._hashes, self._prompt, self._completion)), strict=True)
        found = numpy.concatenate([_chosen(blocks, part, parts) for blocks in columns], axis=1)
        _, first = numpy.unique(found[0], return_index=True)
        return zip(found[1][first].tolist(), found[2][first].tolist(), strict=True)


def _chosen(blocks: Iterable[Any], part: int, parts: int) -> Any:
    columns = numpy.stack([numpy.frombuffer(block, dtype="int64") for block in blocks])
    return columns[:, columns[0] % parts == part]


def _sum(total: int, more: int) -> int:
    return total if more == _UNKNOWN else max(total, 0) + more
