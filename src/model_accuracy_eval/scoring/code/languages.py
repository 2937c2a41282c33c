"""What has to be known of a language to put a reply together with a task's head and tests."""

from typing import NamedTuple

_COMMENT = r"//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)"
_TEXT = r'"(?:\\.|[^"\\\n])*"?'
_LETTER = r"'(?:\\.|[^'\\\n])*'?"
_RAW = r"`[^`]*`?"
_CALLABLE = (
    r"^(?:[^\n(){};=#]*[\s*&])?(?!(?:if|for|while|switch|catch)\b)(\w+)[^\S\n]*"
    r"\((?:[^{};\n]|\n(?!\n)){0,500}\)[\w\s,]{0,80}\{"
)


class Language(NamedTuple):
    """The patterns are for `shading`; lines that match `opening` stand first in any file."""

    fences: tuple[str, ...]
    hidden: str
    function: str
    unit: str
    """What a file defines at its top: functions, in most languages."""
    opening: str
    front: str = ""
    """What the published runner puts in front of every program."""
    head: str = "declaration"
    """The column that an answer goes on with."""
    recipe: str = ""
    """The sandbox's word for how it is run, where this is not the language's own name."""


_HEADERS = ("algorithm", "climits", "cstring", "iostream", "math.h", "stdio.h", "stdlib.h", "string", "vector")
_GO_FUNCTION = r"^func\s+(\w+)"
_JS_NAME = r"^(?:export\s+(?:default\s+)?)?(?:async\s+)?(?:const|let|var|function|class)\b\s*\*?\s*(\w+)"
_RUST_LETTER = r"'(?:\\(?:u\{[^}\n]*\}|[^\n])|[^'\\\n])'"
"""Closed, because a lifetime begins with the same sign."""
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
