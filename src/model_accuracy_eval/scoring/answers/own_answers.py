"""Kinds of answers; and replies to own questions: the answer that a reply gives, and its spellings that mean the same.

What a reply marks or states is read as everywhere. What people write besides is a text alone on its line, and a
sentence that says it: "The capital is Paris." Such a sentence must not deny anything, and beside others it must speak
of what was asked. Where two readings differ, there is none, and the whole reply counts.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from model_accuracy_eval.records import NO_PROBLEM, MetricUse, Problem, Step
from model_accuracy_eval.scoring import maths
from model_accuracy_eval.scoring.answers import markers
from model_accuracy_eval.scoring.answers.letters import choice_letter
from model_accuracy_eval.scoring.answers.reader import what_is_said
from model_accuracy_eval.scoring.answers.stated_numbers import as_number, number_answer
from model_accuracy_eval.scoring.answers.stated_texts import maths_answer, short_answer

# What kind of answers a dataset has: the right answers themselves decide.


class AnswerKind(NamedTuple):
    """How replies are read and judged where nobody has said so."""

    name: str
    reading: str
    """What of a reply counts."""
    filter: Step
    metric: MetricUse


_EXACT = MetricUse(name="exact", label="accuracy")
_TEXT = MetricUse(name="exact", label="accuracy", args={"ignore_case": True, "ignore_blanks": True})
_NUMBERS = AnswerKind("number", "the number", Step(name="number_answer"), MetricUse(name="number", label="accuracy"))
_FORMULAS = AnswerKind(
    "formula", "the formula", Step(name="maths_answer"), MetricUse(name="math_equal", label="accuracy")
)
_TEXTS = AnswerKind("text", "the text", Step(name="short_answer", args={"whole": True}), _TEXT)
LETTERS = AnswerKind("letter", "the letter", Step(name="choice_letter"), _EXACT)
KINDS = {kind.name: kind for kind in (_NUMBERS, _FORMULAS, _TEXTS, LETTERS)}

_LATEX = re.compile(r"\\[A-Za-z]|\w\s*\^|^-?\d+/\d+$")
_MATHS = re.compile(r"[\d\\^=]")


@lru_cache(maxsize=4096)  # a right answer is looked at when its file is understood, and again with each row
def is_number(answer: str) -> bool:
    """Whether an answer is a number that is read as itself in a reply: of 10^5 another one would be read."""
    value = as_number(answer)
    return value is not None and value == as_number(number_answer(answer, NO_PROBLEM) or "")


def answer_kind(right_answers: Sequence[str]) -> AnswerKind:
    """Numbers, if every right answer is one; formulas, if LaTeX, powers or fractions occur and half of them or more are
    mathematics; else texts."""
    if all(map(is_number, right_answers)):
        return _NUMBERS
    if any(_LATEX.search(answer) for answer in right_answers):
        formulas = sum(bool(_MATHS.search(answer)) and maths.is_readable(answer) for answer in right_answers)
        if 2 * formulas >= len(right_answers):
            return _FORMULAS
    return _TEXTS


# Spellings that mean the same.


_PAIRS = (
    *((mark, mark) for mark in ("***", "**", "*", "_", "`", "```", '"', "'", "$$", "$")),
    *("«»", "‹›", "「」", "『』", "《》", "()", "[]", "{}", "<>"),
)
"""Curly quotes have become plain ones."""
_WRAPPED = re.compile(r"\\(?:boxed|text|textbf|mathrm|mbox)\s?\{(.*)\}", re.DOTALL)
_END = re.compile(
    r"\s*(?:[.,;:。．，、；：！？।؟…]|(?<=[^\W\d_]{2})[!?]|[\u2600-\u27bf\ufe0f\U0001f300-\U0001faff]"
    r"|, (?:of course|i think|i believe))+\Z"
)
_ARTICLE = re.compile(r"(?:the|an?|der|die|das|le|la|les|el|los|las)\s+(?=\w\w)|l['’](?=\w)")
_SIGNS = str.maketrans("‘’“”„–—‐‑‒−", '\'\'"""------')
UNSEEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
"""Marks of direction, of the beginning of a file, and blanks of no width, which are copied along with texts."""
_ASIDE = re.compile(r"\s+(?:\([^()]*\)|（[^（）]*）)\Z")


def plain(text: str) -> str:
    """A text without regard to case, blanks, and the sort of quotes and dashes."""
    text = UNSEEN.sub("", unicodedata.normalize("NFC", html.unescape(text))).translate(_SIGNS)
    return re.sub(r"\s+", " ", text).strip().casefold()


