"""Answers by pattern: the filters of lm-eval that search a reply, with its rules and its names.

Where lm-eval puts "[invalid]" for a reply in which nothing was found, this has None: not found, and counted as that.
Any other `fallback` is a text, and judged as one.
"""

import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from string import ascii_uppercase

from model_accuracy_eval.records import Problem

INVALID = "[invalid]"
"""What lm-eval and its tasks write for an answer that was not found."""
_HASHES = r"#### (\-?[0-9\.\,]+)"


def regex(
    text: str,
    problem: Problem,
    *,
    regex_pattern: str = _HASHES,
    group_select: int = 0,
    fallback: str | None = None,
    pattern: str | None = None,
    group: int = 1,
    take: str = "last",
) -> str | None:
    """What a pattern finds: the `group_select`th match, of several groups the first that is not empty.

    With `pattern` instead of `regex_pattern`: that `group` of the first or last match, line by line.
    """
    if pattern is not None:
        return _one_match(text, pattern, group, take)
    found = _select(re.findall(regex_pattern, text), group_select)
    return _fallback(fallback) if found is None else found


def _one_match(text: str, pattern: str, group: int, take: str) -> str | None:
    matches = list(re.finditer(pattern, text, re.MULTILINE))
    if not matches:
        return None
    found: str | None = matches[-1 if take == "last" else 0].group(group)
    return None if found is None else found.strip()


def _select(matches: Sequence[str | tuple[str, ...]], place: int) -> str | None:
    """None without a match, and where all groups of the match are empty. A place beyond the matches finds nothing."""
    if not -len(matches) <= place < len(matches):
        return None
    match = matches[place]
    found = match if isinstance(match, str) else next(filter(None, match), None)
    return None if found is None else found.strip()


def _fallback(text: str | None) -> str | None:
    return None if text == INVALID else text


def multi_choice_regex(
    text: str,
    problem: Problem,
    *,
    regex_pattern: str = _HASHES,
    group_select: int = 0,
    fallback: str | None = None,
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    regexes_to_ignore: Sequence[str] = (),
) -> str | None:
    """A letter in brackets: as the pattern finds it, else by an option's wording, else behind a colon."""

    def plain(said: str) -> str:
        for ignored in regexes_to_ignore or ():
            said = re.sub(ignored, "", said)
        said = said.lower() if ignore_case else said
        return said.translate(_punctuation()) if ignore_punctuation else said

    letters = {letter: f"({letter})" for letter in ascii_uppercase[: len(problem.choices)]}
    wordings = {plain(choice.strip()): name for choice, name in zip(problem.choices, letters.values(), strict=False)}
    # The longest wording goes first: "Guilty" must not be found inside "Guilty of Romance".
    worded = "|".join(map(re.escape, sorted(wordings, key=len, reverse=True)))
    found = (
        _select(re.findall(regex_pattern, text), group_select)
        or _named(_select(re.findall(worded, plain(text)), group_select), wordings)
        or _named(_select(re.findall(rf":\s*({'|'.join(letters)})", text), group_select), letters)
    )
    return found or _fallback(fallback)


def _named(found: str | None, names: Mapping[str, str]) -> str | None:
    return names.get(found, found) if found else None


@cache
def _punctuation() -> dict[int, None]:
    """Every character that Unicode calls punctuation, for `str.translate`."""
    return dict.fromkeys(place for place in range(sys.maxunicode) if unicodedata.category(chr(place)).startswith("P"))


def first_token(text: str, problem: Problem) -> str | None:
    """The first word."""
    return next(iter(text.split(maxsplit=1)), None)
