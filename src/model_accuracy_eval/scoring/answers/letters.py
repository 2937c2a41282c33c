"""The letter of an option, as replies write it; and yes or no, which is chosen like one."""

import re
from collections.abc import Iterable, Iterator, Sequence

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.answers import markers
from model_accuracy_eval.scoring.answers.reader import (
    RESTATED,
    ClaimedAnswer,
    SaidText,
    Value,
    Wanted,
    is_denied,
    is_hash,
    is_meant,
    read,
)

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WITHOUT_OPTIONS = 10
"""How many letters count where the options are not known; X in "ANSWER: X" is a placeholder."""

_GO_ON = "and|as|because|but|by|due|for|given|if|in|is|not|or|rather|since|so|was|which|with"
"""Words that may follow a bare A or I; before any other word they are the article and the pronoun."""
_NUMERALS = r"(?:[ \t]+(?:and|or)|,)[ \t]+[IVX]{2,}"
_SMALL = r"[a-h](?=\)[ *_]{1,3}\S(?![^\n]*\s{1,4}[*_(]{0,3}[b-h]\)))"  # b) Paris, but no list of parts
# Repetitions are bounded: a reply of ten thousand asterisks must not take minutes to read.
_OPENED = (
    r"[\s*_:：=>\"'“`「$\\(\[（【]{0,8}(?:(?:boxed|text|textbf|mathrm|mathbf)\{[\s\\]{0,2}){0,3}"
    rf"[\s*_(\[（]{{0,4}}(?P<letter>[B-HJ-ZＡ-Ｚ]|[AI](?![ \t]+(?!(?:{_GO_ON})\b)[a-z]|{_NUMERALS})"
    rf"|(?<=\()[a-z](?=\))|(?<!\w)(?:[a-z](?=[*_)\].}}\"'`」]{{0,4}}[ \t]*(?:$|[\r\n<]))|{_SMALL}))"
    r"(?![A-Za-z0-9+#]|['’][a-z])"
)
_CLOSED = r"[*_)\]）}$\\\"'”`」】]{0,8}"
_FILLERS = (
    r"(?:[\s*_:：\[{(]{0,8}(?i:most|more|likely|probably|clearly|therefore|thus|hence|indeed|actually|definitely|"
    r"simply|still|then|option|choice|letter|text|not|neither|either|both|between|among|opción|opção|"
    r"opzione|вариант|la|le|die|nicht|pas|选项?|選項?|选择|옵션|선택지)(?![a-z])){0,4}"
)
_VALUE = re.compile(_FILLERS + _OPENED)
_ATTACHED = re.compile(r"[\s*_:：(（]{0,8}([A-J])(?=\d)")
"""B46天: a letter, and right behind it perhaps the text of its option."""
_TOGETHER = re.compile(r"[\s*_:：$\\(\[（【]{0,8}(?=[A-J]{2})(A?B?C?D?E?F?G?H?I?J?)(?![\w'’])")
"""ABD: several options, where one is asked for."""
_NEXT = re.compile(
    rf"{_CLOSED}[ \t]{{0,2}}"
    r"(?:(?P<comma>[,，;；])|(?:,[ ]?)?(?:and/or|or|and|oder|und|ou|et|o|y|e|или|и)\b|[/&+、]|或者?|还是|以?及|和|与|"
    r"(?<=[)\]）])(?=[ \t*_]{0,4}[(\[（][A-Z]))"
    rf"(?:[ \t]{{0,2}}(?i:possibly|perhaps|maybe|even|option|choice|letter)\b,?){{0,2}}{_OPENED}"
)
_LIST_GOES_ON = re.compile(
    rf"{_CLOSED}[ \t]{{0,2}}(?:[,，;；.。<]|(?:or|and|e|y|et|und|oder|ou|o|и|или)\b|\r?$)", re.MULTILINE
)


