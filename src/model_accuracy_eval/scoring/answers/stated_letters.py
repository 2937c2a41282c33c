r"""A reply → the letter of the option that it states as its answer.

What states an answer comes in four strengths: "the answer is B" and \boxed{B}; "I choose B"; "B is correct"; B alone
on a line, or at the start of lines. The strongest that occurs decides, and of its statements the last one. It decides
for no answer, too: "A or B" states none, and "not A" takes A back.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from model_accuracy_eval.records import Problem

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WITHOUT_OPTIONS = 10
"""How many letters count where the options are not known; X in "ANSWER: X" is a placeholder."""

_GO_ON = "and|as|because|but|by|due|for|given|if|in|is|not|or|rather|since|so|was|which|with"
"""Words that may follow a bare A or I; before any other word they are the article and the pronoun."""
_NUMERALS = r"(?:[ \t]+(?:and|or)|,)[ \t]+[IVX]{2,}"
# Repetitions are bounded: a reply of ten thousand asterisks must not take minutes to read.
_OPENED = (
    r"[\s*_:：=>\"'`$\\(\[（]{0,8}(?:(?:boxed|text|textbf|mathrm|mathbf)\{[\s\\]{0,2}){0,3}"
    rf"[\s*_(\[（]{{0,4}}(?P<letter>[B-HJ-Z]|[AI](?![ \t]+(?!(?:{_GO_ON})\b)[a-z]|{_NUMERALS}))"
    r"(?![A-Za-z0-9+#]|['’][a-z])"
)
_CLOSED = r"[*_)\]）}$\\\"'`]{0,8}"
_FILLERS = (
    r"(?P<fillers>(?:[\s*_:：]{1,8}(?i:most|more|likely|probably|clearly|therefore|thus|hence|indeed|actually|definitely|"
    r"simply|still|then|option|choice|letter|not|neither|either|both|between|among)\b){0,4})"
)


def _statement(announcement: str) -> re.Pattern[str]:
    return re.compile(rf"(?P<before>{announcement}){_FILLERS}{_OPENED}")


_ANSWERED = _statement(
    r"(?i:\b(?<!incorrect[ ])(?<!wrong[ ])(?:answer|(?:correct|right|best|final)[ ]+(?:option|choice|letter))\b"
    r"(?:[^.:：\n]{0,60}?\b(?:is|be|isn['’]t)\b)?)"
    r"|答案[\s*_]{0,4}(?:不(?:应该?)?是|应该是|是|为)?[\s:：]{0,4}(?:选项?)?|\\(?=boxed\{)"
    # As GSM8K ends its solutions. Elsewhere it begins a heading of Markdown.
    r"|(?<!#)####(?=[ \t]{0,8}[*_(\[]{0,3}[A-Z][*_)\].]{0,3}\s{0,8}\Z)"
)
_CHOSEN = _statement(
    r"(?i:\b(?:choose|chose|pick|select|going[ ]with|go[ ]with)\b(?:[ ]the\b)?)|不?选(?:择)?(?:选项|(?!项))"
)
_CALLED_RIGHT = re.compile(
    rf"(?<![A-Za-z])[*_(\[（]{{0,4}}(?P<letter>[A-Z]){_CLOSED}[ ]{{0,2}}"
    r"(?:(?i:is|seems|(?:must|should|would)[ ]be)[ ](?i:the[ ])?(?i:most[ ])?"
    r"(?i:correct|right|best|appropriate|accurate|answer)\b|(?:选?项)?(?:是|为)?正确)"
)
_ALONE = re.compile(
    r"^(?:(?i:option|choice)[ ])?[ \t*_(\[（$]{0,8}(?P<letter>[A-Z])[ \t*_)\]）.。:：$]{0,8}\r?$", re.MULTILINE
)
_LEADING = re.compile(r"^[ \t*_(\[（]{0,8}(?P<letter>[A-Z])(?:[)\]）.:：*_]|,(?!\s?[A-Z]\b))", re.MULTILINE)
_MENTIONED = re.compile(rf"(?i:\b(?:option|choice)\b|选项){_OPENED}")

_DENIED_BEFORE = re.compile(r"\b(?:not|neither|nor|cannot|never)\b|n['’]t\b|不", re.IGNORECASE)
_SEVERAL_BEFORE = re.compile(r"\b(?:either|both|between|among)\b", re.IGNORECASE)
_DENIED_AFTER = re.compile(
    rf"{_CLOSED}[ ]{{0,2}}(?:(?:is|are|was|would[ ]be|can[ ]be|may[ ]be)[ ]+(?:also[ ]+)?"
    r"(?:wrong|incorrect|not|false|eliminated|excluded|ruled[ ]out)\b|isn['’]t\b|cannot\b|can['’]t\b|不(?!选)|错)",
    re.IGNORECASE,
)
_NEXT = re.compile(
    rf"{_CLOSED}[ \t]{{0,2}}"
    r"(?:(?P<comma>[,，;；])|(?:,[ ]?)?(?:and/or|or|and)\b|[/&+、]|或者?|还是|以?及|和|与|(?<=[)\]）]))"
    rf"(?:[ \t]{{0,2}}(?i:possibly|perhaps|maybe|even|option|choice|letter)\b,?){{0,2}}{_OPENED}"
)
_LIST_GOES_ON = re.compile(rf"{_CLOSED}[ \t]{{0,2}}(?:[,，;；.。]|or\b|and\b|\r?$)", re.MULTILINE)


_SMALL = re.compile(
    r"(?i:\banswer\b(?:[ ]is)?)[\s*_:(\[]{1,8}(?:(?<=\()[a-z](?=\))|[a-z](?=[*_)\].]{0,4}[ \t]*$))", re.MULTILINE
)
"""A small letter that nothing follows, or in brackets; a in "the answer is a city" is none."""


class _Statement(NamedTuple):
    """A letter that is stated, or taken back; no letter where several are stated."""

    letter: str | None
    denied: bool = False


def choice_letter(text: str, problem: Problem, *, by_wording: bool = False) -> str | None:
    """The letter of the option that the reply states as its answer ("the answer is (B)", "I choose B", "B is correct",
    B alone on a line or at the start of its lines), or whose text is the whole reply.

    Only letters that the question offers count; without known options, A to J. `by_wording` also takes, where nothing
    is stated, the only option that is mentioned by its letter or by its text.
    """
    if re.fullmatch(r"\W*[a-z]\W*", text, re.ASCII):
        text = text.upper()
    text = _SMALL.sub(lambda match: match[0][:-1] + match[0][-1].upper(), text)
    offered = _LETTERS[: len(problem.choices) or _WITHOUT_OPTIONS]
    for pattern in (_ANSWERED, _CHOSEN):
        statements = _statements(pattern, text, problem.choices)
        if statements:
            return _last(statements, offered)
    for pattern in (_CALLED_RIGHT, _ALONE, _LEADING):
        statements = _statements(pattern, text, problem.choices)
        letters = {statement.letter for statement in statements if not statement.denied}
        letters &= {None, *offered}
        if letters:
            return letters.pop() if len(letters) == 1 else None
    letter = _option_that_is(text, problem.choices)
    return letter or (_mentioned(text, problem.choices, offered) if by_wording else None)


def _last(statements: Iterable[_Statement], offered: str) -> str | None:
    """The letter that is left after all statements; those about letters that are not offered say nothing."""
    letter: str | None = None
    for statement in statements:
        if statement.letter is not None and statement.letter not in offered:
            continue
        if not statement.denied:
            letter = statement.letter
        elif statement.letter == letter:
            letter = None
    return letter


def _statements(pattern: re.Pattern[str], text: str, choices: tuple[str, ...]) -> list[_Statement]:
    """Statements about letters that can be options: those of the question, and A to J."""
    known = _LETTERS[: max(len(choices), _WITHOUT_OPTIONS)]
    statements, end = [], 0
    for match in pattern.finditer(text):
        # A letter that stands beside another one is no statement of its own.
        if match["letter"] in known and match.start("letter") >= end:
            end = another_letter(text, match.end("letter"), match["letter"], choices)
            statements.append(_statement_of(match, text, several=end > 0))
    return statements


def _statement_of(match: re.Match[str], text: str, *, several: bool) -> _Statement:
    groups = match.groupdict()
    before = f"{(groups.get('before') or '')[-12:]}{groups.get('fillers') or ''}"
    if _DENIED_BEFORE.search(before) or _DENIED_AFTER.match(text, match.end("letter")):
        return _Statement(match["letter"], denied=True)
    return _Statement(None if several or _SEVERAL_BEFORE.search(before) else match["letter"])


def another_letter(text: str, end: int, letter: str, choices: tuple[str, ...] = ()) -> int:
    """The end of another letter that stands beside the one that ends there, as in "A or B", "A, B", "A/B", "(A) (B)"; 0
    if there is none.

    The letter's own option may stand between them: "(A) Paris or (B) Rome".
    """
    other = _NEXT.match(text, end) or _NEXT.match(text, _end_of_option(text, end, letter, choices))
    if other is None or other["letter"] == letter or _DENIED_AFTER.match(text, other.end("letter")):
        return 0
    is_list = not other["comma"] or _LIST_GOES_ON.match(text, other.end("letter"))
    return other.end("letter") if is_list else 0


def _end_of_option(text: str, end: int, letter: str, choices: tuple[str, ...]) -> int:
    """The place behind the letter and the text of its option; where the text does not follow, the same place."""
    place = _LETTERS.index(letter)
    option = choices[place].strip().lower() if place < len(choices) else ""
    head = text[end : end + 8]
    start = end + len(head) - len(head.lstrip("*_)]）.:： \t\n"))
    return start + len(option) if option and text[start : start + len(option)].lower() == option else end


_AROUND = " \t\r\n*_`\"'.。"


def _option_that_is(text: str, choices: tuple[str, ...]) -> str | None:
    """The option whose text, perhaps behind its letter, is the whole reply; a letter is read as a letter."""
    reply = text.strip(_AROUND).lower()
    texts = [choice.strip(_AROUND).lower() for choice in choices]
    lettered = re.fullmatch(r"([a-z])[\s:.)–—-]{1,4}(.+)", reply, re.DOTALL)
    equal = [
        letter
        for letter, choice in zip(_LETTERS, texts, strict=False)
        if choice and (choice == reply or (lettered and lettered.groups() == (letter.lower(), choice)))
    ]
    return equal[0] if len(equal) == 1 and not re.fullmatch("[a-z]", reply) else None


def _mentioned(text: str, choices: tuple[str, ...], offered: str) -> str | None:
    letters = {match["letter"] for match in _MENTIONED.finditer(text)} & set(offered)
    if letters:
        return letters.pop() if len(letters) == 1 else None
    return _letter_of_text(text, choices)


def _letter_of_text(text: str, choices: tuple[str, ...]) -> str | None:
    """The only option whose text occurs as whole words; "New York" does not count inside "New York City", and a letter
    is no text."""
    texts = [choice.strip().lower() for choice in choices]
    rest = text.lower()
    occurring = set()
    for longest in sorted((choice for choice in texts if not re.fullmatch("[a-z]?", choice)), key=len, reverse=True):
        pattern = re.compile(rf"(?<![a-z0-9.]){re.escape(longest)}(?![a-z0-9]|\.\d)")
        if pattern.search(rest):
            occurring.add(longest)
            rest = pattern.sub("\n", rest)
    letters = [letter for letter, choice in zip(_LETTERS, texts, strict=False) if choice in occurring]
    return letters[0] if len(letters) == 1 else None
