"""The fixed words of page, comment and terminal in the language of their reader. One table has them: English, Chinese.

Code has the English words; a sentence with figures is one template. Gates and notes are whole sentences when they get
here, in English as the run's files have them: the table's second part has the templates that they fit. What data sets
and models say is as it is.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from itertools import chain, zip_longest

from msgspec.structs import replace

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import GateResult, Report
from model_accuracy_eval.run_folder.runfile import GateEntry

_LANGUAGES = ("en", "zh")
_SENTENCES = "# Sentences"
_chosen = {"language": "en"}


def use(language: str) -> None:
    """From now on words are of this language."""
    if language not in _LANGUAGES:
        raise UnknownName("language", language, _LANGUAGES)
    _chosen["language"] = language


@contextmanager
def reading(language: str) -> Iterator[None]:
    """While entered, words are of this language."""
    before = _chosen["language"]
    use(language)
    try:
        yield
    finally:
        use(before)


def language() -> str:
    return _chosen["language"]


@cache
def chinese() -> Mapping[str, str]:
    """The table: what is said in English → the same in Chinese."""
    return _rows(_table().partition(_SENTENCES)[0])


@cache
def chinese_sentences() -> Mapping[str, str]:
    """Its second part, in which the first template that fits counts."""
    return _rows(_table().partition(_SENTENCES)[2].partition("\n")[2])


def _table() -> str:
    return files("model_accuracy_eval.report").joinpath("chinese.tsv").read_text("utf-8")


def _rows(text: str) -> Mapping[str, str]:
    return dict(line.split("\t") for line in text.splitlines() if line and not line.startswith("# "))


def say(english: str, **values: object) -> str:
    """Fixed words; `{name}` in them stands for a value."""
    text = english if language() == "en" else chinese().get(english, english)
    return text.format(**values) if values else text


@cache
def _patterns() -> Sequence[tuple[re.Pattern[str], str]]:
    def pattern(english: str) -> re.Pattern[str]:
        words = map(re.escape, _NAMED.split(english)[::2])
        names = (f"(?P<{name}>{'.*?' if name in _WHOLE else _PART})" for name in _NAMED.findall(english))
        return re.compile("".join(chain.from_iterable(zip_longest(words, names, fillvalue=""))), re.DOTALL)

    return [(pattern(english), told) for english, told in chinese_sentences().items()]


_WHOLE, _PART = {"_next", "_more", "first", "doubt"}, r"(?:(?!\. ).)*?"
"""Values that may be several sentences; the others end with theirs."""
_NAMED = re.compile(r"\{(\w+)\}")


def sentence(text: str) -> str:
    """A sentence of a gate or a note, or a part of one; as it is if no template fits it."""
    if language() == "en" or not text:
        return text
    for pattern, told in _patterns():
        if found := pattern.fullmatch(text.strip()):
            values = found.groupdict().items()
            return told.format(**{name: sentence(value) if name[0] == "_" else value for name, value in values})
    return text


def with_gates(ending: str, results: Iterable[GateResult | GateEntry]) -> str:
    """What a run came to, in which its gates have their sentences."""
    for result in results:
        ending = ending.replace(result.sentence, sentence(result.sentence))
    return ending


def of_report(report: Report) -> Report:
    """The report with its sentences in the language of its reader."""
    if language() == "en":
        return report
    ending = with_gates(report.outcome.sentence, report.gates)
    return replace(
        report,
        outcome=replace(report.outcome, sentence=ending),
        gates=tuple(replace(gate, sentence=sentence(gate.sentence)) for gate in report.gates),
        dataset_results=tuple(
            replace(result, notes=tuple(map(sentence, result.notes))) for result in report.dataset_results
        ),
    )


_IN_SCRIPTS = re.compile(r'\bsay(?:With)?\(\s*"((?:[^"\\]|\\.)+)"')


def of_scripts(source: str) -> dict[str, str]:
    """The words that scripts show, as they take them; none in English, which they have."""
    words = chinese() if language() != "en" else {}
    return {english: words[english] for english in _IN_SCRIPTS.findall(source) if english in words}
