"""Replies to questions with options → the letter that a careful reader takes for the answer, or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.answers.letters import choice_letter


def asked(*choices: str) -> Problem:
    return Problem(id=0, messages=(), references=("x",), choices=choices)


CITIES = asked("Berlin", "Paris", "Rome", "Madrid")
TEN = asked(*(f"word{place}" for place in range(10)))

STATED = {
    # stated
    "The answer is **(B)**": "B",
    "The answer is option B.": "B",
    "I pick option C.": "C",
    "Answer: $\\boxed{\\text{B}}$": "B",
    "The answer is \\(B\\).": "B",
    "Option A is wrong, option B is right. ANSWER: B": "B",
    "By problem, the option corresponding to 1.2 is C.\nSo our selection is option C. #### C ": "C",
    "The first seems to be B.\n#### D\n": "D",
    "#### A\nA village.\n\n#### B\nA capital, so the answer is B.": "B",
    # Chinese
    "答案为（C）": "C",
    "正确答案是：**D**": "D",
    "因此，答案应该是 C": "C",
    "所以选B。": "B",
    "选项D正确": "D",
    # alone
    "b": "B",
    "B.": "B",
    "B. Paris": "B",
    "B, because the Louvre is there.": "B",
    ":\n\nB. Paris": "B",
    ": B. Paris, of course": "B",
    '"B". The Louvre is there': "B",
    "B 解析: 卢浮宫在那里": "B",
    "B。解析:卢浮宫在那里": "B",
    "B\n\n" + "The Louvre is there. " * 120: "B",
    "D. Susan B. Anthony": "D",
    "所以正确的是B:巴黎。而其他的都不是": "B",
    "Let me think.\n\nC": "C",
    "B\n\nA. Berlin is in Germany\nC. Rome is in Italy": "B",
    # chosen, called right
    "I choose B because of the Louvre.": "B",
    "B is correct.": "B",
    "The correct letter is B": "B",
    "The answer is most likely B.": "B",
    "The answer is (B), since (A) and (C) are wrong.": "B",
    "The answer is A because of the wall.": "A",
    "The answer is B.\nA and C are in other countries.": "B",
    "选B不选A": "B",
    "答案是B，A是错误的": "B",
    "选项A不正确，选项B正确": "B",
    "The answer is B. Answer: E": "B",
    "(B) would be the best answer": "B",
    "B选项正确": "B",
    "Option B.": "B",
    "All of it speaks for one city (B)": "B",
    # small, quoted
    "answer: b": "B",
    "The answer is (b), of course.": "B",
    "Answer: 'B'": "B",
    # taken back
    "The answer is A. No, the answer is not A. The answer is B.": "B",
    "The answer is (A) is incorrect, as the answer is (B).": "B",
    # the whole reply is the text of an option
    "Paris": "B",
    "B - Paris": "B",
    "It is Paris.": "B",
}


@pytest.mark.parametrize(("reply", "letter"), STATED.items())
def test_the_letter_that_a_careful_reader_reads(reply: str, letter: str) -> None:
    """Stated, in bold, in brackets, in LaTeX, in Chinese, chosen, called right, or alone."""
    assert choice_letter(reply, CITIES) == letter
    assert choice_letter(reply, CITIES, by_wording=True) == letter


SEVERAL = [
    "The answer is A and/or B",
    "The answer is either A or B.",
    "The answer could be A or B.",
    "The answer is between A and C.",
    "The answer is (A) Berlin or (B) Paris.",
    "The answer is A, or possibly, B",
    "Answer: A and B are both right.",
    "\\boxed{A} or \\boxed{B}",
    "\\boxed{A}\\boxed{B}",
    "A. Berlin or B. Paris",
    "A is correct. B is correct.",
    "A\nB\nC\nD",
    "A:old;B:new;C:small;D:large.",
]
NONE = [
    "The answer is not A.",
    "The answer cannot be A.",
    "The answer is A. No, the answer is not A.",
    "The answer is (A) is incorrect.",
    "Not (A).",
    "A is wrong.",
    "(A) is not correct.",
    "Option A is wrong.",
    "Option A says Berlin, option B says Paris.",
    "答案不是A",
    "不选A",
    "A不对",
    "The answer is a matter of taste.",
    "a city in France",
    "A city in France.",
    "The answer is E.",
    "The answer is E.\n\nA. Berlin is in Germany.",
    "The wrong answer is A.",
    "E",
    "Parisian",
    "A. Berlin?\nB. Paris?\nHard to tell.",
    "Answer: Because it is so.",
    "The answer is C++",
    "The answer is a.b",
    "B Rome",
    '{"answer": "A or B"}',
    "Answer: 'A' or 'B'",
    "",
]


@pytest.mark.parametrize("reply", NONE)
def test_no_letter_is_read_into_a_reply(reply: str) -> None:
    """Letters that are denied or not offered, articles, wordings, parts of words: no answer."""
    assert choice_letter(reply, CITIES) is None


@pytest.mark.parametrize("reply", SEVERAL)
def test_several_letters_are_no_answer_by_any_reading(reply: str) -> None:
    """Reading wordings does not choose between letters, nor between wordings."""
    assert choice_letter(reply, CITIES) is None
    assert choice_letter(reply, CITIES, by_wording=True) is None


@pytest.mark.parametrize(
    "reply", ["The answer is I think B", "I think so", "The answer is (III).", "answer is I and II"]
)
def test_the_pronoun_and_numerals_are_no_letters(reply: str) -> None:
    """With nine options and more, I is a letter only where it stands as one."""
    assert choice_letter(reply, TEN) is None
    assert choice_letter("The answer is I.", TEN) == "I"
    assert choice_letter("The answer is (I) because of the rain", TEN) == "I"


WORDED = {
    "It is Paris, if I remember.": "B",
    "Let me think. Option B says so.": "B",
    "So it must be Paris, I think.": "B",
}


@pytest.mark.parametrize(("reply", "letter"), WORDED.items())
def test_an_option_is_read_by_its_wording_only_where_that_is_wanted(reply: str, letter: str) -> None:
    """The only option that is mentioned by letter or text."""
    assert choice_letter(reply, CITIES) is None
    assert choice_letter(reply, CITIES, by_wording=True) == letter


@pytest.mark.parametrize(
    "reply",
    [
        "The claim is false, as he won.",
        "The claim is false. He won.",
        "This claim is false because he won.",
        "It is therefore false.",
    ],
)
def test_a_sentence_may_say_which_word_is_right(reply: str) -> None:
    """Where the options are words, behind what was asked."""
    assert choice_letter(reply, asked("true", "false")) == "B"
    assert choice_letter("The claim is old, as he won.", asked("true", "false")) is None


def test_the_wording_must_be_whole() -> None:
    """15 does not mean 5, New York City is not New York, and a single letter is no wording."""

    def worded(reply: str, *choices: str) -> str | None:
        return choice_letter(reply, asked(*choices), by_wording=True)

    assert worded("It is 15", "5", "15") == "B"
    assert worded("It is 1.5", "1.5", "5", "1") == "A"
    assert worded("It is New York City.", "New York", "New York City") == "B"
    assert worded("It is New York.", "New York", "New York City") == "A"
    assert worded("我认为是北京市", "北京", "上海") == "A"
    assert worded("C++ of course", "C++ (1985)", "C++", "Rust") == "B"
    assert worded("I cannot tell", "I", "J") is None


@given(st.integers(2, 6), st.data())
def test_a_stated_letter_is_read_when_it_is_offered(options: int, data: st.DataObject) -> None:
    """For any number of options: the offered letters are read, the others are not."""
    letter = data.draw(st.sampled_from("ABCDEFGH"))
    problem = asked(*(f"word{place}" for place in range(options)))
    expected = letter if letter in "ABCDEFGH"[:options] else None
    for form in ("ANSWER: {}", "The answer is ({}).", "{}", "**{}**", "\\boxed{{{}}}", "答案是{}", "I choose {}."):
        assert choice_letter(form.format(letter), problem) == expected


STATEMENTS = ("ANSWER: {}", "The answer is {}.", "\\boxed{{{}}}", "答案是{}", "I choose {}.", "{}")
JOINS = (" or ", " and ", "/", ", ", " & ", "、", "或", "和", " or (", ") or (")


@given(st.sampled_from(STATEMENTS), st.sampled_from(JOINS), st.permutations("ABCD"))
def test_two_letters_are_no_answer_in_any_form(form: str, join: str, letters: list[str]) -> None:
    """However a statement is written, and however two letters are joined in it."""
    opened = "(" if join.startswith(")") else ""
    closed = ")" if join.endswith("(") else ""
    assert choice_letter(form.format(f"{opened}{letters[0]}{join}{letters[1]}{closed}"), CITIES) is None


@given(
    st.sampled_from(STATEMENTS[:4]), st.sampled_from(STATEMENTS[:4]), st.sampled_from("ABCD"), st.sampled_from("ABCD")
)
def test_the_last_statement_counts(first: str, second: str, before: str, after: str) -> None:
    """A reply may correct itself."""
    assert choice_letter(f"{first.format(before)}\n\nNo, wait.\n\n{second.format(after)}", CITIES) == after


@given(st.text(alphabet="ABCDI ()[]*_:.,/\n是选答案或不andornotanswer", max_size=60))
def test_any_reply_has_an_offered_letter_or_none(reply: str) -> None:
    """Whatever is written; and reading by wording only adds answers."""
    letter = choice_letter(reply, CITIES)
    assert letter is None or letter in "ABCD"
    assert letter is None or choice_letter(reply, CITIES, by_wording=True) == letter
