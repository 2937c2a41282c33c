"""Instructions about something that a reply has to contain."""

import re

from model_accuracy_eval.scoring.ifeval.checker import Checker

_SHORTENED = {"P.S.": r"p\.\s?s\.", "P.P.S": r"p\.\s?p\.\s?s"}
"""Markers that may be written with blanks inside."""


def number_placeholders(reply: str, *, num_placeholders: int) -> bool:
    """[in brackets], each on one line."""
    return len(re.findall(r"\[.*?\]", reply)) >= num_placeholders


def postscript(reply: str, *, postscript_marker: str) -> bool:
    """Wherever it stands, and whatever follows it."""
    marker = postscript_marker.strip()
    pattern = _SHORTENED.get(marker) or re.escape(marker.lower())
    return re.search(pattern, reply.lower()) is not None


ROWS: dict[str, Checker] = {
    "detectable_content:number_placeholders": number_placeholders,
    "detectable_content:postscript": postscript,
}
