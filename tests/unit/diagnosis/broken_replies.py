"""Healthy replies of many kinds, and ways in which inference breaks them: each way names the anomaly that it makes."""

import random
from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.diagnosis.anomalies import SeenReply
from model_accuracy_eval.records import ToldToken

CAP = 512
_NAMES = ("Mara", "Jonas", "Aiko", "Tomasz", "Leila", "Pedro")
_THINGS = ("boxes", "apples", "tickets", "stones", "letters", "coins")


def _sums(draw: random.Random) -> str:
    lines, total = [], draw.randrange(2, 40)
    for number in range(draw.randrange(3, 9)):
        more, name, thing = draw.randrange(2, 90), draw.choice(_NAMES), draw.choice(_THINGS)
        lines.append(f"{number + 1}. {name} brings {more} {thing}, so there are {total} + {more} = {total + more}.")
        total += more
    return "Let us go through it step by step.\n\n" + "\n".join(lines) + f"\n\nThe answer is {total}."


def _table(draw: random.Random) -> str:
    rows = [f"| {draw.choice(_NAMES)} | {draw.randrange(100)} | - | - | - |" for _ in range(draw.randrange(4, 30))]
    return "\n".join(["| name | points | a | b | c |", "|------|--------|---|---|---|", *rows])


def _same_rows(draw: random.Random) -> str:
    return "\n".join(f"| {day} | open | open | closed |" for day in range(1, draw.randrange(6, 32)))


def _code(draw: random.Random) -> str:
    fields = "\n".join(f"        self.{thing} = {thing}\n        self.count += 1" for thing in _THINGS)
    cases = "\n".join(f"    if n == {n}:\n        return {draw.randrange(99)}\n" for n in range(draw.randrange(3, 20)))
    return f"```python\nclass Shop:\n    def __init__(self, {', '.join(_THINGS)}):\n{fields}\n\n\ndef f(n):\n{cases}```\n{'-' * 60}"


def _poem(draw: random.Random) -> str:
    refrain = (
        "Row, row, row your boat,\nGently down the stream,\nMerrily, merrily, merrily, merrily,\nLife is but a dream.\n"
    )
    return "\n".join(f"{draw.choice(_NAMES)} sings of {thing}:\n{refrain}" for thing in _THINGS[: draw.randrange(2, 6)])


def _numbers(draw: random.Random) -> str:
    size = draw.randrange(10, 125)
    return f"[{', '.join(['0'] * size)}, {', '.join(str(n * n) for n in range(size))}]\n1/3 = 0.{'3' * draw.randrange(9, 60)}…"


def _maths(draw: random.Random) -> str:
    terms = " + ".join(rf"\frac{{{draw.randrange(1, 99)}}}{{{n}^2}}" for n in range(2, draw.randrange(8, 40)))
    return rf"With α ≥ 2 and β = 3 we have \[ S = {terms} \] and hence \(S ≈ {draw.random():.4f}\), so \boxed{{{draw.randrange(9)}}}."


def _matrix(draw: random.Random) -> str:
    size = draw.randrange(3, 9)
    rows = r" \\ ".join(" & ".join("1" if at == row else "0" for at in range(size)) for row in range(size))
    return rf"\begin{{pmatrix}} {rows} \end{{pmatrix}} is the identity, and its determinant is 1."


def _json(draw: random.Random) -> str:
    entries = ",\n".join(
        f'  {{"name": "{draw.choice(_NAMES)}", "tags": [], "value": null, "active": false}}'
        for _ in range(draw.randrange(2, 9))
    )
    return f"[\n{entries}\n]"


def _chinese(draw: random.Random) -> str:
    steps = "".join(
        f"第{n}步，我们用Python计算{draw.randrange(99)}加{draw.randrange(99)}，得到新的结果。"
        for n in range(1, draw.randrange(3, 9))
    )
    return f"首先分析题目。{steps}所以答案是 **B**。"


def _russian(draw: random.Random) -> str:
    return " ".join(
        f"{draw.choice(('Сначала', 'Затем', 'После этого'))} мы складываем {draw.randrange(99)} и {draw.randrange(99)} по формуле x = a + b."
        for _ in range(draw.randrange(2, 9))
    )


