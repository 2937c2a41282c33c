"""The pairs of answers in docs/reference/maths.md: which are the same mathematics, and which are not."""

import re
from pathlib import Path
from typing import NamedTuple

AnswerPairs = tuple[tuple[str, str], ...]
"""Right answer, and an answer of a model."""

_PAGE = Path(__file__).parent.parent / "docs/reference/maths.md"
_ROW = re.compile(r"^\| (.*?) (?<!\\)\| (.*?) ?(?<!\\)\| (.*?) ?(?<!\\)\|$", re.MULTILINE)


class PairTopic(NamedTuple):
    """A section of the page."""

    name: str
    same: AnswerPairs
    different: AnswerPairs


def _topic(section: str) -> PairTopic:
    _, *rows = ([_codes(cell) for cell in row] for row in _ROW.findall(section))
    same = tuple((right[0], answer) for right, answers, _ in rows for answer in answers)
    different = tuple((right[0], answer) for right, _, answers in rows for answer in answers)
    return PairTopic(section.partition("\n")[0].lower(), same, different)


def _codes(cell: str) -> list[str]:
    return [code.replace("\\|", "|") for code in re.findall("`([^`]*)`", cell)]


TOPICS = tuple(map(_topic, _PAGE.read_text(encoding="utf-8").split("\n## ")[1:]))
