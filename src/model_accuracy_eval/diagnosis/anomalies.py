"""What is odd about one reply, whatever the right answer is: the marks that broken inference leaves.

`KINDS` has a row for each. A test reads one reply and says yes or no; it neither asks anybody nor knows why. Each is
made to stay silent on what models repeat for good reasons, such as tables, code, digits, verses and JSON.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from model_accuracy_eval.records import Loglikelihood, RequestMethod


class SeenReply(msgspec.Struct, kw_only=True, gc=False):
    """One reply as the journal keeps it, and what it was asked with."""

    text: str
    reasoning: str = ""
    finish_reason: str | None = None
    method: RequestMethod = "chat"
    loglikelihoods: tuple[Loglikelihood | None, ...] = ()
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
    tools: bool = False
    """Whether the model may call tools."""
    several: bool = False
    """Whether the tokens and chunks are those of a conversation of several requests."""
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


def _periods(text: str) -> Iterator[tuple[int, int]]:
    """(place, period) where the text may begin to repeat itself, the end first."""
    size = len(text)
    tail = size - _WINDOW
    if tail > 0 and (before := text.rfind(text[tail:], max(0, tail - _LONGEST_PERIOD), size - 1)) >= 0:
        period = tail - before
        start = tail
        while start >= period and text.startswith(text[start - period : start], start):
            start -= period
        yield start, period
    for place in range(0, tail, _STEP):
        found = text.find(text[place : place + _WINDOW], place + 1, place + _WINDOW + _LONGEST_PERIOD)
        if found >= 0:
            yield place, found - place


def _stretch(text: str, place: int, period: int) -> int:
    """How many characters from there repeat with this period."""
    unit, end = text[place : place + period], place + period
    while text.startswith(unit, end):
        end += period
    return end - place


def _loops(reply: SeenReply) -> bool:
    return any(_is_loop(text) or _same_lines(text) for text in reply.texts if len(text) > 2 * _WINDOW)


def _is_loop(text: str) -> bool:
    for place, period in _periods(text):
        stretch = _stretch(text, place, period)
        if stretch < 3 * period or stretch < 80:
            continue
        unit = text[place : place + period]
        if not _RULES.issuperset(unit) and stretch >= _needed(unit):
            return True
    return False


def _needed(unit: str) -> int:
    """From which length on nobody writes this again and again on purpose."""
    words = sum(map(str.isalpha, unit))
    if words < 3:
        return max(400, 20 * len(unit))  # digits of a fraction, an array of zeros
    return max(160, 5 * len(unit))


_LINES = 16


def _same_lines(text: str) -> bool:
    """Few sentences make up a long text, though not in one order."""
    if len(text) < 800:
        return False
    sentences = [each for each in text.replace("\n", ". ").split(". ") if len(each) >= 24]
    return len(sentences) >= _LINES and len(set(sentences)) * 5 <= len(sentences)


_RUN = 16
_LONG_RUN = 160
"""Digits and blanks may stand in a row for longer."""


def _one_token(reply: SeenReply) -> bool:
    return any(map(_is_run, reply.texts))


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
    words = bare[-400:].split()[-_RUN:]
    return len(words) >= 8 and len(set(words)) == 1 and len(words[0]) > 1 and not _RULES.issuperset(words[0])


# Characters that no model means.


def _replacement(reply: SeenReply) -> bool:
    """A cap may cut one character in two; nothing else makes half ones."""
    for text in reply.texts:
        if "\ufffd" in text or "\x00" in text:
            whole = text.rstrip("\ufffd") if reply.finish_reason == "length" else text
            if "\ufffd" in whole or "\x00" in whole:
                return True
    return False


_SPECIAL = re.compile(
    r"<\|[A-Za-z_][\w▁]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|<(?:start|end)_of_(?:turn|utterance|image)>|\[control_\d+\]"
    r"|\[/?INST\]|<</?SYS>>|<unused\d+>|<extra_id_\d+>"
)
_ENDS = re.compile(r"(?:<(?:/?s|eos|bos|pad|unk|EOS|BOS|PAD|UNK)>|\[(?:PAD|EOS|BOS|UNK|SEP|CLS)\])\s*$")


_ROLES = ("\nassistant\n", "\nuser\n")
"""What is left of a template whose special tokens are not shown: the model goes on after its turn."""


def _special_tokens(reply: SeenReply) -> bool:
    for text in reply.texts:
        if sum(map(text.count, _ROLES)) > 1:
            return True
        if "<" not in text and "[" not in text:
            continue
        if _SPECIAL.search(text) or _ENDS.search(text, max(0, len(text) - 24)):
            return True
    return False


_PIECES = re.compile(r"(?<![▁▂▃▄▅▆▇█])[▁Ġ][A-Za-z]|Ċ|<0x[0-9A-F]{2}>")
_FEW_PIECES = 3


def _raw_pieces(reply: SeenReply) -> bool:
    return any(
        ("Ġ" in text or "▁" in text or "Ċ" in text or "<0x" in text) and len(_PIECES.findall(text)) >= _FEW_PIECES
        for text in reply.texts
    )


# Scripts. Greek letters are mathematics, Latin ones are everywhere, and Chinese stands beside Latin without a gap.

_EAST_ASIAN = "\u3040-\u9fff\uac00-\ud7ff\uf900-\ufaff"
_OTHER = "\u0400-\u1cff\u2c80-\u2dff\ua000-\uabff\ufb1d-\ufdff"
_LATIN = "A-Za-z"
_RUNS = re.compile(f"[{_OTHER}]+|[{_EAST_ASIAN}]+")
_STRANGE = re.compile(f"[{_OTHER}]+")
_EAST = re.compile(f"[{_EAST_ASIAN}]")
_GLUED = re.compile(f"[{_LATIN}]{{2}}[{_OTHER}]{{2}}|[{_OTHER}]{{2}}[{_LATIN}]{{2}}")
_BLOCKS = (
    (0x0400, "Cyrillic"), (0x0530, "Armenian"), (0x0590, "Hebrew"), (0x0600, "Arabic"), (0x0700, "Syriac"),
    (0x0900, "Devanagari"), (0x0980, "Bengali"), (0x0A00, "Gurmukhi"), (0x0A80, "Gujarati"), (0x0B00, "Oriya"),
    (0x0B80, "Tamil"), (0x0C00, "Telugu"), (0x0C80, "Kannada"), (0x0D00, "Malayalam"), (0x0D80, "Sinhala"),
    (0x0E00, "Thai"), (0x0E80, "Lao"), (0x0F00, "Tibetan"), (0x1000, "Burmese"), (0x10A0, "Georgian"),
    (0x1100, "Korean"), (0x1200, "Ethiopic"), (0x1780, "Khmer"), (0x1800, "Mongolian"), (0x1C80, "Cyrillic"),
    (0x2C80, "Coptic"), (0x2D00, "Georgian"), (0x2DE0, "Cyrillic"), (0x3040, "Chinese and Japanese"), (0xA000, "Yi"),
    (0xA640, "Cyrillic"), (0xAC00, "Korean"), (0xF900, "Chinese and Japanese"), (0xFB1D, "Hebrew"), (0xFB50, "Arabic"),
)  # fmt: skip
"""Where the blocks of scripts begin."""
_STARTS = [start for start, _ in _BLOCKS]
_MANY_SCRIPTS = 4
_GLUED_WORDS = 2
"""Words of two scripts in a text that is mostly Latin; other languages give foreign words their own endings."""
_CHANGED = 24
"""Letters before and after a change that is no quotation."""


def _script(letters: str) -> str:
    return _BLOCKS[bisect_right(_STARTS, ord(letters[0])) - 1][1]


def _changes_script(reply: SeenReply) -> bool:
    return any(not text.isascii() and _is_mixed(text, reply) for text in reply.texts)


def _is_mixed(text: str, reply: SeenReply) -> bool:
    others, first = _STRANGE.findall(text), _EAST.search(text)
    scripts = {*map(_script, others)} | {*map(_script, first[0] if first else "")}
    glued = len(_GLUED.findall(text)) if others and 2 * sum(map(len, others)) < sum(map(str.isalpha, text)) else 0
    if glued < _GLUED_WORDS and len(scripts) < _MANY_SCRIPTS and not (len(scripts) == 1 and _switches(text)):
        return False
    asked = {*map(_script, _RUNS.findall(reply.prompt()))}
    if len(scripts - asked) >= _MANY_SCRIPTS:
        return True
    return bool(scripts - asked) and (glued >= _GLUED_WORDS or len(scripts) == 1)


def _switches(text: str) -> bool:
    """The end is in a script that the rest has nothing of, and it begins in the middle of a sentence."""
    first = _RUNS.search(text)
    start = first.start() if first else 0
    before = text[max(0, start - 400) : start].rstrip(" ")
    if not (before[-1:].isalpha() or before[-1:] in {",", ";"}) or sum(map(str.isalpha, before)) < _CHANGED:
        return False
    after = text[start:]
    changed = sum(map(len, _RUNS.findall(after)))
    return changed >= _CHANGED and 2 * changed >= sum(map(str.isalpha, after))


# How the reply ended.


def _unclosed_thinking(reply: SeenReply) -> bool:
    """It ended by itself, and before there was an answer."""
    if reply.finish_reason == "length":
        return False
    if reply.reasoning and not reply.text.strip() and not reply.loglikelihoods:
        return reply.finish_reason not in _CALLS
    opened = reply.text.rfind("<think>") if reply.text.lstrip().startswith("<think>") else -1
    return opened >= 0 and "</think>" not in reply.text[opened:]


def _empty(reply: SeenReply) -> bool:
    return not (reply.text.strip() or reply.reasoning.strip() or reply.loglikelihoods) and reply.finish_reason not in {
        *_CALLS,
        "content_filter",
    }


_CALLS = frozenset({"tool_calls", "function_call"})


def _cut_below_cap(reply: SeenReply) -> bool:
    if reply.finish_reason != "length" or not reply.cap or reply.several:
        return False
    if reply.tokens is None:
        return 2 * len((reply.text + reply.reasoning).encode()) < reply.cap
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


def _filtered(reply: SeenReply) -> bool:
    return reply.finish_reason == "content_filter"


def _calls_tool(reply: SeenReply) -> bool:
    return not reply.tools and reply.finish_reason in _CALLS


# What the service says of its reply.


def _cumulative(reply: SeenReply) -> bool:
    """Every chunk held the whole text so far: the text is a row of its own beginnings."""
    return any(map(_is_cumulative, reply.texts))


_PARTS = 4
_LONGEST_CHUNK = 64


def _is_cumulative(text: str) -> bool:
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
    if reply.choices > 1 or reply.reasoning_tokens or reply.finish_reason in _CALLS or reply.method != "chat":
        return False
    return reply.tokens > len((reply.text + reply.reasoning).encode()) + _FREE_TOKENS


def _null_logprobs(reply: SeenReply) -> bool:
    """A method that measures every candidate left one without a number."""
    return reply.method != "top-logprobs" and None in reply.loglikelihoods


def _nothing(_: SeenReply) -> str:
    return ""


def _tokens_of(reply: SeenReply) -> str:
    several = f" in {reply.choices} choices" if reply.choices > 1 else ""
    return (
        f", with {reply.tokens:,} tokens{several} where {reply.cap:,} were allowed"
        if reply.tokens and reply.cap
        else ""
    )


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
    shows: Callable[[SeenReply], str] = _nothing
    """Numbers of one of them."""


KINDS = (
    AnomalyKind("empty", "nothing in them", _empty, by_length=True),
    AnomalyKind("loop", "the same passage again and again", _loops, by_length=True),
    AnomalyKind("one token", "one character or word again and again", _one_token, by_length=True),
    AnomalyKind("cumulative text", "each chunk repeats the whole text so far", _cumulative, by_length=True),
    AnomalyKind("broken characters", "U+FFFD or NUL in the text", _replacement),
    AnomalyKind("change of script", "another script in the middle of a sentence or a word", _changes_script),
    AnomalyKind("special tokens", "special tokens or roles of a chat template in the text", _special_tokens),
    AnomalyKind("tokenizer pieces", "pieces of the tokenizer's vocabulary in the text", _raw_pieces),
    AnomalyKind("unclosed thinking", "ended by themselves inside their reasoning", _unclosed_thinking),
    AnomalyKind("cut below the cap", "ended by 'length' below max_tokens", _cut_below_cap, True, _tokens_of),
    AnomalyKind("past the cap", "at max_tokens or past it, and not ended by 'length'", _past_cap, True, _tokens_of),
    AnomalyKind("content filter", "ended by a content filter of the service", _filtered),
    AnomalyKind("tool call", "a tool called although none was offered", _calls_tool),
    AnomalyKind("token count", "'usage' has fewer tokens than chunks, or more than bytes", _miscounted, True, _counted),
    AnomalyKind("log-probabilities", "null or no numbers", _null_logprobs),
)


def kinds(reply: SeenReply) -> tuple[str, ...]:
    """The names of all that is odd about it."""
    return tuple([kind.name for kind in KINDS if kind.test(reply)])
