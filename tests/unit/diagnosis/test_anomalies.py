"""What is odd about a reply: seen in what broken inference makes, and in nothing that models write on purpose."""

import random

import pytest
from tests.unit.diagnosis.broken_replies import BREAKS, HEALTHY, Break, healthy, sent

from model_accuracy_eval.diagnosis.anomalies import KINDS, SeenReply, kinds
from model_accuracy_eval.records import ToldToken

DRAWS = 150


def test_every_kind_has_a_way_to_make_it() -> None:
    """A new row of the table comes with a generator of its fault."""
    assert {each.kind for each in BREAKS} == {kind.name for kind in KINDS}


@pytest.mark.parametrize("way", BREAKS, ids=lambda way: way.kind)
def test_broken_replies_are_seen(way: Break) -> None:
    """Of healthy replies that are broken in this way, 95 % and more have its name."""
    seen = 0
    for seed in range(DRAWS):
        draw = random.Random(seed)
        seen += way.kind in kinds(way.spoil(healthy(draw), draw))
    assert seen >= 0.95 * DRAWS


@pytest.mark.parametrize("kind", HEALTHY, ids=lambda kind: kind.__name__.strip("_"))
def test_healthy_replies_are_left_alone(kind: object) -> None:
    """Tables, code, verses, digits, JSON and other languages repeat themselves for good reasons."""
    draw = random.Random(7)
    replies = [sent(kind(draw), draw) for _ in range(DRAWS)]  # type: ignore[operator]
    assert [reply.text for reply in replies if kinds(reply)] == []


SILENT = {
    "half a character at the cap": SeenReply(text="Überlegt 数学 \ufffd", finish_reason="length", cap=9, tokens=9, cut=1),
    "thinking cut by the cap": SeenReply(text="<think>\nSo", finish_reason="length", cap=4, tokens=4, cut=1),
    "thinking that was closed": SeenReply(text="<think>\nSo\n</think>\nB", finish_reason="stop"),
    "tags of HTML": SeenReply(text="Use <s>old</s> for struck text, then <b>new</b>.", finish_reason="stop"),
    "a last token that is not counted": SeenReply(text="and so on and on", finish_reason="length", cap=9, tokens=8, cut=1),
    "an end right at the cap": SeenReply(text="That is all there is to say.", finish_reason="stop", cap=20, tokens=20),
    "tokens of three choices": SeenReply(text="B.", finish_reason="stop", cap=512, tokens=1200, choices=3),
    "one of two was cut": SeenReply(text="so", finish_reason="length", cap=512, tokens=520, choices=2, cut=1),
    "tools that were offered": SeenReply(text="", finish_reason="tool_calls", tools=True),
    "hidden reasoning": SeenReply(text="B.", finish_reason="stop", tokens=900, reasoning_tokens=890),
    "characters one by one": SeenReply(text="a whole sentence", finish_reason="stop", chunks=16, tokens=4),
    "no letter among the likeliest": SeenReply(text="", method="top-logprobs", loglikelihoods=(None,)),
    "token ids without log-probabilities": SeenReply(text="7", tokens_told=(ToldToken(id=7),)),
    "foreign words with endings": SeenReply(text="బిల్లీ DVDలను, Pythonలో మరియు Javaలో విక్రయిస్తాడు అతడికి మంగళవారం నాడు"),
    "a script that was asked for": SeenReply(
        text="First we compare the decimals in the order that they have, " + "价格上涨价格下跌" * 4, prompt=lambda: "价格?"
    ),
    "a growing beginning of a line": SeenReply(text="___________ is what a customer expects of the service."),
}  # fmt: skip


@pytest.mark.parametrize("name", SILENT)
def test_what_has_another_reason_is_not_odd(name: str) -> None:
    """Each is near to an anomaly, and none."""
    assert kinds(SILENT[name]) == ()


def test_reasoning_is_looked_at_too() -> None:
    """It is where most loops are."""
    assert kinds(SeenReply(text="B", reasoning="Wait, let me think about that again. " * 30)) == ("loop",)
