"""ruler_niah_single_4k and its like: RULER's synthetic tasks over texts of our own, at six lengths.

Home: https://github.com/NVIDIA/RULER, arXiv:2404.06654; texts and questions are made here. Licence: Apache-2.0.
A row: made from sentences that come with the package; `tokens` says how long, at four characters a token: a fact or
four hidden among sentences (niah_single, the plain needle in a haystack, at eleven depths; niah_multikey,
niah_multivalue, niah_multiquery), a value handed on from name to name (vt), the ten common words of a list (cwe), the
three most frequent words (fwe). RULER's two tasks over questions of SQuAD and HotpotQA are not made.
Asked: the text, then the question, in words of our own.
Judged: the share of the right numbers, names or words that occur in the reply, as RULER counts them. A task file with
the view `long_contexts` makes any other length. The groups ruler_4k to ruler_128k are the plain mean of a length's
tasks. The same length, kind and number give the same text on every machine.
"""

import itertools
import math
import random
from collections.abc import Callable, Sequence

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import (
    DataFile,
    DataRow,
    DataSource,
    Grouping,
    MetricUse,
    Pipeline,
    Prompt,
    Step,
    TaskSpec,
)

_ABOUT = {
    "niah_single": "one fact in a long text",
    "niah_multikey": "one of four facts in a long text",
    "niah_multivalue": "four numbers of one thing in a long text",
    "niah_multiquery": "four facts in a long text",
    "vt": "variables that get one value from each other",
    "cwe": "the ten common words of a long list",
    "fwe": "the three most frequent words of a long text",
}
LENGTHS = (4, 8, 16, 32, 64, 128)
"""In thousands of tokens."""


def _task(kind: str, length: int) -> TaskSpec:
    single = kind == "niah_single"
    return TaskSpec(
        name=f"ruler_{kind}_{length}k",
        about=f"RULER: {_ABOUT[kind]} of {length},000 tokens.",
        home="https://github.com/NVIDIA/RULER",
        licence="Apache-2.0",
        aliases=(f"needle_{length}k",) if single else (),
        data=DataFile(name="ruler/everyday_sentences.txt", source=DataSource(url="package:everyday_sentences.txt")),
        views=(Step(name="long_contexts", args={"kind": kind, "tokens": 1000 * length}),),
        fields=("text",),
        prompt=Prompt(question="Read this text; a question about it follows.\n\n{{ text }}\n\n{{ question }}"),
        reference="{{ answers | join(', ') }}",
        references="{{ answers | tojson }}",
        category="depth" if single else None,
        max_tokens=256,
        pipelines=(
            Pipeline(
                filters=(Step(name="strip_thoughts"),), metrics=(MetricUse(name="contains_all", label="accuracy"),)
            ),
        ),
        grouping=Grouping(by="category") if single else None,
    )


BY_LENGTH = {f"ruler_{length}k": tuple(_task(kind, length) for kind in _ABOUT) for length in LENGTHS}
"""Group → its datasets."""

TASKS = tuple(task for tasks in BY_LENGTH.values() for task in tasks)
GROUPS = tuple(prompt_parts.plain_mean(name, tasks) for name, tasks in BY_LENGTH.items())

# The texts: facts hidden among everyday sentences, chains of names, counted words.


_CHARACTERS = 4
"""In a token of English, roughly: the tokens of a served model cannot be counted beforehand."""
_REST = 128
"""Tokens of a length that are left for the question and the chat template."""

_COLOURS = (
    *("amber", "black", "blue", "brown", "crimson", "green", "grey", "ivory", "orange", "purple", "silver", "white"),
)
_THINGS = (
    *("basket", "cabinet", "drawer", "engine", "flask", "harness", "kettle", "locker", "parcel", "suitcase", "trunk"),
)
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_LETTERS = (_CONSONANTS, _VOWELS) * 3 + ("klmnrst",)
_MADE_UP = math.prod(map(len, _LETTERS))
"""How many words can be made up."""
_MADE_UP_TOKENS = 2
"""A made-up word has more tokens than a known one, so that a text of them is this much shorter."""
_NEEDLE = "The number of the {key} is {value}."


