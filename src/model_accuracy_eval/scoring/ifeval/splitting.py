"""Sentences and words as NLTK splits English: by Punkt, with the tables that it learnt from the Wall Street Journal.

NLTK would fetch these tables from the network; here they come from a package that carries the same values.
"""

from collections import defaultdict
from functools import cache, lru_cache
from typing import Any

from model_accuracy_eval.scoring.ifeval.detection import EXTRA
from model_accuracy_eval.scoring.libraries import library


@cache
def _punkt() -> Any:
    learnt = library("punkt.data.english", EXTRA)
    punkt = library("nltk.tokenize.punkt", EXTRA)
    parameters = punkt.PunktParameters()
    parameters.abbrev_types = set(learnt.ABBREV_TYPES)
    parameters.sent_starters = set(learnt.SENT_STARTERS)
    parameters.collocations = set(learnt.COLLOCATIONS)
    parameters.ortho_context = defaultdict(int, learnt.ORTHO_CONTEXT)
    return punkt.PunktSentenceTokenizer(parameters)


@cache
def _treebank() -> Any:
    return library("nltk.tokenize", EXTRA).NLTKWordTokenizer()


@lru_cache(maxsize=64)
def sentences(text: str) -> tuple[str, ...]:
    return tuple(_punkt().tokenize(text))


def words(text: str) -> list[str]:
    """As the Penn Treebank has them, sentence by sentence: marks are words too, and can't are two."""
    return [word for sentence in sentences(text) for word in _treebank().tokenize(sentence)]