def spellings(text: str) -> set[str]:
    """The text, and without marks of emphasis, quotes, box, final punctuation and article, one after the other."""
    found: set[str] = set()
    rest = plain(text)
    while rest and rest not in found:
        found.add(rest)
        rest = _unwrapped(rest)
    return found | {_ARTICLE.sub("", one, count=1) for one in found if _ARTICLE.match(one)}


def _unwrapped(text: str) -> str:
    if end := _END.search(text):
        return text[: end.start()]
    if box := _WRAPPED.fullmatch(text):
        return box[1].strip()
    if text.startswith(("- ", "• ", "> ")):
        return text[2:].strip()
    for opening, closing in _PAIRS:
        inside = text[len(opening) : -len(closing)]
        if text == opening + inside + closing and not {opening, closing} & {inside[:1], inside[-1:]}:
            return inside.strip()
    return text


def means(text: str, right: str) -> bool:
    """Whether a text is a right answer as people mean it; what it says in brackets behind it makes no difference."""
    if len(text) > 2 * len(right) + _LONGEST:
        return False
    wanted = spellings(right)
    aside = _ASIDE.search(text)
    said = [text] if aside is None or _denies(aside[0]) else [text, text[: aside.start()].rstrip("*_")]
    number = as_number(right)
    return any(spellings(one) & wanted or (number is not None and as_number(one) == number) for one in said)


# The answer of a reply.


_YES_NO = re.compile(
    rf"[\W_]*({markers.any_of('yes')}|{markers.any_of('nay')}|true|false|wahr|falsch)"
    r"(?=[\W_]*\Z|[\W_]*[,.;:!。，—–\n])",
    re.IGNORECASE,
)
_IS = re.compile(
    r"(?<!\w)(?:is|are|was|were|equals|ist|sind|war|lautet|est|sont|était|es|son|fue|é|são|foi|è|sono|это)(?!\w)"
    r"|(?:(?<=\bit)|(?<=\bthat))['’]s\b|是|为|為|は",
    re.IGNORECASE,
)
_BESIDES = re.compile(
    r"[,;]? (?:because|since|rather than|weil|parce que|porque)\b.*"
    r"|[,;，] ?(?:not|and not|nicht|pas|which|who|where|as|known|so|而不是|不是|因为).*"
)
_PREPOSITION = re.compile(r"(?:on|in|at|called|named|(?:\w+\s)?by)\s+", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[^\W\d_]{2}[.!?])[*_\"'”’)]*\s+|(?<=[。！？])\s*|\n+")
_BETWEEN = re.compile(
    r"\b(?:the|an?|of|in|for|to|it|that|this|so|thus|therefore|hence|answer|final|correct|i|think|believe|be|s|"
    r"der|die|das|des|von|le|la|les|de|el|du|your|question)\b|[\W_]+"
)
_LONGEST = 60
_LONG = 1000
"""Characters of what is looked through for a denial."""


def _denies(sentence: str) -> bool:
    low = sentence.lower()
    marks = (markers.DENIED, markers.NOT_MEANT, markers.WITHDRAWN)
    return any(mark.search(low) for mark in marks) or " or " in low


def said_text(text: str, problem: Problem) -> str | None:
    """The text that the reply gives as its answer, else all of it."""
    rights = problem.references
    has_lines = any("\n" in right for right in rights)
    said = short_answer(text, problem, lines=has_lines, whole=True)
    if said is None or has_lines or any(means(said, right) for right in rights):
        return said
    if any(_YES_NO.fullmatch(right) for right in rights):
        found = _YES_NO.match(said)
        if found and not markers.WITHDRAWN.search(said.lower(), found.end()):
            return found[1]
    lines = [line.strip() for line in said.split("\n") if line.strip()]
    if len(lines) > 1:
        return _alone(lines, rights) or _stated(said, problem) or said
    return _stated(said, problem) or said


def _alone(lines: list[str], rights: tuple[str, ...]) -> str | None:
    """The last line, or the first where the last is no answer itself but a sentence."""
    first, last = lines[0], lines[-1]
    if any(means(last, right) for right in rights):
        return last
    is_sentence = len(last) > _LONGEST or len(last.split()) > 3 or last.endswith(("?", ":", "！", "!"))
    rest = "\n".join(lines[1:])
    if is_sentence and len(rest) < _LONG and not _denies(rest) and any(means(first, right) for right in rights):
        return first
    return None


