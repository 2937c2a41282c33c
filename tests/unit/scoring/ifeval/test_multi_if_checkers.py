"""Instructions that Multi-IF counts by the reply's language, from both sides of the line."""

from typing import Any

import pytest

from model_accuracy_eval.scoring.ifeval.ifeval_instructions import CHECKERS, EDITIONS
from model_accuracy_eval.scoring.ifeval.text_analysis import chinese_sentences, chinese_words, hindi_sentences

CHINESE = "灯塔站在岩石上。它整夜转动着明亮的灯！"
HINDI = "प्रकाशस्तंभ चट्टान पर खड़ा है। उसका दीपक रात भर घूमता है।"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("灯塔", 2),
        (CHINESE, 17),
        ("用GPT-4写 ok", 4),
        ("3.5", 1),
        ("好😀👍🏽", 3),
        ("かな、한국", 4),
        ("「」……", 0),
    ],
)
def test_chinese_words(text: str, words: int) -> None:
    assert chinese_words(text) == words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [("", 0), (CHINESE, 2), ("一句\n两句", 2), ("是吗？！", 1), ("3.5米", 2), ("。。", 0), ("一\u2028二", 2)],
)
def test_chinese_sentences(text: str, sentences: int) -> None:
    assert chinese_sentences(text) == sentences


@pytest.mark.parametrize(("text", "sentences"), [("", 0), (HINDI, 2), ("एक।", 1), ("एक! दो? तीन", 3), ("1.5", 1)])
def test_hindi_sentences(text: str, sentences: int) -> None:
    assert hindi_sentences(text) == sentences


@pytest.mark.parametrize(
    ("name", "arguments", "followed", "broken"),
    [
        ("length_constraints:number_words", {"num_words": 17, "relation": "at least"}, CHINESE, CHINESE[1:]),
        ("length_constraints:number_words", {"num_words": 3, "relation": "at least"}, "one two three", "one two"),
        ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "at least"}, CHINESE, CHINESE[:8]),
        ("length_constraints:number_sentences", {"num_sentences": 3, "relation": "less than"}, HINDI, HINDI + HINDI),
        ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "at least"}, "Yes. No.", "Yes, no."),
        ("startend:quotation", {}, "「好」", "「好”"),
        ("startend:quotation", {}, "“good”", "“good”."),
        ("startend:quotation", {}, '"good"', '"'),
    ],
)
def test_what_is_counted_by_language(name: str, arguments: dict[str, Any], followed: str, broken: str) -> None:
    checker = EDITIONS["multi_if"][name]
    assert (checker(followed, **arguments), checker(broken, **arguments)) == (True, False)


def test_all_else_is_as_in_ifeval() -> None:
    """The same names everywhere, since prompts of either can be judged by both."""
    assert EDITIONS["multi_if"].keys() == EDITIONS["ifeval"].keys() == CHECKERS.keys()
    other = [name for name in CHECKERS if EDITIONS["multi_if"][name] is not CHECKERS[name]]
    assert other == [
        "length_constraints:number_words", "length_constraints:number_sentences", "startend:quotation",
    ]  # fmt: skip