def _letter_at(reply: SaidText, claim: ClaimedAnswer) -> Value | None:
    """The letter right behind an announcement; or that of the option whose text stands there."""
    text, problem = reply.text, reply.problem
    if is_hash(reply, claim) and text[claim.end :].strip():
        return None  # a heading of Markdown
    if together := _TOGETHER.match(text, claim.start):
        return Value(None, *together.span(1))
    found = _VALUE.match(text, claim.start)
    if found is None and (attached := _ATTACHED.match(text, claim.start)):
        letter, start = attached[1], attached.end()
        if (end := _end_of_option(text, start, letter, problem.choices)) > start:
            return Value(letter, start, end)
    if found is None:
        end = min(claim.end, claim.start + _LONGEST_OPTION) if claim.strength != RESTATED else claim.start
        worded = option_that_is(text[claim.start : end], problem.choices)
        return Value(worded, claim.start, end) if worded or _NONE_OF_THEM.match(text, claim.start, end) else None
    letter, (start, end) = _capital(found["letter"]), found.span("letter")
    if letter not in _LETTERS[: max(len(problem.choices), _WITHOUT_OPTIONS)]:
        return None
    several = another_letter(text, end, letter, problem.choices)
    end = _end_of_option(text, end, letter, problem.choices)
    if "「" in found[0]:
        end = max(end, text.find("」", end, claim.end) + 1)
    return Value(None if several else letter if letter in _offered(problem) else "", start, end)


_LONGEST_OPTION = 300
_NONE_OF_THEM = re.compile(r"[\s*_:]{0,6}(?i:none of (?:the above|these|them)\b)(?!.*\b[D-J]\b)")
"""Where that is an option itself, its letter is one of the last."""


def _capital(letter: str) -> str:
    return letter.upper() if letter.isascii() else chr(ord(letter) - ord("Ａ") + ord("A"))


def _offered(problem: Problem) -> str:
    return _LETTERS[: len(problem.choices) or _WITHOUT_OPTIONS]


def another_letter(text: str, end: int, letter: str, choices: tuple[str, ...] = ()) -> int:
    """The end of another letter that stands beside the one that ends there, as in "A or B", "A, B", "A/B", "(A) (B)"; 0
    if there is none.

    The letter's own option may stand between them: "(A) Paris or (B) Rome".
    """
    other = _NEXT.match(text, _end_of_option(text, end, letter, choices))
    if other is None or other["letter"] == letter:
        return 0
    behind = _end_of_option(text, other.end("letter"), _capital(other["letter"]), choices)
    is_list = not other["comma"] or _LIST_GOES_ON.match(text, behind)
    return other.end("letter") if is_list else 0


def _end_of_option(text: str, end: int, letter: str, choices: tuple[str, ...]) -> int:
    """The place behind the letter and the text of its option; where the text does not follow, the same place."""
    place = _LETTERS.index(letter)
    option = choices[place].strip(_AROUND).lower().replace("’", "'") if place < len(choices) else ""
    head = text[end : end + 8]
    start = end + len(head) - len(head.lstrip("*_)]）.:： \t\n"))
    if option and text[start : start + len(option)].lower().replace("’", "'") == option:
        return start + len(option)
    # The words of an option that is not known, as in "(B) Cannot be determined", deny nothing.
    return start + 1 if not option and start > end and text[start : start + 1].isupper() else end


# Weaker than a statement: a letter that is chosen, or called right, or alone.


