"""The languages with braces of HumanEval-X: their patterns, and the definitions in a source text."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_COMMENT = r"//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)"
_TEXT = r'"(?:\\.|[^"\\\n])*"?'
_LETTER = r"'(?:\\.|[^'\\\n])*'?"
_RAW = r"`[^`]*`?"
_CALLABLE = (
    r"^(?:[^\n(){};=#]*[\s*&])?(?!(?:if|for|while|switch|catch)\b)(\w+)[^\S\n]*"
    r"\((?:[^{};\n]|\n(?!\n)){0,500}\)[\w\s,]{0,80}\{"
)
_BRACE = re.compile(r"[{}]")


class Language(NamedTuple):
    """Patterns of a language. `function` and `unit` go from the begin of a definition to its name or its brace."""

    fences: tuple[str, ...]
    """The words after a Markdown fence."""
    hidden: str
    """Comments and string literals."""
    function: str
    unit: str
    """What a file defines at its top level: functions, in most languages."""
    opening: str
    """Lines that come first in every file."""
    front: str = ""
    """What the published runner puts in front of every program."""
    head: str = "declaration"
    """The column that an answer continues."""
    recipe: str = ""
    """The sandbox's name for how it is run, if that is not the language's own name."""


class Definition(NamedTuple):
    """A named piece of source; `depth` counts the braces around it, `body` is the place of its own opening brace."""

    name: str
    start: int
    body: int
    end: int
    depth: int


def blank_out(source: str, hidden: str) -> str:
    """The source with comments and string literals replaced by blanks, so that all places stay the same."""
    return re.sub(hidden, lambda match: re.sub(r"[^\n]", " ", match[0]), source)


def definitions(blanked: str, pattern: str) -> list[Definition]:
    """All definitions with a body, in order. `pattern` goes from a definition's begin to its name or its brace."""
    closing = _closing_braces(blanked)
    matches = list(re.finditer(pattern, blanked, re.MULTILINE))
    limits = [*(match.start() for match in matches), len(blanked)][1:]
    place, depth, complete = 0, 0, []
    for match, limit in zip(matches, limits, strict=True):
        depth += blanked.count("{", place, match.start()) - blanked.count("}", place, match.start())
        place = match.start()
        body = _body(blanked, closing, match.end() - 1, limit)
        if body is not None:
            end = closing.get(body, len(blanked) - 1) + 1
            complete.append(Definition(match[1], match.start(), body, end, depth))
    return complete


def without(source: str, pieces: Iterable[Definition]) -> str:
    """The source without these definitions, which may be nested."""
    parts, place = [], 0
    for piece in sorted(pieces, key=lambda piece: piece.start):
        parts.append(source[place : max(place, piece.start)])
        place = max(place, piece.end)
    return "".join(parts) + source[place:]


def missing_braces(blanked: str) -> int:
    """How many closing braces are missing at the end."""
    return max(0, blanked.count("{") - blanked.count("}"))


def _closing_braces(blanked: str) -> dict[int, int]:
    """Place of each opening brace → place of its closing brace."""
    opened: list[int] = []
    pairs = {}
    for match in _BRACE.finditer(blanked):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            pairs[opened.pop()] = match.start()
    return pairs


def _body(blanked: str, closing: dict[int, int], start: int, limit: int) -> int | None:
    """The brace that opens the body. Braces that close in the middle of a line belong to a type or an argument."""
    for place in _opening_braces(blanked, start, limit):
        after = closing.get(place, len(blanked) - 1) + 1
        line = blanked[after : after + 80].partition("\n")[0]
        if not line.strip(" \t;})") and ";" not in blanked[start:place]:
            return place
    return None


def _opening_braces(blanked: str, start: int, limit: int) -> Iterator[int]:
    place = blanked.find("{", start, limit)
    while place >= 0:
        yield place
        place = blanked.find("{", place + 1, limit)


_HEADERS = ("algorithm", "climits", "cstring", "iostream", "math.h", "stdio.h", "stdlib.h", "string", "vector")
_GO_FUNCTION = r"^func\s+(\w+)"
_JS_NAME = r"^(?:export\s+(?:default\s+)?)?(?:async\s+)?(?:const|let|var|function|class)\b\s*\*?\s*(\w+)"
_RUST_LETTER = r"'(?:\\(?:u\{[^}\n]*\}|[^\n])|[^'\\\n])'"
"""With its closing sign, because a lifetime begins with the same sign."""
_RUST_HEAD = r"^(?:[^\S\n]*#\[[^\n]*\][^\S\n]*\n){0,8}[^\S\n]*(?:pub(?:\([^)\n]*\))?\s+)?(?:(?:const|unsafe|async)\s+)*"

LANGUAGES = {
    "cpp": Language(
        fences=("cpp", "c++", "cxx", "cc", "c"),
        hidden=rf'{_COMMENT}|R"(\w{{0,16}})\((?s:.*?)(?:\)\1"|\Z)|{_TEXT}|{_LETTER}',
        function=_CALLABLE,
        unit=_CALLABLE,
        opening=r"#\s*include|using\s+namespace\s",
        front="".join(f"#include <{name}>\n" for name in _HEADERS),
    ),
    "go": Language(
        fences=("go", "golang"),
        hidden=rf"{_COMMENT}|{_RAW}|{_TEXT}|{_LETTER}",
        function=_GO_FUNCTION,
        unit=_GO_FUNCTION,
        opening=r"package\s|import\s",
        head="prompt",
        recipe="go_test",
    ),
    "java": Language(
        fences=("java",),
        hidden=rf'{_COMMENT}|"""(?s:.*?)(?:"""|\Z)|{_TEXT}|{_LETTER}',
        function=_CALLABLE,
        unit=r"^(?:[^\n(){};=#]*[^\S\n])?(?:class|interface|enum|record)[^\S\n]+(\w+)",
        opening=r"import\s[^\n]*;",
    ),
    "javascript": Language(
        fences=("javascript", "js", "node", "typescript"),
        hidden=rf"{_COMMENT}|{_RAW}|{_TEXT}|{_LETTER}",
        function=_JS_NAME,
        unit=_JS_NAME,
        opening=r"['\"]use strict['\"]|(?:const|let|var)\s[^\n=]*=\s*require\b",
    ),
    "rust": Language(
        fences=("rust", "rs"),
        hidden=rf'{_COMMENT}|\br(#{{0,9}})"(?s:.*?)(?:"\1|\Z)|"(?:\\(?s:.)|[^"\\])*"?|{_RUST_LETTER}',
        function=_RUST_HEAD + r"fn\s+(\w+)",
        unit=_RUST_HEAD + r"(?:fn|mod|struct|enum|trait)\s+(\w+)",
        opening=r"(?:pub\s+)?use\s[^;]*;|extern\s+crate\s[^;]*;",
        recipe="rust_test",
    ),
}
