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


def test_l7_regex_takes_one_match_and_of_its_groups_the_first_that_is_not_empty() -> None:
    """The default pattern reads GSM8K's mark; a chosen match may be counted from the end."""
    assert run("regex", "so 5\n#### 1,234.\n", "none") == ["1,234.", None]
    either = r"(-?[$0-9.,]{2,})|(-?[0-9]+)"
    assert run("regex", "I have 3 apples and $12.50.", regex_pattern=either, group_select=-1) == ["$12.50."]
    assert run("regex", "x", regex_pattern="(a)?(b)?") == [None]
    assert run("regex", "1 2", regex_pattern=r"\d", group_select=5) == [None]


def test_l7_an_explicit_fallback_is_a_text_and_lm_evals_is_none() -> None:
    """Only what lm-eval itself calls invalid is counted as not found."""
    assert run("regex", "none", fallback="0") == ["0"]
    assert run("regex", "none", fallback="[invalid]") == [None]


@given(st.text(string.ascii_letters + string.digits + " #.,-", max_size=40), st.integers(-3, 3))
def test_l7_regex_is_findall_with_a_place(text: str, place: int) -> None:
    """Against Python's own findall, for a pattern of one group."""
    found = re.findall(r"([a-z]+|\d+)", text)
    expected = found[place] if -len(found) <= place < len(found) else None
    assert run("regex", text, regex_pattern=r"([a-z]+|\d+)", group_select=place) == [expected]


def test_l9_take_first_k_needs_k_replies() -> None:
    """Two of three, and then their majority; of two replies three cannot be taken."""
    assert run("take_first", "a", "b") == ["a"]
    steps = [Step(name="take_first_k", args={"k": 2}), Step(name="majority_vote")]
    assert filters.run(steps, ["a", "b", "b"], FRUIT) == ["a"]
    with pytest.raises(BadValue, match="takes 3 samples of every problem, but there are 2"):
        run("take_first_k", "a", "b", k=3)


def test_l10_majority_vote_takes_the_earliest_of_equals_and_counts_unread_replies() -> None:
    """Unread replies vote, as in lm-eval, unless they are told not to."""
    assert run("majority_vote", "7", "8", "8", "7", "9") == ["7"]
    assert run("majority_vote", None, None, "3") == [None]
    assert run("majority_vote", None, None, "3", skip_unread=True) == ["3"]


def test_l11_case_blanks_and_tables() -> None:
    """Each changes the text alone; of what a table lacks the default remains, or nothing."""
    assert filters.run([Step(name="lowercase"), Step(name="remove_whitespace")], ["  Yes.\n"], FRUIT) == ["yes."]
    assert run("uppercase", "b") == ["B"]
    assert run("map", "A", "C", mapping_dict={"A": 0, "B": 1}, default_value=-1) == ["0", "-1"]
    assert run("map", "C", mapping_dict={"A": 0}) == [None]
    assert run("noop", " b ") == [" b "]


@pytest.mark.parametrize(
    ("reply", "letter"),
    [("I think (B).", "(B)"), ("It is a red apple!", "(A)"), ("Answer: C", "(C)"), ("dunno", None)],
)
def test_l12_multi_choice_regex_reads_a_letter_in_three_ways(reply: str, letter: str | None) -> None:
    """By the pattern, by an option's wording, behind a colon."""
    args = {"regex_pattern": r"(\([A-Z]\))", "ignore_case": True, "ignore_punctuation": True}
    assert run("multi_choice_regex", reply, **args) == [letter]


def test_l12_a_longer_wording_is_not_taken_for_the_shorter_one_in_it() -> None:
    """Guilty of Romance is not Guilty."""
    asked = Problem(id=0, messages=(), references=("B",), choices=("Guilty", "Guilty of Romance"))
    step = Step(name="multi_choice_regex", args={"regexes_to_ignore": [r"\*"]})
    assert filters.run([step], ["*Guilty of Romance*"], asked) == ["(B)"]


@pytest.mark.parametrize(
    ("reply", "entities"),
    [
        ("Person: Ada $$ Location: Kenya, Uganda", "per: ada $ loc: kenya $ loc: uganda"),
        ("PER: none\nORG: Who $$ date : Monday $$", "org: who $ date: monday"),
        ("superperson: x, time: 5:30", "date: 5:30"),
        ("PERSON: Ada $ LOCATION: a person in Rome", "per: ada $ loc: a person in rome"),
        ("no entity", ""),
    ],
)
def test_l13_format_span_lists_named_entities(reply: str, entities: str) -> None:
    """Each behind its label, as lm-eval 0.4.13 does; words are labels only in front of a colon."""
    assert run("format_span", reply) == [entities]


def test_l13_regex_pos_lists_tags() -> None:
    """Those of pairs of a word and a tag; where lm-eval says ["invalid"] there is no answer."""
    replies = ("[('Ada', 'PROPN'), ('runs', 'VERB')]", "('a','b') ('c', '')", "Ada: PROPN")
    assert run("regex_pos", *replies) == ['["PROPN", "VERB"]', '[""]', None]


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
