"""Sentences and words as NLTK splits English, or as Multi-IF splits Chinese and Hindi, and the language of a text as
langdetect finds it.

NLTK would download the tables of its Punkt tokenizer; here they come from a package that carries the same values.
"""

import re
from collections import defaultdict
from functools import cache, lru_cache
from typing import Any

from model_accuracy_eval import extras


@cache
def _punkt() -> Any:
    nltk = extras.load("nltk")
    tables = extras.load("punkt.data.english")
    parameters = nltk.tokenize.punkt.PunktParameters()
    parameters.abbrev_types = set(tables.ABBREV_TYPES)
    parameters.sent_starters = set(tables.SENT_STARTERS)
    parameters.collocations = set(tables.COLLOCATIONS)
    parameters.ortho_context = defaultdict(int, tables.ORTHO_CONTEXT)
    return nltk.tokenize.punkt.PunktSentenceTokenizer(parameters)


@cache
def _treebank() -> Any:
    nltk = extras.load("nltk")
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
    langdetect = extras.load("langdetect")
    factory = langdetect.detector_factory.DetectorFactory()
    factory.load_profile(langdetect.detector_factory.PROFILES_DIRECTORY)
    factory.set_seed(0)
    return factory


# Four metrics look at one reply in up to eight forms.
@lru_cache(maxsize=64)
def language(text: str) -> str | None:
    """The language code, such as `en` or `zh-cn`; None for a text without letters."""
    langdetect = extras.load("langdetect")
    detector = _factory().create()
    detector.append(text)
    try:
        return str(detector.detect())
    except langdetect.LangDetectException:
        return None


_CHARACTER = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
"""Of Chinese, Japanese and Korean: each counts as a word."""
_NO_WORD = re.compile(r"""[\\.!?．/_,{}<>:;$%^&*(+"'—！，。？、`~@#￥…（）：；《》“”)\[\]»〔〕\-「」]""")
_CHINESE_SENTENCE = re.compile(r"[^!?。.！？．\n]+")
_HINDI_END = re.compile(r"(?<=[।!?])\s*")


def chinese_words(text: str) -> int:
    """Characters, runs of letters between them, and emoji. Punctuation is nothing, so `3.5` is one."""
    emoji = extras.load("emoji")
    text = _NO_WORD.sub("", text)
    symbols = int(emoji.emoji_count(text))
    text = emoji.replace_emoji(text, "")
    return len(_CHARACTER.findall(text)) + len(_CHARACTER.sub(" ", text).split()) + symbols


def chinese_sentences(text: str) -> int:
    """Also without a mark at the end of a line; a decimal point ends one."""
    return sum(len(_CHINESE_SENTENCE.findall(line.strip())) for line in text.splitlines())


def hindi_sentences(text: str) -> int:
    return sum(1 for sentence in _HINDI_END.split(text) if sentence.strip())
