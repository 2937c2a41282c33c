"""Markdown's fenced blocks, read in one pass over the lines."""

import re
from typing import NamedTuple

_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*([^`\s]*)[^`]*")


class Block(NamedTuple):
    """The text between two fences; `language` is the first word after the opening fence."""

    language: str
    text: str


def blocks(text: str) -> list[Block]:
    """Every block in order. A block that nothing closes reaches to the end: the reply was cut off."""
    result: list[Block] = []
    fence, indent, language = "", "", ""
    lines: list[str] = []
    for line in text.split("\n"):
        match = _FENCE.fullmatch(line.rstrip())
        if not fence and match:
            indent, fence, language = match.groups()
            lines = []
        elif fence and match and match[2].startswith(fence) and not match[3]:
            result.append(Block(language.lower(), "\n".join(lines)))
            fence = ""
        else:
            lines.append(line.removeprefix(indent))
    if fence:
        result.append(Block(language.lower(), "\n".join(lines)))
    return result


def before(text: str) -> str:
    """The text before the first fence; the whole text where there is none."""
    lines = text.split("\n")
    first = next((place for place, line in enumerate(lines) if _FENCE.fullmatch(line.rstrip())), len(lines))
    return "\n".join(lines[:first])