_CHOICES = (
    "choose", "chose", "pick", "select", "going with", "go with", "wähle", "choisis", "elijo", "escolho", "scelgo",
)  # fmt: skip
_IT_IS = (" is", "'s", "’s", " must be", " should be")
_CHOICE_WORDS = (*_CHOICES, *(f"it{word}" for word in _IT_IS), "选")
# Patterns begin with letters, not with a condition: so the search takes a third of the time.
_CHOSEN = re.compile(
    rf"(?:(?:{'|'.join(_CHOICES)})\b(?:[ ]the\b)?"
    rf"|t(?<=\b[Ii]t)(?:{'|'.join(_IT_IS)})\b(?=[ ](?:not[ ])?[*(]{{0,3}}[A-Z]\b)"
    rf"|选(?:择)?(?:选项|(?!项))){_FILLERS}{_OPENED}"
)
_CALLED_RIGHT = re.compile(
    rf"(?P<letter>[A-Z])(?<![A-Za-z][A-Z]){_CLOSED}[ ]{{0,2}}"
    r"(?:(?:[\w' -]{1,30}[ ](?=is[ ]the[ ]best))?(?i:is|seems|(?:must|should|would)[ ]be|ist|est|es|é|è)[ ]"
    r"(?i:the[ ])?(?i:mo(?:st|re)[ ])?"
    r"(?i:correct[ae]?|right|best|appropriate|accurate|answer|richtig|correta|corretta)\b"
    r"(?![ ](?:only[ ])?(?:if|unless)\b)|(?:选?项)?(?:是|为)?正确|が正しい|が正解|[이가][ ]정답)"
)
_ALONE = re.compile(
    rf"^[\s*_(>•-]{{0,6}}(?:(?i:option|choice|answer)[ ]|选项)?{_OPENED}[ \t*_)\]）}}.。$`\"'”】]{{0,8}}\s*?$",
    re.MULTILINE,
)
_LEADING = re.compile(
    r"[ \t*_:：.\"“(\[（]{0,8}(?:(?i:option|choice)[ ]|选项)?(?P<letter>[A-Z]|[b-h](?=\)))[\"”]?"
    r"(?:[)\]）.:：*。]|__|[,、](?!\s?[A-Z]\b)|[ \t]*(?:\Z|解析|解释|分析|理由))"
)
_OPTION = re.compile(r"\((?P<letter>[A-J])\)|(?<![\w.])(?P<listed>[A-J])[:：、]")
_BESIDE = re.compile(r"\b[A-Z][)*_]{0,3} (?:or|and) (?:option )?[*_(]{0,3}\Z")
_NAMED = re.compile(
    rf"(?P<letter>[A-Z]|(?<!\(){_SMALL})(?<![A-Za-z0-9][A-Za-h])"
    r"(?:(?:[.):：、*](?=[ *_)\n.:,]|[^\x00-\x7f])|选?项|項)"
    r"(?![^\n]*(?:\n\s{0,2}[*_(]{0,3}|[;；。])(?!(?P=letter))[A-Z][).:：*])"
    r"|(?=[*_.。)]{0,4}\s*\Z))"
)
"""A letter with its mark, but no list of options."""
_BEFORE_NAMED = re.compile(
    r"(?:(?:\b(?i:is|be|to|hence|thus|therefore),?|[是为為选選于於][:：]?)[ ]?"  # the best one is **B. Paris**
    r"|(?:(?<=[a-z,][ ])(?<!nd[ ])|(?<=\())(?=[*_(]{0,3}(?i:option|choice)[ ])"  # it is near to option B.
    r"|\b(?:is|be|are|to|from|gives|been)\b[^\n.:]{0,40}[:：][ *_]{0,3}\s{1,4}(?:>[ ])?)"  # the best one is:⏎⏎B. Paris
    r"[*_(]{0,4}(?:(?i:option|choice)[ ])?[*_(]{0,4}\Z"
)
_IN_BRACKETS = re.compile(r"(?<!\w)(?<!or )(?<!nd )(?<!than )\([A-Z]\)[*_.]{0,6}\s*\Z")
_MENTIONED = re.compile(rf"(?i:\b(?:option|choice)\b|选项){_OPENED}")