def long_contexts(rows: list[DataRow], *, kind: str, tokens: int, size: int = 50) -> list[DataRow]:
    """`size` questions of one kind over texts of that many tokens: `text`, `question`, `answers`, and for single facts
    the `depth` in per cent at which they stand."""
    if kind not in KINDS:
        raise UnknownName("kind of long text", kind, KINDS)
    sentences = [str(row["text"]).strip() for row in rows]
    room = (tokens - _REST) * _CHARACTERS
    made = [
        KINDS[kind](random.Random(f"{kind} {tokens} {number}"), sentences, room, number)  # noqa: S311 - no secret
        for number in range(size)
    ]
    longest = max(len(row["text"]) for row in made)
    if longest > room:
        raise BadValue(
            f"Texts of the kind '{kind}' have {longest // _CHARACTERS + _REST} tokens at least, "
            f"but {tokens} are asked for."
        )
    return made


def _filler(draw: random.Random, sentences: Sequence[str], room: int) -> list[str]:
    """All sentences in a new order, again and again, up to this many characters."""
    chosen: list[str] = []
    while True:
        for sentence in draw.sample(sentences, len(sentences)):
            room -= len(sentence) + 1
            if room < 0:
                return chosen
            chosen.append(sentence)


def _hidden(draw: random.Random, sentences: Sequence[str], room: int, facts: Sequence[str]) -> str:
    """The facts in their order at places drawn by chance."""
    text = _filler(draw, sentences, room - sum(len(fact) + 1 for fact in facts))
    for place, fact in reversed(
        list(zip(sorted(draw.choices(range(len(text) + 1), k=len(facts))), facts, strict=True))
    ):
        text.insert(place, fact)
    return " ".join(text)


def _keys(draw: random.Random, count: int) -> list[str]:
    return draw.sample([f"{colour} {thing}" for colour in _COLOURS for thing in _THINGS], count)


def _values(draw: random.Random, count: int) -> list[str]:
    return list(map(str, draw.sample(range(1_000_000, 10_000_000), count)))


def _single(draw: random.Random, sentences: Sequence[str], room: int, number: int) -> DataRow:
    """One fact; eleven depths in turn, from the first sentence to the last."""
    (key,), (value,) = _keys(draw, 1), _values(draw, 1)
    fact = _NEEDLE.format(key=key, value=value)
    text = _filler(draw, sentences, room - len(fact) - 1)
    depth = number % 11 * 10
    text.insert(round(len(text) * depth / 100), fact)
    return {"text": " ".join(text), "question": _asked([key]), "answers": [value], "depth": f"{depth:03} %"}


def _multikey(draw: random.Random, sentences: Sequence[str], room: int, _number: int) -> DataRow:
    """Four facts of different things, one of which is asked for."""
    return _several(draw, sentences, room, asked=1)


def _multiquery(draw: random.Random, sentences: Sequence[str], room: int, _number: int) -> DataRow:
    """Four facts of different things, and all are asked for."""
    return _several(draw, sentences, room, asked=4)


def _several(draw: random.Random, sentences: Sequence[str], room: int, asked: int) -> DataRow:
    keys, values = _keys(draw, 4), _values(draw, 4)
    facts = [_NEEDLE.format(key=key, value=value) for key, value in zip(keys, values, strict=True)]
    chosen = sorted(draw.sample(range(4), asked))
    text = _hidden(draw, sentences, room, facts)
    return {
        "text": text,
        "question": _asked([keys[place] for place in chosen]),
        "answers": [values[place] for place in chosen],
    }


def _multivalue(draw: random.Random, sentences: Sequence[str], room: int, _number: int) -> DataRow:
    """Four numbers of one thing, and all are asked for."""
    (key,), values = _keys(draw, 1), _values(draw, 4)
    text = _hidden(draw, sentences, room, [_NEEDLE.format(key=key, value=value) for value in values])
    question = f"The text gives several numbers of the {key}. What are they all? Reply with the numbers alone."
    return {"text": text, "question": question, "answers": values}


