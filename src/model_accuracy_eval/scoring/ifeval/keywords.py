"""Instructions about words and letters that have to be there, or must not. Upper and lower case are one."""

import re
from collections.abc import Sequence

from model_accuracy_eval.scoring.ifeval.checker import Checker, Relation, fits


def existence(reply: str, *, keywords: Sequence[str]) -> bool:
    """Each is somewhere, inside of longer words too."""
    return all(_times(keyword, reply) for keyword in keywords)


def frequency(reply: str, *, keyword: str, frequency: int, relation: Relation) -> bool:
    """Inside of longer words too."""
    return fits(_times(keyword.strip(), reply), relation, frequency)


def forbidden_words(reply: str, *, forbidden_words: Sequence[str]) -> bool:
    """None is there as a word of its own."""
    return not any(re.search(rf"\b{re.escape(word)}\b", reply, re.IGNORECASE) for word in forbidden_words)


def letter_frequency(reply: str, *, letter: str, let_frequency: int, let_relation: Relation) -> bool:
    """Of any character: two prompts ask for # and for !."""
    return fits(reply.lower().count(letter.strip().lower()), let_relation, let_frequency)


def _times(keyword: str, reply: str) -> int:
    return len(re.findall(re.escape(keyword), reply, re.IGNORECASE))


ROWS: dict[str, Checker] = {
    "keywords:existence": existence,
    "keywords:frequency": frequency,
    "keywords:forbidden_words": forbidden_words,
    "keywords:letter_frequency": letter_frequency,
}
