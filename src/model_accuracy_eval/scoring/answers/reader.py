r"""One reader of answers: a reply → the answer that it states, for every task and for rescoring.

A task says what it wants: a letter of its options, a number, a formula, a text, yes or no. What states an answer, and
which of several statements counts, is the same for all of them, strongest first:

1. a box: \boxed{…}
2. a final marker: "Final answer", ####, <answer>…</answer>, "answer": … in JSON, 答案：, "Answer:" on a line of its own
3. a statement: "the answer is …"
4. the kind's own weaker forms, such as "I choose B" and a letter alone on its line
5. the last that occurs, for kinds that are read so

What is taken back, denied, or called somebody's mistake states nothing. After "wait, actually" what follows
counts, whatever its strength. Of equally strong statements the last one counts, unless nothing but another one stands
right beside it: two that stay are no answer.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import NamedTuple

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.answers import markers
from model_accuracy_eval.scoring.answers.cleaning import cleaned, goes_round, is_cut_off, without_next_question

BOXED, MARKED, STATED, RESTATED = range(4)
_MOST = 200
"""Statements and withdrawals that are looked at, the last ones: no reply that means something has more."""
_LONGEST = 2000
"""Characters of one statement."""
_LONGEST_INTRO = 24
"""Characters before a statement that may say that it is the final one, or only an example."""
_CONTEXT = 160
"""Characters before a statement that may say that it is not meant."""


class SaidText(NamedTuple):
    """What a reply says, and the same in small letters, character by character."""

    text: str
    low: str
    problem: Problem


class ClaimedAnswer(NamedTuple):
    """That something is the answer."""

    strength: int
    place: int
    """Where it begins."""
    start: int
    """Where what it claims begins."""
    end: int
    """Where it ends at the latest."""


class Value(NamedTuple):
    """What a claim says is the answer; no text where it names several, an empty one for another than is wanted."""

    text: str | None
    start: int
    end: int


class Doubtful(str):
    """An answer that may be another than the reply means: the last that occurs, or the last of several that it
    states."""

    __slots__ = ()


class Wanted(NamedTuple):
    """What an answer looks like."""

    at: Callable[[SaidText, ClaimedAnswer], Value | None]
    """What a claim says; None where that is nothing of this kind."""
    weaker: Callable[[SaidText], Value | None] = lambda reply: None
    last: Callable[[SaidText], str | None] = lambda reply: None
    joins: bool = False
    """Whether answers beside each other are one."""


def read(text: str, problem: Problem, kind: Wanted, *, flexible: bool = True) -> str | None:
    """The answer. `flexible`: also the last that occurs, where nothing is stated."""
    said = what_is_said(text, problem)
    if said is None:
        return None
    reply = SaidText(said, _lower(said), problem)
    claims = _claims(reply)
    others = _ASCII_NOUNS if reply.low.isascii() else _NOUNS
    if found := _valued(kind, reply, claims) or _valued(kind, reply, _in_order(reply, _announced(reply, others))):
        answer = _decided(reply, kind, found)
        # Where the end is missing, an answer in the midst of it may be one of many.
        is_weak = all(claim.strength >= STATED or value.text != answer for claim, value in found)
        is_unsure = (is_cut_off if is_weak else goes_round)(said)  # who goes round is cut off, too
        return _doubtful(answer) if is_unsure else answer
    is_announced = any(not is_hash(reply, claim) for claim in claims)
    if (value := kind.weaker(reply)) is not None:
        answer = _restated(reply, kind, value)
        is_guess = is_announced or (said[value.end :].strip() and is_cut_off(said))
        return _doubtful(answer) if is_guess else answer
    # Where an answer is announced and cannot be told, any other would be a guess.
    is_announced = any(claim.strength == MARKED and not is_hash(reply, claim) for claim in claims)
    return kind.last(reply) if flexible and not is_announced else None


def what_is_said(text: str, problem: Problem) -> str | None:
    """The reply without marks, thoughts, programs and invented questions; None where nothing is left."""
    said = cleaned(text)
    if said and "```py" in said:
        said = _PROGRAM.sub("", said) or said
    return said and without_next_question(said, problem)


_PROGRAM = re.compile(r"```py.*?(?:```|(?=<answer>)|\Z)", re.DOTALL)


def _valued(kind: Wanted, reply: SaidText, claims: Iterable[ClaimedAnswer]) -> "Found":
    return [
        (claim, value)
        for claim in claims
        if not _is_copied(reply, claim) and (value := kind.at(reply, claim)) is not None
    ]


def _lower(text: str) -> str:
    low = text.lower()
    return low if len(low) == len(text) else "".join(one if len(one.lower()) != 1 else one.lower() for one in text)


# What is claimed, and where.


def _claims(reply: SaidText) -> list[ClaimedAnswer]:
    text = reply.text
    claims: list[ClaimedAnswer] = []
    # Looking for one character takes a twentieth of the time that looking for a word takes.
    if ('"' in text and '":' in text) or ("{" in text and "':" in text):
        claims += _marked(markers.ENCLOSED, text)
    if "<" in text and ("answer>" in reply.low or "<eoa" in text):
        claims += _marked(markers.TAGGED, text)
    if "{" in text and "box" in text:
        claims += _boxes(text)
    if "#" in text:
        claims += _marked(markers.HASHES, text)
    claims += _announced(reply, markers.NOUNS)
    return _in_order(reply, claims)


def _marked(pattern: re.Pattern[str], text: str) -> Iterator[ClaimedAnswer]:
    """What the pattern encloses, else the line behind it."""
    for found in pattern.finditer(text):
        start, end = found.span(found.lastgroup) if found.lastgroup else (found.end(), _line_end(text, found.end()))
        yield ClaimedAnswer(MARKED, found.start(), start, end)


def _in_order(reply: SaidText, claims: Iterable[ClaimedAnswer]) -> list[ClaimedAnswer]:
    """The last ones, without those that only show the form of an answer, and without one that breaks off at the end in
    the midst of what was claimed before."""
    text = reply.text
    ordered = sorted(claims, key=itemgetter(1))[-_MOST:]
    if len(ordered) > 1:
        rest, whole = text[ordered[-1].place :].rstrip(), ordered[-2]
        if len(rest) < whole.end - whole.place and text.startswith(rest, whole.place):
            del ordered[-1]
    return [claim for claim in ordered if not _is_example(reply.low, claim.place)]


def _is_example(low: str, place: int) -> bool:
    return bool(markers.EXAMPLE.search(low, max(0, place - _LONGEST_INTRO), place))


def _is_copied(reply: SaidText, claim: ClaimedAnswer) -> bool:
    """Whether the claim and what leads to it are the prompt's: base models repeat it, with its examples."""
    if claim.place < _COPIED:
        return False
    copy = reply.text[claim.place - _COPIED : claim.end]
    problem = reply.problem
    return copy in problem.text or any(copy in message.content for message in problem.messages)


