"""Instructions about how long a reply is, in words, sentences and paragraphs."""

import re

from model_accuracy_eval.scoring.ifeval.checker import Checker, Relation, fits
from model_accuracy_eval.scoring.ifeval.pieces import pieces
from model_accuracy_eval.scoring.ifeval.splitting import sentences


def number_words(reply: str, *, num_words: int, relation: Relation) -> bool:
    """Runs of letters and digits: it's is two, and a Chinese sentence is one."""
    return fits(len(re.findall(r"\w+", reply)), relation, num_words)


def number_sentences(reply: str, *, num_sentences: int, relation: Relation) -> bool:
    return fits(len(sentences(reply)), relation, num_sentences)


def number_paragraphs(reply: str, *, num_paragraphs: int) -> bool:
    """Exactly as many, with *** in between."""
    return len(pieces(reply, "***")) == num_paragraphs


def nth_paragraph_first_word(reply: str, *, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    """Exactly as many paragraphs with an empty line in between, and that one begins with the word.

    Empty paragraphs do not count among the paragraphs, but do where the n-th is looked for: so the original has it.
    """
    every = [paragraph.strip() for paragraph in reply.split("\n\n")]
    if len([paragraph for paragraph in every if paragraph]) != num_paragraphs or nth_paragraph > num_paragraphs:
        return False
    return _first_word(every[nth_paragraph - 1]) == first_word.lower()


def _first_word(paragraph: str) -> str:
    """Without quotation marks in front, and up to the first mark inside."""
    word = next(iter(paragraph.split()), "").lstrip("'").lstrip('"')
    return re.split(r"""[.,?!'"]""", word, maxsplit=1)[0].lower()


ROWS: dict[str, Checker] = {
    "length_constraints:number_words": number_words,
    "length_constraints:number_sentences": number_sentences,
    "length_constraints:number_paragraphs": number_paragraphs,
    "length_constraints:nth_paragraph_first_word": nth_paragraph_first_word,
}
