"""What IFEval's checkers are told in a comparison: obedient replies, near misses, chance, and malice."""

from collections.abc import Mapping
from random import Random
from typing import Any

from tests import following

HOSTILE = (
    "",
    " \n\t\n",
    "```",
    "```json\n```",
    "``````json\n{}\n``````",
    '```Json\n{"a": NaN}\n``````',
    '"' * 2,
    '"',
    "*" * 61,
    "* " * 40,
    "*\n" * 5 + "- \n*\n- so",
    "**a** * b * **c *d* e**\n***\n*f\ng*",
    "***\n***\nso\n***",
    "******so******so ******",
    "so******so\n******",
    "[[a] b] [] [c\nd] ]e[",
    "<<>> << >> <<>>>",
    "<<a\nb>> <c>>",
    "P. P. S so p.s P.S. p.p.s.",
    "my answer is yes. My answer is maybe.",
    "这是一个很短的回答，没有别的内容。是吗？好！",
    "ΑΥΤΗ ΕΙΝΑΙ ΜΙΑ ΑΠΑΝΤΗΣΗ. İSTANBUL ſtraße Kelvin",
    "a\u2028b\u2029c\u0085d\x1ce\u00a0f\u200bg\u3000h",
    "😀" * 9,
    "Dr. J. R. Smith et al. left at 5 p.m. in the U.S. He said: e.g. this . . . Really?! (Yes.) \"No.\" 'So.'",
    "CAN'T CANNOT GONNA U.S.A. A/B C--D (E) 'F' \"G.\" H.\n\nI... J,K 1ST É ß Ⅷ",
    "12345 67,890 !!! ??? ...",
    "[" * 600 + "]" * 600,
    "Section 1 SECTION 2Section3 section 4\nDay 1 Day  2 PARAGRAPH 1",
    "so\n\n\n\nso\n\n \n\nso",
)

FRAGMENTS = (
    " ", " ", " ", "\n", "\n\n", "\n* ", "\n- ", "***", "******", "*", "**", "[so]", "<<", ">>", "so", "So. ", "NO", "It's",
    "the", "Mr. ", "P.S. ", "P.P.S ", '"', "'", ",", ".", "!", "?", ":", "#", "1", "```", "{", "}", "SECTION 1", "Section 2",
    "Dr. ", "e.g. ", "U.S. ", "OK", "well-KNOWN", "that he was here and said it was so", "Qu'est-ce que c'est", "是",
)  # fmt: skip
CHANCES = 4
HOSTILE_A_ROW = 8
PLANNED = 6
"""The first replies of a row, which the figures are made of: these are neither all right nor all wrong."""


def replies(row: Mapping[str, Any]) -> list[str]:
    """Each as a model may say it: bare, introduced, with leave taken, in bold letters."""
    good = following.reply(row)
    wrapped = [
        f"Sure:\n{good}",
        f"{good}\nWell then, bye, JOE.",
        f"**Sure**\n{good}\n*Bye*",
        f"*{good}*",
        f"\n{good}\n",
    ]
    near = [following.reply(row, shift) for shift in (-1, 1)]
    chance = Random(row["key"])
    return [good, *near, *wrapped, *_by_chance(row, chance), *chance.sample(HOSTILE, HOSTILE_A_ROW)]


def _by_chance(row: Mapping[str, Any], chance: Random) -> list[str]:
    own = [text for given in row["kwargs"] for value in given.values() for text in _texts(value)]
    pieces = [*FRAGMENTS, *own * 4]
    return ["".join(chance.choices(pieces, k=chance.randint(3, 60))) for _ in range(CHANCES)]


def _texts(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [value] if isinstance(value, str) else []