_COPIED = 60
"""Characters before a claim that nobody writes twice."""
_NOUNS = (*markers.OTHER_NOUNS, *markers.OPTION_NOUNS)
_ASCII_NOUNS = tuple(filter(str.isascii, _NOUNS))


def _boxes(text: str) -> Iterator[ClaimedAnswer]:
    for box in [*markers.BOX.finditer(text)][-_MOST:]:
        depth = 1
        for brace in markers.BRACE.finditer(text, box.end(), box.end() + _LONGEST):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if not depth:
                yield ClaimedAnswer(BOXED, box.start(), box.end(), brace.start())
                break


def _line_end(text: str, start: int) -> int:
    """The end of the first line that has anything."""
    while start < len(text) and text[start] in _BEFORE_VALUE:
        start += 1
    end = text.find("\n", start, start + _LONGEST)
    return end if end >= 0 else min(len(text), start + _LONGEST)


_BEFORE_VALUE = frozenset(" \t\r\n$*[\\:：`")


def is_hash(reply: SaidText, claim: ClaimedAnswer) -> bool:
    return reply.text.startswith("####", claim.place)


def _announced(reply: SaidText, nouns: Iterable[str]) -> Iterator[ClaimedAnswer]:
    low = reply.low
    for noun in nouns:
        place = low.find(noun)
        while place >= 0:
            if claim := _announcement(reply, noun, place):
                yield claim
            place = low.find(noun, place + len(noun))


