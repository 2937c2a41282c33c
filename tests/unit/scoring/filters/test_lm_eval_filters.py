"""Filters that importers use one to one, with lm-eval's answers; what it calls "[invalid]" is not found."""

import re
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import Problem, Step
from model_accuracy_eval.scoring.filters import filters

FRUIT = Problem(id=0, messages=(), references=("A",), choices=("Red apple", "Pear", "Fig"), extras={"name": "fruit"})


def run(name: str, *replies: str | None, **args: object) -> list[str | None]:
    return filters.run([Step(name=name, args=dict(args))], list(replies), FRUIT)


EITHER = {"regex_pattern": r"(-?[$0-9.,]{2,})|(-?[0-9]+)", "group_select": -1}
LETTER = {"regex_pattern": r"(\([A-Z]\))", "ignore_case": True, "ignore_punctuation": True}
TABLE = {"mapping_dict": {"A": 0, "B": 1}, "default_value": -1}


@pytest.mark.parametrize(
    ("name", "args", "replies", "answers"),
    [
        # L7: one match, counted from either end, and of its groups the first that is not empty
        ("regex", {}, ["so 5\n#### 1,234.\n", "none"], ["1,234.", None]),
        ("regex", EITHER, ["I have 3 apples and $12.50."], ["$12.50."]),
        ("regex", {"regex_pattern": "(a)?(b)?"}, ["x"], [None]),
        ("regex", {"regex_pattern": r"\d", "group_select": 5}, ["1 2"], [None]),
        # only what lm-eval itself calls invalid is counted as not found
        ("regex", {"fallback": "0"}, ["none"], ["0"]),
        ("regex", {"fallback": "[invalid]"}, ["none"], [None]),
        ("take_first", {}, ["a", "b"], ["a"]),
        # L10: the earliest of equals; unread replies vote, unless they are told not to
        ("majority_vote", {}, ["7", "8", "8", "7", "9"], ["7"]),
        ("majority_vote", {}, [None, None, "3"], [None]),
        ("majority_vote", {"skip_unread": True}, [None, None, "3"], ["3"]),
        # L11: of what a table lacks the default remains, or nothing
        ("uppercase", {}, ["b"], ["B"]),
        ("map", TABLE, ["A", "C"], ["0", "-1"]),
        ("map", {"mapping_dict": {"A": 0}}, ["C"], [None]),
        ("noop", {}, [" b "], [" b "]),
        # L12: by the pattern, by an option's wording, behind a colon
        ("multi_choice_regex", LETTER, ["I think (B).", "It is a red apple!"], ["(B)", "(A)"]),
        ("multi_choice_regex", LETTER, ["Answer: C", "dunno"], ["(C)", None]),
        # L13: tags, where lm-eval says ["invalid"] there is no answer; and entities, each behind its label
        ("regex_pos", {}, ["[('Ada', 'PROPN'), ('runs', 'VERB')]"], ['["PROPN", "VERB"]']),
        ("regex_pos", {}, ["('a','b') ('c', '')", "Ada: PROPN"], ['[""]', None]),
        ("format_span", {}, ["Person: Ada $$ Location: Kenya, Uganda"], ["per: ada $ loc: kenya $ loc: uganda"]),
        ("format_span", {}, ["PER: none\nORG: Who $$ date : Monday $$"], ["org: who $ date: monday"]),
        ("format_span", {}, ["superperson: x, time: 5:30"], ["date: 5:30"]),
        ("format_span", {}, ["PERSON: Ada $ LOCATION: a person in Rome"], ["per: ada $ loc: a person in rome"]),
        ("format_span", {}, ["no entity"], [""]),
    ],
)
def test_l7_to_l13_what_each_step_makes_of_replies(
    name: str, args: dict[str, object], replies: list[str | None], answers: list[str | None]
) -> None:
    """As lm-eval 0.4.13 does it."""
    assert run(name, *replies, **args) == answers


@given(st.text(string.ascii_letters + string.digits + " #.,-", max_size=40), st.integers(-3, 3))
def test_l7_regex_is_findall_with_a_place(text: str, place: int) -> None:
    """Against Python's own findall, for a pattern of one group."""
    found = re.findall(r"([a-z]+|\d+)", text)
    expected = found[place] if -len(found) <= place < len(found) else None
    assert run("regex", text, regex_pattern=r"([a-z]+|\d+)", group_select=place) == [expected]


def test_l9_take_first_k_needs_k_replies() -> None:
    """Two of three, and then their majority; of two replies three cannot be taken."""
    steps = [Step(name="take_first_k", args={"k": 2}), Step(name="majority_vote")]
    assert filters.run(steps, ["a", "b", "b"], FRUIT) == ["a"]
    with pytest.raises(BadValue, match="takes 3 samples of every problem, but there are 2"):
        run("take_first_k", "a", "b", k=3)


def test_l11_steps_follow_each_other() -> None:
    """Each changes the text alone."""
    assert filters.run([Step(name="lowercase"), Step(name="remove_whitespace")], ["  Yes.\n"], FRUIT) == ["yes."]


def test_l12_a_longer_wording_is_not_taken_for_the_shorter_one_in_it() -> None:
    """Guilty of Romance is not Guilty."""
    asked = Problem(id=0, messages=(), references=("B",), choices=("Guilty", "Guilty of Romance"))
    step = Step(name="multi_choice_regex", args={"regexes_to_ignore": [r"\*"]})
    assert filters.run([step], ["*Guilty of Romance*"], asked) == ["(B)"]


def test_l13_a_filter_of_the_users_own_stands_at_a_path(tmp_path: Path) -> None:
    """One reply at a time, or lists of replies in lm-eval's form; both see the problem."""
    own = tmp_path / "own.py"
    own.write_text(
        "def shout(text, problem, mark='!'):\n    return text.upper() + mark\n\n\n"
        "def named(resps, docs):\n    return [[docs[0]['name'] + one for one in each] for each in resps]\n\n\n"
        "def short(resps, docs):\n    return [each[:1] for each in resps]\n"
    )
    assert run(f"{own}:shout", "a", None, mark="?") == ["A?", None]
    assert run("custom", "a", "b", filter_fn=f"{own}:named") == ["fruita", "fruitb"]
    with pytest.raises(BadValue, match="made 1 answers of 2 replies"):
        run(f"{own}:short", "a", "b")


def test_steps_are_looked_at_before_anything_is_asked(tmp_path: Path) -> None:
    """Unknown names, unknown and missing arguments, and paths that lead nowhere are refused with what there is."""
    with pytest.raises(UnknownName, match="no filter called 'lowercas'; did you mean lowercase"):
        filters.check(Step(name="lowercas"))
    with pytest.raises(BadValue, match="The filter 'regex' has no argument 'regexpattern'; it takes regex_pattern"):
        filters.check(Step(name="regex", args={"regexpattern": "x"}))
    with pytest.raises(BadValue, match="The filter 'take_first_k' needs the argument 'k'"):
        filters.check(Step(name="take_first_k"))
    with pytest.raises(BadValue, match="cannot be loaded: FileNotFoundError"):
        filters.check(Step(name=f"{tmp_path}/nobody.py:read"))
    with pytest.raises(BadValue, match=r"cannot be loaded: string has no 'nobody'"):
        filters.check(Step(name="string:nobody"))