def _weaker(reply: SaidText) -> Value | None:
    """The letter that is chosen; else the one that is called right; else the one alone on its line; else the one that
    something is named by; else the one at the start of the first line; else the option whose text is the last line.
    Two of the same kind are none."""
    text = reply.text
    ending = max(0, len(text) - _LONGEST_ENDING)
    # Looking for each word takes a fifth of the time that looking for all of them takes.
    has_choice = any(word in reply.low for word in _CHOICE_WORDS)
    for pattern in (_CHOSEN, _CALLED_RIGHT, _ALONE) if has_choice else (_CALLED_RIGHT, _ALONE):
        if value := _only(pattern.finditer(text, ending), reply):
            return value
    for begin in (ending, text.rstrip().rfind("\n") + 1):
        letters = _NAMED.finditer(text, begin)
        named = _only((one for one in letters if _is_named(text, one.start())), reply)
        if named and named.text:
            return named
    return _of_line(reply, [line for line in _lines(text) if any(map(str.isalnum, text[slice(*line)]))])


_LONGEST_ENDING = 2000
"""What stands before is reasoning."""


def _is_named(text: str, place: int) -> bool:
    begin, sentence = max(0, place - 1), max(text.rfind("\n", 0, place), text.rfind(". ", 0, place)) + 1
    is_last = _IN_BRACKETS.match(text, begin) and not _OPTION.search(text, sentence, begin)  # not of (A), (B), or (C)
    return bool(is_last or _BEFORE_NAMED.search(text, max(0, place - 80), place))


def _of_line(reply: SaidText, lines: list[tuple[int, int]]) -> Value | None:
    """A letter at the beginning of the first line or at the end of the last, or the text of an option."""
    text = reply.text
    if not lines:
        return None
    # A line that goes on after a letter speaks of an option; only the first one of a reply may be its answer.
    leading = [line for start, end in lines if (line := _LEADING.match(text, start, end))]
    if leading and leading[0].start() == lines[0][0] and (value := _only(leading, reply)):
        style = "letter" if text[: leading[0].start("letter")].endswith("(") else "listed"
        others = {mark[style] for mark in _OPTION.finditer(text, leading[0].end(), lines[0][1])}
        return Value(None, value.start, value.end) if others - {value.text, None} else value
    last = text[slice(*lines[-1])]
    for said in (last, last.rpartition(" is ")[2].removeprefix("therefore ")):
        if worded_letter := option_that_is(said, reply.problem.choices):
            return Value(worded_letter, len(text), len(text))
    return _begins_with_option(reply)


def _begins_with_option(reply: SaidText) -> Value | None:
    """Where the options are words such as Yes and No: the one with which the reply begins, or "the claim is"."""
    first = re.match(r"\W{0,4}(?:(?:the|this) \w+ is )?(\w+)(?:[,.!]| (?:as|because|since|according)\b)", reply.low)
    options = [choice.strip(_AROUND).lower() for choice in reply.problem.choices]
    if first is None or options.count(first[1]) != 1 or len(first[1]) == 1:
        return None
    return Value(_LETTERS[options.index(first[1])], first.end(), first.end())


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Where lines begin and end, blanks at their ends left out."""
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line.rstrip())
        start += len(line)


def _only(matches: Iterable[re.Match[str]], reply: SaidText) -> Value | None:
    """The one option that these statements affirm: of the question's letters, or of A to J."""
    text, low, problem = reply
    values = []
    for match in matches:
        letter, (start, end) = _capital(match["letter"]), match.span("letter")
        beside = another_letter(text, end, letter, problem.choices)
        if not beside and _BESIDE.search(text, max(0, start - 30), start):
            continue  # "which of A and B is right"
        end = _end_of_option(text, end, letter, problem.choices)
        clause = max(0, start - 18)
        clause = max(clause, 1 + max(low.rfind(mark, clause, start) for mark in ",，.。"))
        denied = is_denied(low, clause, start, end) or not is_meant(low, low.rfind("\n", 0, start) + 1, start)
        if letter in _offered(problem) and not denied:
            values.append(Value(None if beside else letter, start, end))
    if len({value.text for value in values}) > 1:
        return Value(None, values[0].start, values[0].end)
    return values[0] if values else None


