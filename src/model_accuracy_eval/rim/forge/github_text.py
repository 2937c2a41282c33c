"""Text that fits GitHub's limits: cut at a line, what was open closed, a notice of what is missing. Pure."""

import re

ELLIPSIS = "…"

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$", re.MULTILINE)
_DETAILS = re.compile(r"<(/?)details\b", re.IGNORECASE)
_SPARE = 400
"""Bytes kept for the notice and for closing what the cut left open."""


def clean(text: str) -> str:
    """Without half characters and NUL, which models do say and GitHub does not take."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")


def cut_characters(text: str, limit: int) -> str:
    """One line of at most `limit` characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + ELLIPSIS


def cut_bytes(text: str, limit: int) -> str:
    """Markdown of at most `limit` bytes: GitHub counts bytes, and so must who wants all of it to be taken."""
    text = clean(text)
    data = text.encode()
    if len(data) <= limit:
        return text
    kept = data[: max(0, limit - _SPARE)].decode("utf-8", "ignore")
    # A whole line, unless that would cost most of the text.
    end = kept.rfind("\n")
    if end > len(kept) // 2:
        kept = kept[:end]
    missing = len(data) - len(kept.encode())
    notice = (
        f"\n\n{ELLIPSIS} cut here: {missing:,} of {len(data):,} bytes did not fit in GitHub's limit of {limit:,}.\n"
    )
    fitting = kept + _closing(kept) + notice
    return fitting if len(fitting.encode()) <= limit else _bare(data, limit)


def _bare(data: bytes, limit: int) -> str:
    """For limits that no notice fits in, and texts that open more than can be closed."""
    return data[: max(0, limit - len(ELLIPSIS.encode()))].decode("utf-8", "ignore") + ELLIPSIS


def _closing(kept: str) -> str:
    """What must follow so that the notice is not swallowed by a code block or a folded section."""
    fence = ""
    for mark, info in _FENCE.findall(kept):
        if not fence:
            fence = mark
        elif mark.startswith(fence) and not info.strip():
            fence = ""
    depth = 0
    for closing in _DETAILS.findall(kept):
        depth = max(0, depth - 1) if closing else depth + 1
    return (f"\n{fence}" if fence else "") + "\n</details>" * depth
