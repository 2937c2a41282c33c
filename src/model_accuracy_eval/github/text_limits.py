"""Text that fits GitHub's limits: cut at a line, open blocks closed, a notice of what is missing. Pure."""

import re

ELLIPSIS = "…"

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$", re.MULTILINE)
_DETAILS = re.compile(r"<(/?)details\b", re.IGNORECASE)
_DEEPEST = 50
_SPARE = 400
"""Bytes kept for the notice and for closing what the cut left open."""


def clean(text: str) -> str:
    """Without lone surrogates and NUL, which models do write and GitHub does not accept."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")


def cut_characters(text: str, limit: int) -> str:
    """One line of at most `limit` characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + ELLIPSIS


def cut_bytes(text: str, limit: int) -> str:
    """Markdown of at most `limit` bytes: GitHub counts bytes, not characters."""
    text = clean(text)
    data = text.encode()
    if len(data) <= limit:
        return text
    beginning = data[: max(0, limit - _SPARE)].decode("utf-8", "ignore")
    # At the end of a line, unless that would cost most of the text.
    end = beginning.rfind("\n")
    if end > len(beginning) // 2:
        beginning = beginning[:end]
    missing = len(data) - len(beginning.encode())
    notice = (
        f"\n\n{ELLIPSIS} cut here: {missing:,} of {len(data):,} bytes did not fit in GitHub's limit of {limit:,}.\n"
    )
    result = beginning + closing_marks(beginning) + notice
    if len(result.encode()) <= limit:
        return result
    # For a limit without room for a notice, and for text that opens more than can be closed.
    return data[: max(0, limit - len(ELLIPSIS.encode()))].decode("utf-8", "ignore") + ELLIPSIS


def closing_marks(beginning: str) -> str:
    """What closes the code blocks and folded sections of a beginning, so that text after it is not inside them."""
    fence = ""
    for mark, info in _FENCE.findall(beginning):
        if not fence:
            fence = mark
        elif mark.startswith(fence) and not info.strip():
            fence = ""
    depth = 0
    for slash in _DETAILS.findall(beginning):
        depth = max(0, depth - 1) if slash else depth + 1
    pre = "\n</pre>" if beginning.count("<pre>") > beginning.count("</pre>") else ""
    return (f"\n{fence}" if fence else "") + pre + "\n</details>" * min(depth, _DEEPEST)
