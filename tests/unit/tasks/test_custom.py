"""A user's own file → a task, an exam, and verdicts."""

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Attempt, PreparedDataset
from model_accuracy_eval.scoring.judging import judge
from model_accuracy_eval.tasks import custom, preparation
from model_accuracy_eval.tasks.rows import parse

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=30).filter(str.strip)


def built(name: str, data: bytes) -> PreparedDataset:
    task = custom.from_file(name, data)
    return preparation.build(task, parse(name, data, task.fields), [], None)


def jsonl(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def why(paper: PreparedDataset, place: int, reply: str) -> str:
    attempt = Attempt(problem=paper.problems[place].id, index=0, text=reply)
    return judge(paper.problems[place], [attempt], paper.task.pipelines[0]).verdicts[0].why


def test_answers_that_are_numbers_are_judged_as_numbers() -> None:
    """The last number of the reply counts, however it is written."""
    paper = built(
        "my/sums.jsonl", jsonl({"question": "600+634?", "answer": "1,234"}, {"question": "1/2?", "answer": 0.5})
    )
    assert paper.task.name == "sums"
    assert paper.problems[0].messages[-1].content == "600+634?"
    assert why(paper, 0, "600 and 634 make $1234.00.") == "right"
    assert why(paper, 0, "634") == "wrong"
    assert why(paper, 1, "It is 0.50") == "right"
    assert why(paper, 1, "a half") == "not found"


def test_answers_that_are_texts_must_be_the_whole_reply() -> None:
    """Case and blanks are free, further words are not."""
    paper = built("a.csv", b"question,answer\nCapital of France?,Paris\nBig one?,New York\n2+2?,4\n")
    assert why(paper, 0, " paris\n") == "right"
    assert why(paper, 0, "<think>Rome?</think>Paris") == "right"
    assert why(paper, 0, "It is Paris.") == "wrong"
    assert why(paper, 1, "new  york") == "right"
    assert why(paper, 2, "4") == "right"


def test_answers_in_gsm8k_format_carry_their_solution() -> None:
    """What stands behind the last #### is the answer; one row without it makes them all texts."""
    solved = {"question": "3*4?", "answer": "3*4=<<3*4=12>>12 eggs\n#### 12"}
    paper = built("a.jsonl.gz", jsonl(solved))
    assert paper.task.name == "a"
    assert paper.problems[0].references == ("12",)
    assert why(paper, 0, "#### 12.0") == "right"
    mixed = built("a.jsonl", jsonl(solved, {"question": "1?", "answer": "one"}))
    assert mixed.problems[1].references == ("one",)
    assert mixed.task.pipelines[0].metrics[0].name == "exact"


@pytest.mark.parametrize("options", range(2, 7))
def test_any_number_of_options_is_offered(options: int) -> None:
    """Two to six options, each under its letter, in the order of the file."""
    letters = "ABCDEF"[:options]
    row = {"question": "Which?", "answer": letters[-1]} | {letter: f"word {letter}" for letter in letters}
    paper = built("a.jsonl", jsonl(row))
    problem = paper.problems[0]
    assert problem.choices == tuple(f"word {letter}" for letter in letters)
    assert problem.references == (letters[-1],)
    assert "\n".join(f"{letter}. word {letter}" for letter in letters) in problem.messages[-1].content
    assert f"(one of {', '.join(letters)})" in problem.messages[-1].content
    assert why(paper, 0, f"ANSWER: {letters[-1]}") == "right"
    assert why(paper, 0, "ANSWER: A") == "wrong"


@given(st.lists(TEXTS, min_size=2, max_size=4), TEXTS, st.booleans())
def test_the_text_of_options_is_left_alone(options: list[str], question: str, as_csv: bool) -> None:
    """Newlines, quotes, braces and angle brackets are shown as they are, and nothing in them is run as a template."""
    row = {"question": question, **dict(zip("ABCD", options, strict=False)), "answer": "B"}
    if as_csv:
        target = io.StringIO()
        csv.writer(target, quoting=csv.QUOTE_ALL).writerows([list(row), list(row.values())])
        paper = built("a.csv", target.getvalue().encode())
    else:
        paper = built("a.jsonl", jsonl(row))
    assert paper.problems[0].choices == tuple(options)
    content = paper.problems[0].messages[-1].content
    assert content.startswith(question)
    assert all(f"{letter}. {option}" in content for letter, option in zip("ABCD", options, strict=False))


def test_options_that_are_numbers_are_options() -> None:
    """JSON numbers are shown and found as their digits."""
    paper = built("a.jsonl", jsonl({"question": "2+2?", "A": 3, "B": 4, "answer": "B"}))
    assert paper.problems[0].choices == ("3", "4")
    assert why(paper, 0, "4.") == "right"


def test_a_template_in_a_question_is_only_text() -> None:
    """Braces of a user's own data are never filled."""
    paper = built("a.jsonl", jsonl({"question": "{{ answer }} {% raw %}", "answer": "7"}))
    assert paper.problems[0].messages[-1].content == "{{ answer }} {% raw %}"


ROW = {"question": "Which?", "A": "x", "B": "y"}


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([ROW | {"answer": "A"}, ROW | {"answer": "C"}], "row 2: the field 'answer' must be one of A, B, not 'C'."),
        ([ROW | {"answer": "y"}], "row 1: the field 'answer' must be one of A, B, not 'y'."),
        ([ROW | {"answer": "a"}], "row 1: the field 'answer' must be one of A, B, not 'a'."),
        (
            [{"question": "?", "B": "x", "C": "y", "answer": "B"}],
            "line 1: the options must be called A, B, but are B, C.",
        ),
        ([{"question": "?", "A": "x", "C": "y", "answer": "A"}], "the options must be called A, B, but are A, C."),
        ([ROW], "line 1: the field 'answer' is missing; there are: question, A, B."),
        ([ROW | {"answer": "A"}, {"question": "?", "A": "x", "answer": "A"}], "line 2: the field 'B' is missing"),
        ([ROW | {"answer": "A", "B": " "}], "line 1: the field 'B' is empty."),
        ([{"prompt": "?", "answer": "A"}], "line 1: the field 'question' is missing; there are: prompt, answer."),
    ],
)
def test_a_file_of_another_shape_is_refused(rows: list[dict[str, Any]], sentence: str) -> None:
    """The sentence names the row and the field."""
    with pytest.raises(BadData) as error:
        built("mc.jsonl", jsonl(*rows))
    assert error.value.sentence.startswith("mc.jsonl, ")
    assert sentence in error.value.sentence