def _announcement(reply: SaidText, noun: str, place: int) -> ClaimedAnswer | None:
    low, end = reply.low, place + len(noun)
    is_spaced = noun < "\u0700"
    if is_spaced and (low[end : end + 1].isalpha() or low[place - 1 : place].isalpha()):
        return None  # a part of another word
    after = (markers.AFTER if is_spaced else markers.AFTER_UNSPACED).match(low, end)
    if after is None:
        return None
    if noun in markers.OPTION_NOUNS and not (
        markers.RIGHT_OPTION.search(low, max(0, place - 12), place) or markers.RIGHT_AFTER.match(low, end)
    ):
        return None
    before = max(0, place - _CONTEXT)
    line = max(low.rfind("\n", before, place) + 1, before)
    is_label = after.lastgroup == "label"
    if not is_meant(low, line, place) or markers.OF.search(low, line, place):
        return None
    # A label that begins the reply may stand before all of its reasoning.
    begins = is_label and line and markers.BEFORE_LABEL.fullmatch(low, line, place)
    is_marked = begins or markers.FINAL.search(low, max(0, place - _LONGEST_INTRO), place)
    return ClaimedAnswer(MARKED if is_marked else STATED, place, after.end(), _line_end(low, after.end()))


def is_meant(low: str, line: int, place: int) -> bool:
    """Whether the clause before a statement makes it nobody's mistake."""
    clause = max(line, 1 + max(low.rfind(mark, line, place) for mark in markers.CLAUSE_ENDS))
    return not markers.NOT_MEANT.search(low, clause, place)


# Which of them counts.


Found = list[tuple[ClaimedAnswer, Value]]


def _decided(reply: SaidText, kind: Wanted, found: Found) -> str | None:
    """What is left of the claims when those that are denied, taken back or weaker than others have gone."""
    live: Found = []
    for claim, value in _since_withdrawal(reply, found):
        if not _is_denied(reply, claim, value):
            live.append((claim, value))
            continue
        live = [one for one in live if one[1].text != value.text]
        if (other := _affirmed(reply, kind, value.end)) is not None:  # not B, it is A
            live.append((claim, other))
    live = [one for one in live if one[1].text != ""]
    if not live:
        return None
    strongest = min(claim.strength for claim, _ in live)
    equals = [place for place, (claim, _) in enumerate(live) if claim.strength == strongest]
    place = equals[-1]
    claim, value = live[place]
    if not kind.joins:
        before = live[place - 1][1]
        between = reply.low[before.end : claim.place]
        are_side_by_side = before.end <= claim.place and not markers.WORD.search(between)
        if are_side_by_side and value.text not in {before.text, live[0][1].text}:
            return None
        if len({live[one][1].text for one in equals}) > 1:
            return _doubtful(_restated(reply, kind, value))
    return _restated(reply, kind, value)


def _doubtful(answer: str | None) -> str | None:
    return answer and Doubtful(answer)


def _since_withdrawal(reply: SaidText, found: Found) -> Found:
    """The claims after the last "wait" that is followed by any."""
    first, last = found[0][1], found[-1][0]
    withdrawals = [*markers.WITHDRAWN.finditer(reply.low, first.end, max(first.end, last.place))]
    for mark in reversed(withdrawals):
        later = [one for one in found if one[0].place >= mark.start()]
        if not all(_is_denied(reply, *one) for one in later):
            return later
    return found


def _is_denied(reply: SaidText, claim: ClaimedAnswer, value: Value) -> bool:
    place = max(0, claim.place, value.start - 24)
    return is_denied(reply.low, max(place, reply.low.rfind(",", place, value.start)), value.start, value.end)


def is_denied(low: str, place: int, start: int, end: int) -> bool:
    """Whether what stands between start and end is denied, by what stands from `place` on or behind it."""
    return bool(markers.DENIED.search(low, place, start) or markers.DENIED_AFTER.match(low, end))


def _restated(reply: SaidText, kind: Wanted, value: Value) -> str | None:
    """The value, or the one that takes its place after "wait, actually"."""
    for mark in [*markers.WITHDRAWN.finditer(reply.low, value.end)][-_MOST:]:
        value = _affirmed(reply, kind, mark.end()) or value
    return value.text


def _affirmed(reply: SaidText, kind: Wanted, place: int) -> Value | None:
    """What is said to be the answer right behind a withdrawal or a denial."""
    intro = markers.RESTATED.match(reply.text, place)
    if intro is None:
        return None
    claim = ClaimedAnswer(RESTATED, place, intro.end(), _line_end(reply.text, intro.end()))
    value = kind.at(reply, claim)
    is_said = intro["said"] or ("\n" not in intro[0] and value and markers.SENTENCE_END.match(reply.low, value.end))
    return value if value and value.text and is_said else None
