"""Instructions about the form that a reply is written in."""

import json
import re
from collections.abc import Iterator

from model_accuracy_eval.scoring.ifeval.checker import Checker

_BULLETS = (re.compile(r"^\s*\*[^*].*", re.MULTILINE), re.compile(r"^\s*-.*", re.MULTILINE))
_HIGHLIGHTS = (re.compile(r"\*([^\n*]*)\*"), re.compile(r"\*\*([^\n*]*)\*\*"))
_TITLE = re.compile(r"<<[^\n]+>>")
_OPENINGS = ("```json", "```Json", "```JSON", "```")
_OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


def number_bullet_lists(reply: str, *, num_bullets: int) -> bool:
    """Exactly as many lines that begin with one asterisk or with a dash."""
    return sum(len(bullet.findall(reply)) for bullet in _BULLETS) == num_bullets


def number_highlighted_sections(reply: str, *, num_highlights: int) -> bool:
    """At least as many texts between single or double asterisks, each on one line."""
    return sum(1 for _ in _highlights(reply)) >= num_highlights


def _highlights(reply: str) -> Iterator[str]:
    return (text for form in _HIGHLIGHTS for text in form.findall(reply) if text.strip())


def multiple_sections(reply: str, *, section_spliter: str, num_sections: int) -> bool:
    """At least as many headings with a number, such as `Section 1`, wherever they stand."""
    return len(re.findall(rf"{re.escape(section_spliter.strip())}\s?\d+", reply)) >= num_sections


def title(reply: str) -> bool:
    """<<in double angular brackets>>, on one line."""
    return any(found.lstrip("<").rstrip(">").strip() for found in _TITLE.findall(reply))


def json_format(reply: str) -> bool:
    """The whole is one JSON value, in a fence or without."""
    text = reply.strip()
    for opening in _OPENINGS:
        text = text.removeprefix(opening)
    try:
        json.loads(text.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


def constrained_response(reply: str) -> bool:
    """One of the three answers is in it."""
    return any(option in reply for option in _OPTIONS)


ROWS: dict[str, Checker] = {
    "detectable_format:number_bullet_lists": number_bullet_lists,
    "detectable_format:number_highlighted_sections": number_highlighted_sections,
    "detectable_format:multiple_sections": multiple_sections,
    "detectable_format:title": title,
    "detectable_format:json_format": json_format,
    "detectable_format:constrained_response": constrained_response,
}