def _stated(said: str, problem: Problem) -> str | None:
    """What a single sentence says, or those of several that speak of what was asked; none where they differ."""
    sentences = [one.strip() for one in _SENTENCE.split(said) if any(map(str.isalnum, one)) and len(one) < _LONG]
    asked = {*_words(problem.messages[-1].content)} if problem.messages else set()
    found = [
        (one, sides)
        for one in sentences
        if (sides := _sides(one, asked, alone=len(sentences) == 1 and len(said) < _LONG))
    ]
    if len({plain(sides[0]) for _, sides in found}) > 1 or not found:
        return None
    later = said[said.rfind(found[-1][0]) + len(found[-1][0]) :]
    if markers.WITHDRAWN.search(later.lower()):
        return None
    sides = found[-1][1]
    return next((side for side in sides if any(means(side, right) for right in problem.references)), sides[0])


def _sides(sentence: str, asked: set[str], *, alone: bool) -> tuple[str, ...]:
    """What stands behind the verb, and what stands before it if what follows only repeats the question."""
    said = _BESIDES.sub("", sentence)
    verbs = [*_IS.finditer(said)]
    if not verbs or _denies(said) or sentence.endswith(("?", "？")):
        return ()
    subject, complement = said[: verbs[-1].start()], said[verbs[-1].end() :].strip(" :：")
    sides = []
    if len(complement) <= _LONGEST and (alone or asked.issuperset(_words(subject))):
        sides += [complement, _PREPOSITION.sub("", complement, count=1)]
    repeated = {*_words(said[verbs[0].end() :])}
    if repeated and repeated <= asked and "," not in said:
        sides.append(said[: verbs[0].start()].strip())
    return tuple(sides)


def _words(text: str) -> Iterator[str]:
    """Its words but those that say nothing."""
    return (word for word in _BETWEEN.split(text.lower()) if word)


_BOLD = re.compile(r"\*\*[^*\n]{0,40}?([-−]?\d[\d.,]*)[^*\d\n]{0,20}\*\*")
_LEFT = re.compile(r"\s*([-−]?\d[\d.,]*)\s*=\s*[-−(]*\d[\d.,]*\s*[-+*/×·÷−^][^=]*")
_COMMA = re.compile(r"(?<![\d.,])(\d+),(\d{1,2})(?!\d|,|\.\d)")


def said_number(text: str, problem: Problem) -> str | None:
    """The number that the reply states; else the one in bold, else what a calculation is said to be, else its last."""
    if any("." in right for right in problem.references):
        text = _COMMA.sub(r"\1.\2", text)  # 3,14 as many languages write it
    stated = number_answer(text, problem, flexible=False)
    guess = stated or number_answer(text, problem)
    if stated or guess is None:
        return guess
    said = what_is_said(text, problem) or ""
    if re.search(rf"\b(?:not|isn['’]t|never)\s+[*$]*{re.escape(guess)}(?!\d)", said):
        return None
    bold = {one.rstrip(".,") for one in _BOLD.findall(said)}
    left = _LEFT.fullmatch(said.strip().rstrip("."))
    return bold.pop() if len(bold) == 1 else left[1] if left else guess


def said_whole(text: str, problem: Problem) -> str | None:
    """What the reply marks or states as its answer, else all of it."""
    return short_answer(text, problem, lines=any("\n" in right for right in problem.references), whole=True)


MATCHES = {
    "contains": "a reply is right that contains a right answer as whole words",
    "exact": "the answer has to be the right one letter by letter",
    "regex": "right answers are patterns, which a right reply has somewhere",
}
"""What a row or the user may say in place of what the right answer is."""
READINGS = {
    **{kind.name: kind.reading for kind in KINDS.values()},
    "exact": "the text letter by letter",
    "contains": "what the reply contains",
    "regex": "a pattern",
}
"""What of a reply counts, for people."""
_READERS: Mapping[str, Callable[[str, Problem], str | None]] = {
    "letter": choice_letter,
    "number": said_number,
    "formula": maths_answer,
    "text": said_text,
}


def kind_of(problem: Problem, match: str) -> str:
    """How an answer is compared. `match` does not change letters, nor what a row says itself."""
    kind: str = problem.extras["kind"]
    return kind if match == "auto" or kind == "letter" or kind in MATCHES else match


def own_answer(text: str, problem: Problem, *, match: str = "auto") -> str | None:
    """The answer of a reply to an own question: a letter, a number, a formula or a text, as the row's `kind` says;
    `match`: auto, contains, exact or regex."""
    return _READERS.get(kind_of(problem, match), said_whole)(text, problem)


@cache
def pattern_of(right: str) -> re.Pattern[str]:
    """/…/ and /…/i are how other tools write patterns."""
    slashes = _SLASHES.fullmatch(right.strip())
    return re.compile(slashes[1] if slashes else right, re.IGNORECASE if slashes and slashes[2] else 0)


_SLASHES = re.compile(r"/(.*)/(i?)", re.DOTALL)
