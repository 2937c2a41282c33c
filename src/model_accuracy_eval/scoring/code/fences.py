"""Markdown's fenced blocks, read in one pass over the lines."""

import re
from typing import NamedTuple

_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*([^`\s]*)[^`]*")


class Block(NamedTuple):
    """What stands between two fences; `language` is the first word behind the opening one."""

    language: str
    text: str


def blocks(text: str) -> list[Block]:
    """Every block in order. One that nothing closes goes on to the end: the reply was cut off."""
    found: list[Block] = []
    fence, indent, language = "", "", ""
    lines: list[str] = []
    for line in text.split("\n"):
        match = _FENCE.fullmatch(line.rstrip())
        if not fence and match:
            indent, fence, language = match.groups()
            lines = []
        elif fence and match and match[2].startswith(fence) and not match[3]:
            found.append(Block(language.lower(), "\n".join(lines)))
            fence = ""
        else:
            lines.append(line.removeprefix(indent))
    if fence:
        found.append(Block(language.lower(), "\n".join(lines)))
    return found


def before(text: str) -> str:
    """What stands in front of the first line that is a fence: all of it, where there is none."""
    lines = text.split("\n")
    first = next((place for place, line in enumerate(lines) if _FENCE.fullmatch(line.rstrip())), len(lines))
    return "\n".join(lines[:first])
