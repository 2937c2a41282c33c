"""The shape of source in languages with braces: what it defines at its top, and where each definition ends."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_BRACE = re.compile(r"[{}]")


class Definition(NamedTuple):
    """A named piece of source; `depth` counts the braces around it, `body` is where its own one opens."""

    name: str
    start: int
    body: int
    end: int
    depth: int


def shade(source: str, hidden: str) -> str:
    """Comments and texts as blanks, so that whatever is found stands at the same place in the source."""
    return re.sub(hidden, lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def definitions(shaded: str, pattern: str) -> list[Definition]:
    """In order. `pattern` goes from a definition's begin to its name, or on to its brace; what has none is none."""
    pairs = _pairs(shaded)
    found = list(re.finditer(pattern, shaded, re.MULTILINE))
    limits = [*(match.start() for match in found), len(shaded)][1:]
    there, depth, known = 0, 0, []
    for match, limit in zip(found, limits, strict=True):
        depth += shaded.count("{", there, match.start()) - shaded.count("}", there, match.start())
        there = match.start()
        body = _body(shaded, pairs, match.end() - 1, limit)
        if body is not None:
            end = pairs.get(body, len(shaded) - 1) + 1
            known.append(Definition(match[1], match.start(), body, end, depth))
    return known


def without(source: str, pieces: Iterable[Definition]) -> str:
    """The source less these definitions, of which one may hold another."""
    kept, there = [], 0
    for piece in sorted(pieces, key=lambda one: one.start):
        kept.append(source[there : max(there, piece.start)])
        there = max(there, piece.end)
    return "".join(kept) + source[there:]


def missing_braces(shaded: str) -> int:
    """How many closing braces are missing at the end."""
    return max(0, shaded.count("{") - shaded.count("}"))


def _pairs(shaded: str) -> dict[int, int]:
    """Where each opening brace is closed, if it is."""
    waiting: list[int] = []
    pairs = {}
    for match in _BRACE.finditer(shaded):
        if match[0] == "{":
            waiting.append(match.start())
        elif waiting:
            pairs[waiting.pop()] = match.start()
    return pairs


def _body(shaded: str, pairs: dict[int, int], start: int, limit: int) -> int | None:
    """The brace that opens the body: braces that close within a line's middle belong to a type or an argument."""
    for place in _opening(shaded, start, limit):
        behind = pairs.get(place, len(shaded) - 1) + 1
        line = shaded[behind : behind + 80].partition("\n")[0]
        if not line.strip(" \t;})") and ";" not in shaded[start:place]:
            return place
    return None


def _opening(shaded: str, start: int, limit: int) -> Iterator[int]:
    place = shaded.find("{", start, limit)
    while place >= 0:
        yield place
        place = shaded.find("{", place + 1, limit)