@pytest.mark.parametrize(
    ("name", "is_file"),
    [
        ("demo_gsm8k", False),
        ("gsm8k_4shot", False),
        ("mmlu.law", False),
        ("a.jsonl", True),
        ("a.csv.gz", True),
        ("a.json", True),
        ("./a", True),
        ("/data/a.parquet", True),
    ],
)
def test_files_are_told_from_names(name: str, *, is_file: bool) -> None:
    """By a slash or by an ending of data files."""
    assert custom.looks_like_file(name) == is_file


def test_answers_that_are_formulas_are_judged_as_mathematics() -> None:
    """A few words among them are compared as words, and the reply may explain itself."""
    golds = [r"\frac{\sqrt{3}}{2}", "x^2+x", r"\text{Evelyn}", "12"]
    paper = built("a.jsonl", jsonl(*({"question": "?", "answer": gold} for gold in golds)))
    assert why(paper, 0, r"Half of it, so $\boxed{\frac{1}{2}\sqrt{3}}$.") == "right"
    assert why(paper, 0, r"\boxed{0.866}") == "wrong"
    assert why(paper, 1, "The answer is $x(x+1)$.") == "right"
    assert why(paper, 2, r"\boxed{\text{evelyn}}") == "right"
    assert why(paper, 2, "Evelyn") == "right"
    assert why(paper, 3, "5 + 7 = 12") == "right"


@pytest.mark.parametrize(
    "golds",
    [
        ["Paris", "Rome", "a\\b"],
        ["Paris", "3/4/2021"],
        ["x", "y"],
        [r"C:\Windows", "/usr/bin", "D:"],
        ["x^2", "no", "yes"],
    ],
)
def test_texts_with_some_signs_in_them_stay_texts(golds: list[str]) -> None:
    """Names, paths, dates, letters, and words with a lonely formula among them."""
    paper = built("a.jsonl", jsonl(*({"question": "?", "answer": gold} for gold in golds)))
    assert why(paper, 0, golds[0].upper()) == "right"
    assert why(paper, 0, f"It is {golds[0]}") == "wrong"
