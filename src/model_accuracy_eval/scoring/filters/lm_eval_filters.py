"""lm-eval's filters that search a reply by pattern, with lm-eval's names and rules.

Where lm-eval writes "[invalid]" for a reply without an answer, these return None: not found, and counted as that.
Any other `fallback` is a text and is judged as one.
"""

import json
import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from string import ascii_uppercase

from model_accuracy_eval.records import Problem

INVALID = "[invalid]"
"""What lm-eval and its tasks write for an answer that was not found."""
HASHES = r"#### (\-?[0-9\.\,]+)"
"""The number behind GSM8K's four hashes: lm-eval's default pattern."""
_ENTITY_WORDS = {
    "PER": ("person", "people", "persons", "per"),
    "LOC": ("location", "counties", "places", "country", "continent", "loc"),
    "ORG": ("organization", "company", "org"),
    "DATE": ("time", "date"),
}
_LABEL_OF = {word: label for label, words in _ENTITY_WORDS.items() for word in words}
_ENTITY_WORD = re.compile(rf"\b({'|'.join(_LABEL_OF)})\s*:")
_ENTITIES = re.compile(rf"\b({'|'.join(_ENTITY_WORDS)}):\s*([^$]+)")
_TAGGED_WORD = re.compile(r"\('[^']*', '([^']*)'\)")


def regex(
    text: str,
    problem: Problem,
    *,
    regex_pattern: str = HASHES,
    group_select: int = 0,
    fallback: str | None = None,
    pattern: str | None = None,
    group: int = 1,
    take: str = "last",
) -> str | None:
    """The `group_select`th match of a pattern; if the pattern has several groups, the first one that is not empty.

    With `pattern` instead of `regex_pattern`: that `group` of the first or last match, line by line.
    """
    if pattern is not None:
        return _first_or_last_match(text, pattern, group, take)
    match = _select(re.findall(regex_pattern, text), group_select)
    return _fallback(fallback) if match is None else match


def _first_or_last_match(text: str, pattern: str, group: int, take: str) -> str | None:
    matches = list(re.finditer(pattern, text, re.MULTILINE))
    if not matches:
        return None
    answer: str | None = matches[-1 if take == "last" else 0].group(group)
    return None if answer is None else answer.strip()


def _select(matches: Sequence[str | tuple[str, ...]], place: int) -> str | None:
    """None without a match at this place, and where all groups of the match are empty."""
    if not -len(matches) <= place < len(matches):
        return None
    match = matches[place]
    answer = match if isinstance(match, str) else next(filter(None, match), None)
    return None if answer is None else answer.strip()


def _fallback(text: str | None) -> str | None:
    return None if text == INVALID else text


def multi_choice_regex(
    text: str,
    problem: Problem,
    *,
    regex_pattern: str = HASHES,
    group_select: int = 0,
    fallback: str | None = None,
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    regexes_to_ignore: Sequence[str] = (),
) -> str | None:
    """A letter in brackets: as the pattern finds it, else the letter of the option whose text occurs, else the one
    after a colon."""

    def plain(text: str) -> str:
        for ignored in regexes_to_ignore or ():
            text = re.sub(ignored, "", text)
        text = text.lower() if ignore_case else text
        return text.translate(_punctuation()) if ignore_punctuation else text

    letters = {letter: f"({letter})" for letter in ascii_uppercase[: len(problem.choices)]}
    options = {plain(choice.strip()): name for choice, name in zip(problem.choices, letters.values(), strict=False)}
    # The longest option goes first: "Guilty" must not be found inside "Guilty of Romance".
    any_option = "|".join(map(re.escape, sorted(options, key=len, reverse=True)))
    answer = (
        _select(re.findall(regex_pattern, text), group_select)
        or _letter_of(_select(re.findall(any_option, plain(text)), group_select), options)
        or _letter_of(_select(re.findall(rf":\s*({'|'.join(letters)})", text), group_select), letters)
    )
    return answer or _fallback(fallback)


def _letter_of(match: str | None, letters: Mapping[str, str]) -> str | None:
    return letters.get(match, match) if match else None


@cache
def _punctuation() -> dict[int, None]:
    """Every character that Unicode calls punctuation, for `str.translate`."""
    return dict.fromkeys(place for place in range(sys.maxunicode) if unicodedata.category(chr(place)).startswith("P"))


def first_token(text: str, problem: Problem) -> str | None:
    """The first word."""
    return next(iter(text.split(maxsplit=1)), None)


def format_span(text: str, problem: Problem) -> str:
    """Named entities as `per: ada $ loc: kenya`, each behind its own label; `none` is left out."""
    labelled = _ENTITY_WORD.sub(lambda word: f"{_LABEL_OF[word[1]]}:", text.lower())
    separated = labelled.replace("$$", "$").rstrip("$").replace("\n", "$").strip()
    entities = (
        (label.lower(), name.strip()) for label, names in _ENTITIES.findall(separated) for name in names.split(",")
    )
    return " $ ".join(f"{label}: {name}" for label, name in entities if name.lower() != "none")


def regex_pos(text: str, problem: Problem) -> str | None:
    """The part-of-speech tags of pairs such as `('Ada', 'PROPN')`, as a JSON list."""
    tags = _TAGGED_WORD.findall(text)
    return json.dumps(tags) if tags else None