def _many_languages(draw: random.Random) -> str:
    words = {
        "French": "bonjour", "Russian": "привет", "Greek": "γειά", "Japanese": "こんにちは", "Polish": "dzień dobry",
    }  # fmt: skip
    return "\n".join(f"- {language}: {word} ({draw.randrange(9)})" for language, word in words.items())


def _translation(draw: random.Random) -> str:
    return f"Here is the translation of sentence {draw.randrange(99)}:\n\n今天的天气很好，我们一起去公园散步，然后回家吃晚饭，大家都很高兴，明天再见。"


def _arabic(draw: random.Random) -> str:
    return f"الجواب الصحيح هو {draw.randrange(99)} لأن مجموع الأعداد المذكورة في السؤال يساوي هذا العدد تماما (A)."


def _short(draw: random.Random) -> str:
    return draw.choice(("B", "42", "#### 18", "**C**", "Yes.", "-1", "......", "7777", "[]", "是", "True", "1,000,000"))


def _form(draw: random.Random) -> str:
    return (
        "Name: ____________________________________\n\nDate: ________________\n"
        + "\u00a0" * draw.randrange(9)
        + "=" * 72
        + "\nok"
    )


HEALTHY: tuple[Callable[[random.Random], str], ...] = (
    _sums, _table, _same_rows, _code, _poem, _numbers, _maths, _matrix, _json, _chinese, _russian, _many_languages,
    _translation, _arabic, _short, _form,
)  # fmt: skip


def healthy(draw: random.Random) -> SeenReply:
    """A reply of one of these kinds, as a sound service sends it."""
    return sent(draw.choice(HEALTHY)(draw), draw)


