"""Instructions about capital and small letters."""

from model_accuracy_eval.scoring.ifeval.checker import Checker, Relation, fits
from model_accuracy_eval.scoring.ifeval.detection import language
from model_accuracy_eval.scoring.ifeval.splitting import words


def english_capital(reply: str) -> bool:
    return reply.isupper() and _english(reply)


def english_lowercase(reply: str) -> bool:
    return reply.islower() and _english(reply)


def _english(reply: str) -> bool:
    """What has no letters to tell a language by is none other."""
    return language(reply) in {"en", None}


def capital_word_frequency(reply: str, *, capital_frequency: int, capital_relation: Relation) -> bool:
    """Words without a small letter; one with hyphens is one, and CAN'T are two."""
    return fits(sum(word.isupper() for word in words(reply)), capital_relation, capital_frequency)


ROWS: dict[str, Checker] = {
    "change_case:english_capital": english_capital,
    "change_case:english_lowercase": english_lowercase,
    "change_case:capital_word_frequency": capital_word_frequency,
}