def _asked(keys: Sequence[str]) -> str:
    named = keys[0] if len(keys) == 1 else f"{', the '.join(keys[:-1])} and the {keys[-1]}"
    verb, what = ("is the number", "number") if len(keys) == 1 else ("are the numbers", "numbers")
    return f"What {verb} of the {named} in the text? Reply with the {what} alone."


def _variables(draw: random.Random, sentences: Sequence[str], room: int, _number: int) -> DataRow:
    """A value that is handed on by four assignments, beside a chain of another value."""
    names = _names(draw, 10)
    values = draw.sample(range(10_000, 100_000), 2)
    chains = [names[:5], names[5:]]
    orders = [
        [f"VAR {chain[0]} = {value}.", *(f"VAR {new} = VAR {old}." for old, new in itertools.pairwise(chain))]
        for chain, value in zip(chains, values, strict=True)
    ]
    lines: list[str] = []
    while any(orders):
        lines.append(draw.choice([order for order in orders if order]).pop(0))
    question = (
        f"Lines such as VAR A = VAR B give A the value of B. Which variables have the value {values[0]}? "
        "Reply with their names alone."
    )
    return {"text": _hidden(draw, sentences, room, lines), "question": question, "answers": chains[0]}


def _names(draw: random.Random, count: int) -> list[str]:
    """Five capitals each, all different."""
    names: dict[str, None] = {}
    while len(names) < count:
        names["".join(draw.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ", k=5))] = None
    return list(names)


def _made_up_words(draw: random.Random, count: int) -> list[str]:
    """Words of seven letters, so that none is a part of another; all different."""
    return list(map(_made_up_word, draw.sample(range(_MADE_UP), count)))


def _made_up_word(number: int) -> str:
    word = ""
    for letters in _LETTERS:
        number, place = divmod(number, len(letters))
        word += letters[place]
    return word


def _common_words(draw: random.Random, _sentences: Sequence[str], room: int, _number: int) -> DataRow:
    """A numbered list in which ten words occur thirty times and all others three times."""
    room //= _MADE_UP_TOKENS
    entry = len("1. baketon ") + len(str(room // 12)) - 1
    words = _made_up_words(draw, max(20, 10 + (room // entry - 300) // 3))
    entries = words[:10] * 30 + words[10:] * 3
    draw.shuffle(entries)
    question = "Which ten words occur most often in the list? Reply with the words alone."
    return {
        "text": " ".join(f"{number}. {word}" for number, word in enumerate(entries, start=1)),
        "question": question,
        "answers": words[:10],
    }


def _frequent_words(draw: random.Random, _sentences: Sequence[str], room: int, _number: int) -> DataRow:
    """Words of which the n-th most frequent occurs 1 / n² as often as the first."""
    count = room // _MADE_UP_TOKENS // len("baketon ")
    first = int(count * 0.6)
    times = [max(1, first // rank**2) for rank in range(1, math.isqrt(first) + 1)]
    times += [1] * (count - sum(times))
    words = _made_up_words(draw, len(times))
    entries = [word for word, often in zip(words, times, strict=True) for _ in range(often)]
    draw.shuffle(entries)
    question = "Which three words occur most often in the text? Reply with the words alone."
    return {"text": " ".join(entries), "question": question, "answers": words[:3]}


KINDS: dict[str, Callable[[random.Random, Sequence[str], int, int], DataRow]] = {
    "niah_single": _single,
    "niah_multikey": _multikey,
    "niah_multivalue": _multivalue,
    "niah_multiquery": _multiquery,
    "vt": _variables,
    "cwe": _common_words,
    "fwe": _frequent_words,
}
"""RULER's names: needles in a haystack, variable tracking, extraction of common words, and of frequent words."""

VIEWS = {"long_contexts": long_contexts}