_AROUND = " \t\r\n*_`\"'.。$"


def option_that_is(text: str, choices: Sequence[str]) -> str | None:
    """The option whose text, perhaps behind its letter, is the whole text; a letter is read as a letter."""
    if "\\" in text:
        text, *choices = (" ".join(markers.WRAPPED.sub(r"\1", one).split()) for one in (text, *choices))
    reply = text.strip(_AROUND).lower()
    texts = [choice.strip(_AROUND).lower() for choice in choices]
    lettered = re.fullmatch(r"\(?([a-z])[\s:.)–—-]{0,4}(.+)", reply, re.DOTALL)
    equal = [
        letter
        for letter, choice in zip(_LETTERS, texts, strict=False)
        if choice and (choice == reply or (lettered and lettered.groups() == (letter.lower(), choice)))
    ]
    return equal[0] if len(equal) == 1 and not re.fullmatch("[a-z]", reply) else None


def _by_wording(reply: SaidText) -> str | None:
    """The only option that is mentioned by its letter, or by its text."""
    letters = {match["letter"].upper() for match in _MENTIONED.finditer(reply.text)} & set(_offered(reply.problem))
    if letters:
        return letters.pop() if len(letters) == 1 else None
    return _letter_of_text(reply.text, reply.problem.choices)


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


_LETTER = Wanted(_letter_at, _weaker, _by_wording)


def choice_letter(text: str, problem: Problem, *, by_wording: bool = False) -> str | None:
    """The letter of the option that the reply states as its answer, or whose text is the whole reply.

    Only letters that the question offers count; without known options, A to J. `by_wording` also takes, where nothing
    is stated, the only option that is mentioned by its letter or by its text.
    """
    return read(text, problem, _LETTER, flexible=by_wording)


# Several letters, where more than one option may be right.


_SEVERAL = re.compile(r"[\s:：*_(\[（{]{0,8}(?:\\?text\{)?([A-Z](?:[ \t,，、.;；/和与及and&]{0,5}[A-Z])*)(?![A-Za-z])")


def _letters_at(reply: SaidText, claim: ClaimedAnswer) -> Value | None:
    found = _SEVERAL.match(reply.text, claim.start)
    return Value("".join(sorted(set(re.findall("[A-Z]", found[1])))), *found.span(1)) if found else None


def choice_letters(text: str, problem: Problem) -> str | None:
    """All letters that stand behind the announcement of the answer, in their order."""
    return read(text, problem, Wanted(_letters_at), flexible=False)


# Yes or no.


_YES = re.compile(
    r"[\s*_\"'`$\\({\[:：]{0,8}(?:(?:boxed|text|textbf)\{){0,2}"
    rf"(?:(?P<yes>{markers.any_of('yes')})|{markers.any_of('nay')})(?!\w)",
    re.IGNORECASE,
)


def _yes_at(reply: SaidText, claim: ClaimedAnswer) -> Value | None:
    found = _YES.match(reply.text, claim.start)
    return Value("yes" if found["yes"] else "no", claim.start, found.end()) if found else None


def _yes_alone(reply: SaidText) -> Value | None:
    """The last yes or no that is a line by itself, else the first word of the reply."""
    for start, end in reversed(list(_lines(reply.text))):
        found = _YES.match(reply.text, start, end)
        if found and not reply.text[found.end() : end].strip(" \t*_.!)}]$\"'`。"):
            return Value("yes" if found["yes"] else "no", found.end(), found.end())
    return _yes_at(reply, ClaimedAnswer(0, 0, 0, 0))


def yes_or_no(text: str, problem: Problem) -> str | None:
    """Yes or no: what is stated as the answer, else the last that is a line by itself, else the first word of the
    reply. A "no" inside a sentence is none."""
    return read(text, problem, Wanted(_yes_at, _yes_alone))
