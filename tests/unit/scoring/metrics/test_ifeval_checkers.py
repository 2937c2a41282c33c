"""Each of the 25 checkers from both sides of its line, and what holds of all of them for any text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.scoring.metrics.ifeval_instructions import (
    CHECKERS,
    EDITIONS,
    chinese_sentences,
    chinese_words,
    hindi_sentences,
)

CASES: list[tuple[str, dict[str, Any], tuple[str, ...], tuple[str, ...]]] = [
    ("keywords:existence", {"keywords": ["Cat", "dog"]}, ("A dog concatenates.", "DOG\nCAT"), ("A cat.", "c at dog")),
    ("keywords:existence", {"keywords": ["c++"]}, ("I know C++.",), ("I know ccc.",)),
    ("keywords:frequency", {"keyword": " so ", "frequency": 2, "relation": "at least"}, ("So, also", "soso"), ("so s o",)),
    ("keywords:frequency", {"keyword": "so", "frequency": 2, "relation": "less than"}, ("so", "no"), ("so so",)),
    ("keywords:forbidden_words", {"forbidden_words": ["die", "old"]}, ("Diet is told.",), ("It is OLD.", "die-hard")),
    ("keywords:letter_frequency", {"letter": "Q", "let_frequency": 2, "let_relation": "at least"}, ("qQ",), ("q p",)),
    ("keywords:letter_frequency", {"letter": "#", "let_frequency": 2, "let_relation": "at least"}, ("##",), ("# a",)),
    ("language:response_language", {"language": "de"}, ("Das ist ein kurzer Satz über das Wetter.", "12 !"), ("That is a short one.",)),
    ("length_constraints:number_words", {"num_words": 3, "relation": "at least"}, ("it's so", "a b c"), ("well-known.", "这是 很")),
    ("length_constraints:number_words", {"num_words": 3, "relation": "less than"}, ("a b",), ("a b c",)),
    ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "at least"}, ("Yes. No.", "Yes! no", "He met Dr. Which one?"), ("Dr. Who left at 5 p.m. yesterday.", "Yes\nNo")),
    ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "less than"}, ("J. R. Smith of the U.S. Senate spoke", "3. Letters came to the door"), ("He left the U.S. The rest stayed.",)),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, ("a\n***\nb", "***a***b***"), ("a", "a***b***c", "a***\n***b", "a\n\nb")),
    ("length_constraints:nth_paragraph_first_word", {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Yes"}, ('a\n\n"YES!" b', "a\n\nyes, b"), ("a\n\nyesterday", "yes\n\na", "a\n\nyes\n\nb", "a\n\n\n\nyes")),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, ("[a] [b]", "[[a] []"), ("[a]", "[a\n] [b]")),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, ("Bye.\np. s. so", "P.P.S. so"), ("PS: so", "p.  s.")),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, ("Bye. P.P.S so", "p. p. s"), ("P.S. so",)),
    ("detectable_content:postscript", {"postscript_marker": " N.B. "}, ("n.b. so",), ("nxb.", "N. B.")),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, ("* a\n* b", "so:\n  - a\n*b", "-\n-"), ("* a", "* a\n- b\n* c", "** a\n** b", "a * b * c")),
    ("detectable_format:constrained_response", {}, ("Well. My answer is no.",), ("my answer is no.", "My answer is no")),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, ("*a* *b c*", "**a** and *b*"), ("*a*", "**a**", "* * ** **", "*a\nb* *c*")),
    ("detectable_format:multiple_sections", {"section_spliter": "Section", "num_sections": 2}, ("Section 1 a Section2 b",), ("Section 1 a", "SECTION 1 SECTION 2", "Section A Section B")),
    ("detectable_format:json_format", {}, ('{"a": 1}', "```json\n[1]\n```", "3"), ("{'a': 1}", "so: {}", "```", "[" * 100_000)),
    ("detectable_format:title", {}, ("<<a>>\nb", "so <<a>> so"), ("<a>", "<<a\n>>", "<< >>", "<<>>")),
    ("combination:two_responses", {}, ("a\n******\nb", "a******b******"), ("a", "a******a", "a***b", "a************b", "a******b******c")),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say why. "}, ("\nsay WHY. Because.",), ("So: Say why.", "Say  why.")),
    ("startend:end_checker", {"end_phrase": "The end. "}, ("So. THE END.\n", '"The end."'), ("The end", "The end. So.")),
    ("startend:quotation", {}, ('"a"\n', '""'), ('"', "“a”", '"a" b', "'a'")),
    ("change_case:capital_word_frequency", {"capital_frequency": 2, "capital_relation": "at least"}, ("WELL-DONE, OK!", "CAN'T", "A B-1"), ("Well OK", "A/B", "1 2")),
    ("change_case:capital_word_frequency", {"capital_frequency": 1, "capital_relation": "less than"}, ("so it is",), ("so I am",)),
    ("change_case:english_capital", {}, ("THIS IS A SHORT ANSWER TO THE QUESTION.", "HTTP://EXAMPLE.COM"), ("THIS IS A SHORT ANSWEr TO THE QUESTION.", "DAS IST EINE KURZE ANTWORT AUF DIE FRAGE.", "12")),
    ("change_case:english_lowercase", {}, ("this is a short answer to the question.", "http://example.com/so"), ("This is a short answer to the question.", "das ist eine kurze antwort auf die frage.", "12")),
    ("punctuation:no_comma", {}, ("a; b", "a， b"), ("a, b",)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "yes", "no"), CASES)
def test_a_checker_tells_what_follows_from_what_does_not(
    name: str, arguments: dict[str, Any], yes: tuple[str, ...], no: tuple[str, ...]
) -> None:
    """On both sides of its line."""
    assert [reply for reply in yes if not CHECKERS[name](reply, **arguments)] == []
    assert [reply for reply in no if CHECKERS[name](reply, **arguments)] == []


def test_every_checker_has_its_cases() -> None:
    """All 25."""
    assert {name for name, *_ in CASES} == set(CHECKERS)
    assert len(CHECKERS) == 25


TEXTS = st.text(st.one_of(st.sampled_from(" \n*.!?\"'[]<>-aA,#{}`1é是"), st.characters(exclude_categories=["Cs"])))


@given(TEXTS)
def test_any_text_is_judged(text: str) -> None:
    """By yes or no, never by an error."""
    for name, arguments, _, _ in CASES:
        assert CHECKERS[name](text, **arguments) in {True, False}


CHINESE = "灯塔站在岩石上。它整夜转动着明亮的灯！"
HINDI = "प्रकाशस्तंभ चट्टान पर खड़ा है। उसका दीपक रात भर घूमता है।"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (CHINESE, 17),
        ("用GPT-4写 ok", 4),
        ("3.5", 1),
        ("好😀👍🏽", 3),
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
        ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "at least"}, CHINESE, CHINESE[:8]),
        ("length_constraints:number_sentences", {"num_sentences": 3, "relation": "less than"}, HINDI, HINDI + HINDI),
        ("startend:quotation", {}, "「好」", "「好”"),
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