def sent(text: str, draw: random.Random) -> SeenReply:
    """About four bytes a token, a token a chunk, an end of its own."""
    tokens = max(1, len(text.encode()) // draw.choice((3, 4)))
    return SeenReply(
        text=text,
        finish_reason="stop",
        chunks=tokens,
        tokens=tokens + 1,
        cap=max(CAP, tokens + 9),
        prompt=lambda: "Why?",
    )


class Break(NamedTuple):
    """A way to break a reply."""

    kind: str
    spoil: Callable[[SeenReply, random.Random], SeenReply]


def _with(reply: SeenReply, text: str, draw: random.Random, reason: str = "length") -> SeenReply:
    """That text for as many tokens as were allowed."""
    spoiled = sent(text, draw)
    return replace(spoiled, finish_reason=reason, cut=int(reason == "length"), cap=spoiled.tokens)


def _place(text: str, draw: random.Random) -> int:
    return draw.randrange(len(text) + 1)


def _loop(reply: SeenReply, draw: random.Random) -> SeenReply:
    words = draw.choices(
        ("the", "value", "of", "x", "is", "then", "therefore", "we", "get", "market", "新的", "结果"),
        k=draw.randrange(4, 40),
    )
    unit = " ".join(words) + draw.choice((". ", "\n", ", ", "\n\n"))
    return _with(
        reply,
        reply.text[: _place(reply.text, draw)] + unit * draw.randrange(max(6, 200 // len(unit)), 99) + unit[:5],
        draw,
    )


def _run(reply: SeenReply, draw: random.Random) -> SeenReply:
    unit = draw.choice(("!", "?", "！", " the", "的", "\ufe0f", "G", " Mandatory.", "(", "}"))
    return _with(reply, reply.text[: _place(reply.text, draw)] + unit * draw.randrange(48, 300), draw)


def _all_one(reply: SeenReply, draw: random.Random) -> SeenReply:
    return _with(reply, draw.choice(("!", "?", "！")) * draw.randrange(16, 64), draw)


def _broken(reply: SeenReply, draw: random.Random) -> SeenReply:
    at = _place(reply.text, draw)
    return sent(reply.text[:at] + "\ufffd" * draw.randrange(1, 4) + (reply.text[at:] or "."), draw)


_SALAD = (
    "hookup",
    "_attach",
    "пня",
    "ளம்",
    "ണം",
    "խորհ",
    "নি",
    "toggle",
    "价格",
    "การ",
    "ընդ",
    "עבור",
    "على",
    "것",
    "მა",
    "そして",
)


def _salad(reply: SeenReply, draw: random.Random) -> SeenReply:
    words = "".join(draw.choice(_SALAD) + draw.choice((" ", "", "")) for _ in range(draw.randrange(24, 200)))
    return _with(reply, reply.text[: _place(reply.text, draw)] + words, draw)


def _switch(reply: SeenReply, draw: random.Random) -> SeenReply:
    other = draw.choice(
        (
            "价格上涨价格下跌然后我们需要比较每个位置的数值一次又一次",
            "после этого необходимо сравнить каждое значение ещё раз",
        )
    )
    return _with(
        reply, f"First we compare the decimals by aligning the places to make {other * draw.randrange(1, 5)}", draw
    )


def _leak(reply: SeenReply, draw: random.Random) -> SeenReply:
    tokens = (
        "<|im_end|>",
        "<|eot_id|>",
        "</s>",
        "<|endoftext|>",
        "<｜end▁of▁sentence｜>",
        "<end_of_turn>",
        "<eos>",
        "<|EOT|>",
        "[/INST]",
    )
    return sent(reply.text + draw.choice(tokens) * draw.randrange(1, 4), draw)


def _next_turn(reply: SeenReply, draw: random.Random) -> SeenReply:
    return _with(reply, f"{reply.text}\nuser\nAnd then?\nassistant\n{reply.text}", draw)


def _pieces(reply: SeenReply, draw: random.Random) -> SeenReply:
    return sent(f"So the result of all this is {reply.text}".replace(" ", draw.choice("Ġ▁")), draw)


def _thinking(reply: SeenReply, draw: random.Random) -> SeenReply:
    if draw.random() < 0.5:
        return replace(reply, text="", reasoning=f"Let me see. {reply.text}")
    return replace(reply, text=f"<think>\nLet me see. {reply.text}")


def _low_cap(reply: SeenReply, draw: random.Random) -> SeenReply:
    few = draw.randrange(1, 8)
    return replace(reply, text=reply.text[: 4 * few], chunks=few, tokens=few, cap=CAP, finish_reason="length", cut=1)


def _past(reply: SeenReply, draw: random.Random) -> SeenReply:
    return replace(reply, tokens=CAP + draw.randrange(2, 99), cap=CAP)


def _cumulative(reply: SeenReply, draw: random.Random) -> SeenReply:
    text, ends = f"So I found {reply.text}", [draw.randrange(1, 9)]
    while ends[-1] < len(text):
        ends.append(ends[-1] + draw.randrange(1, 9))
    return sent("".join(text[:end] for end in ends), draw)


def _fewer(reply: SeenReply, draw: random.Random) -> SeenReply:
    text = f"So this is what I found out: {reply.text}"
    return replace(sent(text, draw), tokens=draw.randrange(len(text) // 9))


def _more(reply: SeenReply, draw: random.Random) -> SeenReply:
    return replace(reply, tokens=len(reply.text.encode()) + draw.randrange(20, 999), cap=None)


BREAKS = (
    Break("loop", _loop), Break("one token", _run), Break("one token", _all_one), Break("broken characters", _broken),
    Break("change of script", _salad), Break("change of script", _switch), Break("special tokens", _leak),
    Break("special tokens", _next_turn), Break("tokenizer pieces", _pieces), Break("unclosed thinking", _thinking),
    Break("cut below the cap", _low_cap), Break("past the cap", _past), Break("cumulative text", _cumulative),
    Break("token count", _fewer), Break("token count", _more),
    Break("empty", lambda reply, _: replace(reply, text=" \n", chunks=1, tokens=1)),
    Break("content filter", lambda reply, _: replace(reply, finish_reason="content_filter")),
    Break("tool call", lambda reply, _: replace(reply, text="", finish_reason="tool_calls")),
    Break("log-probabilities", lambda reply, _: replace(reply, method="echo", loglikelihoods=(None,))),
    Break("log-probabilities", lambda reply, _: replace(reply, tokens_told=(ToldToken(text="7"),))),
)  # fmt: skip
