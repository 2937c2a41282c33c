"""Sentences and words as NLTK splits English, and the language of a text as langdetect finds it.

NLTK would download the tables of its Punkt tokenizer; here they come from a package that carries the same values.
"""

from collections import defaultdict
from functools import cache, lru_cache
from typing import Any

from model_accuracy_eval.optional import langdetect, nltk, punkt


@cache
def _punkt() -> Any:
    tables = punkt.data.english
    parameters = nltk.tokenize.punkt.PunktParameters()
    parameters.abbrev_types = set(tables.ABBREV_TYPES)
    parameters.sent_starters = set(tables.SENT_STARTERS)
    parameters.collocations = set(tables.COLLOCATIONS)
    parameters.ortho_context = defaultdict(int, tables.ORTHO_CONTEXT)
    return nltk.tokenize.punkt.PunktSentenceTokenizer(parameters)


@cache
def _treebank() -> Any:
    return nltk.tokenize.NLTKWordTokenizer()


@lru_cache(maxsize=64)
def sentences(text: str) -> tuple[str, ...]:
    return tuple(_punkt().tokenize(text))


def words(text: str) -> list[str]:
    """Tokens of the Penn Treebank, sentence by sentence: punctuation marks are tokens too, and "can't" is two."""
    return [word for sentence in sentences(text) for word in _treebank().tokenize(sentence)]


@cache
def _factory() -> Any:
    """A factory with a fixed seed: the library draws at random, and a reply's verdict must not change."""
    factory = langdetect.detector_factory.DetectorFactory()
    factory.load_profile(langdetect.detector_factory.PROFILES_DIRECTORY)
    factory.set_seed(0)
    return factory


# Four metrics look at one reply in up to eight forms.
@lru_cache(maxsize=64)
def language(text: str) -> str | None:
    """The language code, such as `en` or `zh-cn`; None for a text without letters."""
    detector = _factory().create()
    detector.append(text)
    try:
        return str(detector.detect())
    except langdetect.LangDetectException:
        return None
