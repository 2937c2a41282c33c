"""What is odd about one reply, whatever the right answer is: the marks that broken inference leaves.

`KINDS` has a row for each. A test reads one reply and says yes or no; it neither asks anybody nor knows why. Each is
made to stay silent on what models repeat for good reasons, such as tables, code, digits, verses and JSON.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from model_accuracy_eval.records import Loglikelihood, RequestMethod, ToldToken


class SeenReply(msgspec.Struct, kw_only=True, gc=False):
    """One reply as the journal keeps it, and what it was asked with."""

    text: str
    reasoning: str = ""
    finish_reason: str | None = None
    method: RequestMethod = "chat"
    loglikelihoods: tuple[Loglikelihood | None, ...] = ()
    tokens_told: tuple[ToldToken, ...] = ()
    chunks: int = 0
    tokens: int | None = None
    """Of all choices of its request, as the service counts them."""
    reasoning_tokens: int | None = None
    choices: int = 1
    """How many replies share the request, and so those tokens."""
    cut: int = 0
    """How many of these ended by `length`."""
    cap: int | None = None
    """`max_tokens` of the request; None: unknown."""
    has_media: bool = False
    tools: bool = False
    """Whether the model may call tools."""
    several: bool = False
    """Whether the tokens and chunks are those of a conversation of several requests."""
    whole: bool = True
    """Whether the text is all that was sent: what comes after a stop string is left out."""
    prompt: Callable[[], str] = str
    """What was asked; few tests need it."""

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.text, self.reasoning) if self.reasoning else (self.text,)


# The same again and again.

_WINDOW = 16
_STEP = 128
"""Characters between the places where a period is looked for."""
_LONGEST_PERIOD = 600
_RULES = frozenset("-=_*.·•…+~#|:/\\`─━═│┃—–> \t\n\r\u3000&")
"""What tables, rules, gaps and fields to fill in consist of."""


def _loops(text: str) -> bool:
    return len(text) > 2 * _WINDOW and (any(map(text.endswith, _at_end(text))) or _from_some_place(text))


def _at_end(text: str) -> Iterator[str]:
    """What the text ends with if it ends in a loop."""
    tail = len(text) - _WINDOW
    before = text.rfind(text[tail:], max(0, tail - _LONGEST_PERIOD), len(text) - 1)
    if before >= 0:
        yield from _many(text[before + _WINDOW :])


def _from_some_place(text: str) -> bool:
    for place in range(0, len(text) - _WINDOW, _STEP):
        again = text.find(text[place : place + _WINDOW], place + 1, place + _WINDOW + _LONGEST_PERIOD)
        if again >= 0 and any(text.startswith(loop, place) for loop in _many(text[place:again])):
            return True
    return _same_sentences(text)


def _many(unit: str) -> Iterator[str]:
    """The unit as often as nobody writes it on purpose; nothing if it has no letters or digits."""
    if not _RULES.issuperset(unit):
        is_text = sum(map(str.isalpha, unit)) > 2  # not digits of a fraction, or an array of zeros
        yield unit * max(5 if is_text else 20, -(-(160 if is_text else 400) // len(unit)))


_LINES = 16


def _same_sentences(text: str) -> bool:
    """Few sentences make up a long text, though not in one order."""
    if len(text) < 800:
        return False
    sentences = [each for each in text.replace("\n", ". ").split(". ") if len(each) >= 24]
    return len(sentences) >= _LINES and len(set(sentences)) * 5 <= len(sentences)


_RUN = 16
_LONG_RUN = 160
"""Digits and blanks may stand in a row for longer."""
_FEW_WORDS = 9


def _is_run(text: str) -> bool:
    """A character many times in a row, or a word; a reply of nothing else needs fewer."""
    # A run of that length holds one of these places and the next one.
    for character in {one for one, two in zip(text[:: _RUN - 1], text[1 :: _RUN - 1], strict=False) if one == two}:
        if character * _RUN in text and character not in _RULES:
            needed = _LONG_RUN if character.isdigit() else 40 if character.isalpha() else _RUN
            if character * needed in text:
                return True
    if len(text) > 2 * _RUN and text[-2:].isspace() and not text[-_LONG_RUN:].strip():
        return True
    bare = text.strip()
    if 8 <= len(bare) <= 4 * _RUN and len(set(bare)) == 1:
        return not bare.isdigit() and bare[0] not in _RULES
    words = bare[-400:].rsplit(None, _FEW_WORDS)[1:]
    return len(words) == _FEW_WORDS and len(set(words)) == 1 and len(words[0]) > 1 and not _RULES.issuperset(words[0])


# Characters that no model means.


def _broken_characters(reply: SeenReply) -> bool:
    """A cap may cut one character in two; nothing else makes half ones."""
    whole = [text.rstrip("\ufffd") if reply.finish_reason == "length" else text for text in reply.texts]
    return any("\ufffd" in text or "\x00" in text for text in whole)


_SPECIAL = re.compile(
    r"<\|[A-Za-z_][\w▁]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|<(?:start|end)_of_(?:turn|utterance|image)>|\[control_\d+\]"
    r"|\[/?INST\]|<</?SYS>>|<unused\d+>|<extra_id_\d+>"
)
_ENDS = re.compile(r"(?:<(?:/?s|eos|bos|pad|unk|EOS|BOS|PAD|UNK)>|\[(?:PAD|EOS|BOS|UNK|SEP|CLS)\])\s*$")
_ROLES = ("\nassistant\n", "\nuser\n")
"""What is left of a template whose special tokens are not shown: the model goes on after its turn."""


def _special_tokens(text: str) -> bool:
    may_be = "<" in text or "[" in text
    if may_be and (_SPECIAL.search(text) or _ENDS.search(text, max(0, len(text) - 24))):
        return True
    return sum(map(text.count, _ROLES)) > 1


_PIECES = re.compile(r"(?<![▁▂▃▄▅▆▇█])[▁Ġ][A-Za-z]|Ċ|<0x[0-9A-F]{2}>")
_FEW_PIECES = 3


def _raw_pieces(text: str) -> bool:
    return any(map(text.__contains__, ("Ġ", "▁", "Ċ", "<0x"))) and len(_PIECES.findall(text)) >= _FEW_PIECES


# Scripts. Greek letters are mathematics, Latin ones are everywhere, and Chinese stands beside Latin without a gap.

_EAST_ASIAN = "\u3040-\u9fff\uac00-\ud7ff\uf900-\ufaff"
_OTHER = "\u0400-\u1cff\u2c80-\u2dff\ua000-\uabff\ufb1d-\ufdff"
_RUNS = re.compile(f"[{_OTHER}]+|[{_EAST_ASIAN}]+")
_STRANGE = re.compile(f"[{_OTHER}]+")
_EAST = re.compile(f"[{_EAST_ASIAN}]")
_GLUED = re.compile(f"[A-Za-z]{{2}}[{_OTHER}]{{2}}|[{_OTHER}]{{2}}[A-Za-z]{{2}}")
_MANY_SCRIPTS = 4
_GLUED_WORDS = 2
"""Words of two scripts in a text that is mostly Latin; other languages give foreign words their own endings."""
_CHANGED = 24
"""Letters before and after a change that is no quotation."""


def _scripts(runs: Iterable[str]) -> set[str]:
    """As the names of their first letters begin."""
    return {unicodedata.name(letter, "?").partition(" ")[0] for letter in {run[0] for run in runs}}


def _changes_script(reply: SeenReply) -> bool:
    return any(not text.isascii() and _is_mixed(text, reply) for text in reply.texts)


def _is_mixed(text: str, reply: SeenReply) -> bool:
    others, east = _STRANGE.findall(text), _EAST.search(text)
    scripts = _scripts([*others, east[0]] if east else others)
    is_glued = bool(others) and len(_GLUED.findall(text)) >= _GLUED_WORDS
    is_glued = is_glued and 2 * sum(map(len, others)) < sum(map(str.isalpha, text))
    if not is_glued and len(scripts) < _MANY_SCRIPTS and not (len(scripts) == 1 and _switches(text)):
        return False
    # What was asked in these scripts, or about them, is answered in them.
    strange = scripts - _scripts(_RUNS.findall(reply.prompt()))
    return bool(strange) and (len(strange) >= _MANY_SCRIPTS or len(scripts) < _MANY_SCRIPTS)


def _switches(text: str) -> bool:
    """The end is in a script that the rest has nothing of, and it begins in the middle of a sentence."""
    first = _RUNS.search(text)
    start = first.start() if first else 0
    before, after = text[max(0, start - 400) : start].rstrip(" "), text[start:]
    if not (before[-1:].isalpha() or before[-1:] in {",", ";"}) or sum(map(str.isalpha, before)) < _CHANGED:
        return False
    changed = sum(map(len, _RUNS.findall(after)))
    return changed >= _CHANGED and 2 * changed >= sum(map(str.isalpha, after))


# How the reply ended.

_CALLS = frozenset({"tool_calls", "function_call"})


def _unclosed_thinking(reply: SeenReply) -> bool:
    """It ended by itself, and before there was an answer."""
    if reply.finish_reason == "length" or reply.finish_reason in _CALLS:
        return False
    text = reply.text.lstrip()
    if not text:
        return bool(reply.reasoning) and not reply.loglikelihoods
    return text.startswith("<think>") and "</think>" not in text[text.rfind("<think>") :]


def _empty(reply: SeenReply) -> bool:
    ended_otherwise = reply.has_media or reply.finish_reason in _CALLS or reply.finish_reason == "content_filter"
    return not (reply.text.strip() or reply.reasoning.strip() or reply.loglikelihoods or ended_otherwise)


def _cut_below_cap(reply: SeenReply) -> bool:
    if reply.finish_reason != "length" or reply.tokens is None or not reply.cap or reply.several:
        return False
    # The last token may be one that is counted nowhere.
    return reply.tokens + reply.choices < reply.cap * reply.cut


_SMALL_CAP = 16


def _past_cap(reply: SeenReply) -> bool:
    """More tokens than were allowed; or as many, and broken off, but told as an end."""
    if reply.tokens is None or not reply.cap or reply.several:
        return False
    if reply.tokens > (reply.cap + 1) * reply.choices:
        return True
    at_cap = reply.choices == 1 and reply.tokens >= reply.cap > _SMALL_CAP and reply.finish_reason == "stop"
    return at_cap and reply.text[-1:].isalpha()


# What the service says of its reply.

_PARTS = 4
_LONGEST_CHUNK = 64


def _is_cumulative(text: str) -> bool:
    """Every chunk held the whole text so far: the text is a row of its own beginnings."""
    size = text.find(text[:1], 1, _LONGEST_CHUNK + 1)
    while 0 < size <= _LONGEST_CHUNK:
        if text.startswith(text[:size], size) and _grows(text, size):
            return True
        size = text.find(text[:1], size + 1, _LONGEST_CHUNK + 1)
    return False


def _grows(text: str, first: int) -> bool:
    begin, before, size, parts = 0, 0, first, 1
    while begin + size < len(text):
        end = begin + size
        after = text.find(text[begin:end], end + size + 1)
        while after >= 0 and not text.startswith(text[end:after], after):
            after = text.find(text[begin:end], after + 1)
        longer = (len(text) if after < 0 else after) - end
        if not size < longer <= size + _LONGEST_CHUNK or not text.startswith(text[begin:end], end):
            return False
        begin, before, size, parts = end, size, longer, parts + 1
    # What grows is a text, and no rule or gap before one.
    return parts >= _PARTS and size >= 3 * _PARTS and len(set(text[begin : begin + before])) >= _PARTS


_FREE_TOKENS = 16
"""Tokens that need not show in a text: those of templates and ends."""


def _miscounted(reply: SeenReply) -> bool:
    """Fewer tokens than chunks of text, or more than there are bytes. A gateway may send characters one by one."""
    if reply.tokens is None or reply.several:
        return False
    if reply.tokens + 1 < 0.9 * reply.chunks < 0.8 * len(reply.text + reply.reasoning):
        return True
    if reply.choices > 1 or reply.reasoning_tokens or reply.finish_reason in _CALLS or not reply.whole:
        return False
    return reply.tokens > len((reply.text + reply.reasoning).encode()) + _FREE_TOKENS


def _null_logprobs(reply: SeenReply) -> bool:
    """The method of the likeliest tokens measures only those."""
    if any(token.text and token.logprob is None for token in reply.tokens_told):
        return True
    return None in reply.loglikelihoods and reply.method != "top-logprobs"


def _tokens_of(reply: SeenReply) -> str:
    several = f" in {reply.choices} choices" if reply.choices > 1 else ""
    return f", with {reply.tokens or 0:,} tokens{several} where {reply.cap or 0:,} were allowed"


def _counted(reply: SeenReply) -> str:
    written = len((reply.text + reply.reasoning).encode())
    return f", {reply.tokens:,} tokens for {reply.chunks:,} chunks and {written:,} bytes"


class AnomalyKind(NamedTuple):
    """One row: what it is called, what is odd about such replies, and the test."""

    name: str
    says: str
    test: Callable[[SeenReply], bool]
    by_length: bool = False
    """Whether such replies have a length of their own."""
    shows: Callable[[SeenReply], str] = lambda _: ""
    """Numbers of one of them."""


def _in(test: Callable[[str], bool]) -> Callable[[SeenReply], bool]:
    """A test of texts: of the answer, and of the reasoning if there is one."""
    return lambda reply: test(reply.text) or bool(reply.reasoning and test(reply.reasoning))


KINDS = (
    AnomalyKind("empty", "nothing in them", _empty, by_length=True),
    AnomalyKind("loop", "the same passage again and again", _in(_loops), by_length=True),
    AnomalyKind("one token", "one character or word again and again", _in(_is_run), by_length=True),
    AnomalyKind("cumulative text", "each chunk repeats the whole text so far", _in(_is_cumulative), by_length=True),
    AnomalyKind("broken characters", "U+FFFD or NUL in the text", _broken_characters),
    AnomalyKind("change of script", "another script in the middle of a sentence or a word", _changes_script),
    AnomalyKind("special tokens", "special tokens or roles of a chat template in the text", _in(_special_tokens)),
    AnomalyKind("tokenizer pieces", "pieces of the tokenizer's vocabulary in the text", _in(_raw_pieces)),
    AnomalyKind("unclosed thinking", "ended by themselves inside their reasoning", _unclosed_thinking),
    AnomalyKind("cut below the cap", "ended by 'length' below max_tokens", _cut_below_cap, True, _tokens_of),
    AnomalyKind("past the cap", "at max_tokens or past it, and not ended by 'length'", _past_cap, True, _tokens_of),
    AnomalyKind("content filter", "ended by a filter of the service", lambda of: of.finish_reason == "content_filter"),
    AnomalyKind("tool call", "where none was offered", lambda of: of.finish_reason in _CALLS and not of.tools),
    AnomalyKind("token count", "'usage' has fewer tokens than chunks, or more than bytes", _miscounted, True, _counted),
    AnomalyKind("log-probabilities", "null or no numbers", _null_logprobs),
)


def kinds(reply: SeenReply) -> tuple[str, ...]:
    """The names of all that is odd about it."""
    return tuple([kind.name for kind in KINDS if kind.test(reply)])
