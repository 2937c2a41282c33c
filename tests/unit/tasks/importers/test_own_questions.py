"""A user's own file → a task, an exam, and verdicts."""

import csv
import io
import json
import re
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from model_accuracy_eval.errors import BadData, EvalError
from model_accuracy_eval.records import Attempt, MetricUse, Pipeline, PreparedDataset, Step, VerdictReason
from model_accuracy_eval.scoring.figures.judging import judge
from model_accuracy_eval.tasks import preparation
from model_accuracy_eval.tasks.importers import own_questions, own_verdicts
from model_accuracy_eval.tasks.rows import parse

FORM = "\n\nThink it through if you need to, then end with: ANSWER: X (the answer alone)."
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=30).filter(str.strip)


def built(name: str, data: bytes) -> PreparedDataset:
    task = own_questions.from_file(name, data)
    return preparation.build(task, parse(name, data, task.fields), [], None)


def jsonl(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def why(paper: PreparedDataset, place: int, reply: str) -> VerdictReason:
    attempt = Attempt(problem=paper.problems[place].id, index=0, text=reply)
    return judge(paper.problems[place], [attempt], paper.task.pipelines[0]).verdicts[0].why


def test_answers_that_are_numbers_are_judged_as_numbers() -> None:
    """The last number of the reply counts, however it is written."""
    paper = built(
        "my/sums.jsonl", jsonl({"question": "600+634?", "answer": "1,234"}, {"question": "1/2?", "answer": 0.5})
    )
    assert paper.task.name == "sums"
    assert paper.problems[0].messages[-1].content == "600+634?" + FORM
    assert why(paper, 0, "600 and 634 make $1234.00.") == "right"
    assert why(paper, 0, "634") == "wrong"
    assert why(paper, 1, "It is 0.50") == "right"
    assert why(paper, 1, "a half") == "not found"


def test_answers_that_are_texts_are_compared_as_people_mean_them() -> None:
    """Case and blanks are free, and a sentence may say the answer; one that only has it does not."""
    paper = built("a.csv", b"question,answer\nCapital of France?,Paris\nBig one?,New York\n2+2?,4\n")
    assert why(paper, 0, " paris\n") == "right"
    assert why(paper, 0, "<think>Rome?</think>Paris") == "right"
    assert why(paper, 0, "It is Paris.") == "right"
    assert why(paper, 0, "I like Paris.") == "wrong"
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
    assert [problem.extras["kind"] for problem in mixed.problems] == ["text", "text"]


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


ROW = {"question": "Which?", "A": "x", "B": "y"}


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            [ROW | {"answer": "A"}, ROW | {"answer": "C"}],
            "row 2: the field 'answer' must be one of A, B, or the text of that option, not 'C'.",
        ),
        ([ROW | {"answer": -1}], "row 1: the right answer '-1' is no position from 0 to 1 among 2 options; -1 stands"),
        ([ROW | {"answer": 0}, ROW | {"answer": 2}], "row 2: the right answer '2' is no position from 0 to 1"),
        ([ROW | {"answer": ["A", "B"]}], "row 1: 'answer' names 2 options as right, and a reply names one"),
        (
            [{"question": "?", "B": "x", "C": "y", "answer": "B"}],
            "mc.jsonl: the options must be called A, B, but are B, C.",
        ),
        ([ROW], "no column is known to hold the right answer; there are: question, A, B. Name it with --columns"),
        ([ROW | {"answer": "A"}, {"question": "?", "A": "x", "answer": "A"}], "row 2: there must be 2 to 26 options"),
        (
            [ROW | {"C": "z", "answer": "A"}, ROW | {"B": " ", "C": "z", "answer": "A"}],
            "row 2: the option 'B' is empty",
        ),
        ([{"task": "?", "answer": "A"}], "no column is known to hold the question; there are: task, answer. Name it"),
        ([{"question": "?", "prompt": "!", "answer": "A"}], "'question' and 'prompt' could all be the question. Say"),
        ([{"question": "?", "answer": "x"}, {"question": "?", "answer": " "}], "row 2: the field 'answer' is empty."),
        ([{"question": "?", "answer": {"a": 1}}], "row 1: the right answer 'answer' is an object with a: name the"),
        ([{"question": {"de": "?"}, "answer": "x"}], "row 1: 'question' holds an object where a text is needed"),
        ([{"question": "?", "answer": "x", "label": "y"}], "row 1: 'answer' says 'x', but 'label' says 'y'. Say which"),
        ([{"question": "?", "words": ["x", "y"], "answer": "x"}], "row 1: the right answer 'x' is one of the list in"),
        ([{"question": "?", "image": "a.png", "answer": "x"}], "the column 'image' holds pictures or sound"),
        ([{"text": "a", "label": 0}, {"text": "b", "label": 1}], "'label' holds the numbers of 2 classes, and no"),
        (
            [{"question": "?", "choices": ["1", "2", "3"], "answer": 2}],
            "row 1: the right answer 2 is the text of option B, and counted from 0 the position of option C ('3').",
        ),
        ([{"question": "?", "choices": ["B", "x"], "answer": "B"}], "could be option A ('B') and B ('x'): write its"),
        ([{"question": "?", "choices": ["x"], "answer": "x"}], "row 1: there must be 2 to 26 options, but 1 is."),
        ([{"question": "?", "choices": "x y", "answer": "x"}], "row 1: the options in 'choices' cannot be told apart"),
        ([{"question": "?", "choices": ["x", ""], "answer": "x"}], "row 1: option 2 of 'choices' is empty."),
        (
            [{"question": "?", "answer": "1.234,5"}, {"question": "?", "answer": "1,234"}],
            "row 2: 1.234,5 has a decimal comma, so '1,234' could be 1234 or 1.234: write it with a point",
        ),
        *(
            (
                [{"question": "?", "answer": "x"}, {"question": "?", "answer": number}],
                f"row 2: write the number '{number}'",
            )
            for number in ("1 234", "1'234.5", "1.234.567", "1,00,000")
        ),
        *(
            (
                [{"question": "?", "answer": "x"}, {"question": "?", "answer": text}],
                f"row 2: the right answer '{text}' is what",
            )
            for text in ("#N/A", "#DIV/0!", "nan", "<NA>")
        ),
        ([{"question": "?", "answer": "3,14"}, {"question": "?", "answer": 1}], "row 1: the number '3,14' has a comma"),
        ([{"question": "?", "answer": "<think>a</think>b"}], "row 1: the right answer holds a thought, and replies"),
        ([{"question": "?", "answer": []}], "the column 'answer' has no right answer in any row."),
        ([{"question": "?", "choices": ["x", "y"], "answer": "A,B"}], "row 1: the field 'answer' must be one of A, B"),
        (
            [
                {"question": "?", "choices": ["x", "y"], "answer": 1},
                {"question": "?", "choices": ["x", "y"], "answer": "B"},
            ],
            "row 1: the field 'answer' must be one of A, B, or the text of that option, not '1'.",
        ),
        (
            [{"question": "?", "answer": "x", "match": "fuzzy"}],
            "row 1: 'match' says how a row is judged, so it must be",
        ),
        (
            [{"question": "?", "answer": "x", "match": "judge"}],
            "row 1: a judge model is asked by a task file of your own",
        ),
        (
            [{"question": "?", "answer": "x", "match": "choice"}],
            "row 1: 'match' is choice, but the row has no options.",
        ),
        (
            [{"question": "?", "answer": "x", "match": "number"}],
            "row 1: it is judged as a number, but the right answer",
        ),
        (
            [{"question": "?", "answer": "a(", "match": "regex"}],
            "row 1: the right answer 'a(' is no pattern: missing )",
        ),
        (
            [{"question": "?", "answer": "x", "tolerance": 1}],
            "row 1: 'tolerance' is 1, but the right answer is no number",
        ),
        (
            [{"question": "?", "answer": 1, "tolerance": "some"}],
            "row 1: 'tolerance' must be a number such as 0.5, or a",
        ),
        (
            [ROW | {"answer": "A", "aliases": ["z"]}],
            "row 1: the row has options, and its letter is compared, so 'aliases'",
        ),
        ([ROW | {"answer": "A", "match": "exact"}], "row 1: 'match' is exact, but the row has options, and its letter"),
        ([{"input": [{"role": "bot", "content": "?"}], "ideal": "x"}], "message 1 of 'input' needs a role and a text"),
        ([{"input": [{"role": "assistant", "content": "?"}], "ideal": "x"}], "the last message of 'input' must be of"),
    ],
)
def test_what_is_not_certain_is_refused(rows: list[dict[str, Any]], sentence: str) -> None:
    """The sentence names the row and the field, and what to do where a flag helps."""
    with pytest.raises(BadData) as error:
        built("mc.jsonl", jsonl(*rows))
    assert error.value.sentence.startswith("mc.jsonl")
    assert sentence in error.value.sentence


@pytest.mark.parametrize(
    ("name", "is_file"), [("demo_gsm8k", False), ("gsm8k_4shot", False), ("a.jsonl", True), ("/data/a.parquet", True)]
)
def test_files_are_told_from_names(name: str, *, is_file: bool) -> None:
    """By a slash or by an ending of data files."""
    assert own_questions.looks_like_file(name) == is_file


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


@pytest.mark.parametrize("golds", [["Paris", "Rome", "a\\b"], ["Paris", "3/4/2021"], ["x^2", "no", "yes"]])
def test_texts_with_some_signs_in_them_stay_texts(golds: list[str]) -> None:
    """Names, paths, dates, letters, and words with a lonely formula among them."""
    paper = built("a.jsonl", jsonl(*({"question": "?", "answer": gold} for gold in golds)))
    assert why(paper, 0, golds[0].upper()) == "right"
    assert why(paper, 0, f"I would not say {golds[0]}") == "wrong"


OPTIONS = ["red", "green", "blue", "grey"]
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which?"}]


@pytest.mark.parametrize(
    ("row", "letter"),
    [
        ({"question": "Which?", "choices": OPTIONS, "answer": "blue "}, "C"),
        ({"question": "Which?", "choices": OPTIONS, "answer": "c"}, "C"),
        ({"question": "Which?", "choices": OPTIONS, "answer": "(C)"}, "C"),
        ({"question": "Which?", "choices": OPTIONS, "answer": "C. blue"}, "C"),
        ({"question": "Which?", "choices": OPTIONS, "answer": "Ｃ"}, "C"),
        ({"question": "Which?", "choices": OPTIONS, "answer": 0}, "A"),
        ({"question": "Which?", "choices": OPTIONS, "answer": 4}, "D"),
        ({"question": "Which?", "choices": OPTIONS, "answer": "4.0"}, "D"),
        ({"question": "Which?", "choices": ["A) red", "B) green"], "answer": "red"}, "A"),
        ({"question": "Which?", "choices": ["3", "4"], "answer": 4}, "B"),
        ({"question": "Which?", "choices": "red|green", "answer": "green"}, "B"),
        ({"question": "Which?", "choices": "['red', 'green']", "answer": "green"}, "B"),
        ({"question": "Which?", "options": {"A": "red", "B": "green"}, "gold": "B"}, "B"),
        ({"question": "Which?", "choices": {"text": OPTIONS, "label": ["1", "2", "3", "4"]}, "answerKey": "3"}, "C"),
        ({"question": "Which?", "options": OPTIONS, "answer": "B", "answer_index": 1, "question_id": 70}, "B"),
        ({"question": {"stem": "Which?", "choices": [{"label": "A", "text": "x"}, {"label": "B", "text": "y"}]},
          "answerKey": "B"}, "B"),
        ({"q": "Which?", "a": "B", "A": "x", "B": "y"}, "B"),
        ({"goal": "Which?", "sol1": "x", "sol2": "y", "label": 0}, "A"),
        ({"ctx": "Which?", "endings": OPTIONS, "label": "4"}, "D"),
        ({"question": "Which?", "opa": "x", "opb": "y", "cop": 2}, "B"),
        ({"Question": "Which?", "option_a": "x", "option_b": "y", "Correct Answer": "b"}, "B"),
        ({"题目": "Which?", "A": "x", "B": "y", "答案": "B"}, "B"),
    ],
)  # fmt: skip
def test_options_of_every_shape_are_understood(row: dict[str, Any], letter: str) -> None:
    """The right option by its letter, label, text or position; the question is asked with all its options."""
    paper = built("a.jsonl", jsonl(row))
    problem = paper.problems[0]
    assert problem.references == (letter,)
    assert problem.messages[-1].content.startswith("Which?\n\nA. ")
    assert len(problem.choices) >= 2
    assert why(paper, 0, f"ANSWER: {letter}") == "right"
    assert why(paper, 0, f"ANSWER: {'A' if letter != 'A' else 'B'}") == "wrong"


@pytest.mark.parametrize(
    ("row", "right", "wrong"),
    [
        ({"question": "1+1?", "answer": ["2", "two"]}, ["2", "Two"], ["3", "['2', 'two']"]),
        ({"question": "1+1?", "answer": "['2', 'two']"}, ["2", "two"], ["['2', 'two']"]),
        ({"question": "Sort!", "answer": "[1, 2, 3]"}, ["[1, 2, 3]"], ["1", "3"]),
        ({"input": MESSAGES, "ideal": ["Rome", "Roma"]}, ["roma"], ["Paris"]),
        ({"question": "?", "answer": "café"}, ["cafe\u0301", "CAFÉ"], ["cafe"]),
        ({"question": "?", "answer": "\ufeff3\u200b"}, ["It is 3."], ["4"]),
        ({"question": "?", "answer": "x²"}, ["x²"], ["x2"]),
        ({"question": "Is it?", "answer": "TRUE"}, ["true", "Yes"], ["no", "1"]),
        ({"question": "Is it?", "answer": ["True"]}, ["true"], ["yes"]),
        ({"question": "Call?", "answer": "030 123"}, ["030 123"], ["30123"]),
        ({"question": "Is it?", "passage": "It is.", "answer": True}, ["True", "yes"], ["no", "1"]),
        ({"question": "?", "context": "c", "answers": {"text": ["x", "y"], "answer_start": [1, 2]}}, ["y"], ["z"]),
        ({"question": "?", "answer": {"value": "x", "aliases": ["y"]}}, ["x", "y"], ["z"]),
        ({"question": "Who?", "answer": "AT&amp;T"}, ["AT&T", "AT&amp;T"], ["ATT"]),
        ({"instruction": "Add.", "input": "1 and 2", "output": "3"}, ["It is 3"], ["4"]),
        ({"question": "?", "answer": "50%"}, ["50%", "50"], ["0.5"]),
        ({"question": "?", "answer": "2024-02-01"}, ["2024-02-01"], ["2024"]),
        ({"question": "?", "answer": "1e5"}, ["1e5", "100,000", "It is 10^5."], ["5", "1"]),
        ({"question": "?", "answer": 1e-5}, ["0.00001", "1e-5", "1 × 10^{-5}"], ["5", "1e-6", "1e5"]),
        ({"question": "?", "answer": [2.5e-7, "none"]}, ["0.00000025", "None"], ["2.5"]),
        ({"question": "?", "answer": "−5"}, ["-5", "It is −5."], ["5"]),
        ({"question": "?", "context": ["a", "b"], "answer": "x"}, ["x"], ["a"]),
        ({"question": "?", "best_answer": "x", "correct_answers": ["x", "y"]}, ["x", "y"], ["z"]),
        ({"question": "?", "answer": "Ab", "match": "exact"}, ["Ab", "ANSWER: Ab"], ["ab", "It is Ab"]),
        ({"question": "?", "answer": "Ab", "match": "Contains"}, ["I like ab!", "not Ab"], ["abc"]),
        ({"question": "?", "answer": 42, "match": "contains"}, ["7 times 6, 42, is it"], ["1,042", "42.5"]),
        ({"question": "?", "answer": "/^ab+c/i", "match": "regex"}, ["ABBC!", "ANSWER: abc"], ["cab", "ac"]),
        ({"question": "?", "answer": "a|b", "match": "regex"}, ["xbx"], ["c"]),
        ({"question": "?", "answer": "007", "match": "text"}, ["007", "It is 007."], ["008"]),
        ({"question": "?", "answer": 10, "tolerance": 0.5}, ["10.5", "about 9.5"], ["10.6", "9"]),
        ({"question": "?", "answer": 200, "tolerance": "5%"}, ["190", "210.0"], ["189"]),
        ({"question": "?", "answer": "x", "aliases": ["y", "z"]}, ["It is y.", "**z**"], ["w"]),
        (
            {"question": "?", "answer": "Rome", "match": "contains", "incorrect_answers": ["Paris"]},
            ["Rome it is"],
            ["Rome or Paris"],
        ),
    ],
)
def test_open_questions_of_every_shape_are_understood(row: dict[str, Any], right: list[str], wrong: list[str]) -> None:
    """A list means any of its entries; no cell is compared as Python prints it."""
    paper = built("a.jsonl", jsonl(row))
    assert {reply: why(paper, 0, reply) for reply in right} == dict.fromkeys(right, "right")
    assert {reply: why(paper, 0, reply) for reply in wrong} == dict.fromkeys(wrong, "wrong")


def test_what_belongs_to_a_question_is_sent_with_it() -> None:
    """Passages go before it, the input of an instruction below it, messages and system texts as turns."""
    passage = built("a.jsonl", jsonl({"question": "Who?", "passage": "Ann did.", "answer": "Ann"}))
    assert passage.problems[0].messages[-1].content == "Ann did.\n\nWho?" + FORM
    order = built("a.jsonl", jsonl({"instruction": "Add.", "input": "1 and 2", "output": "3"}))
    assert order.problems[0].messages[-1].content == "Add.\n\n1 and 2" + FORM
    chat = built("a.jsonl", jsonl({"input": MESSAGES, "ideal": "x"}, {"input": "And?", "ideal": "y"}))
    assert [(turn.role, turn.content) for turn in chat.problems[0].messages] == [
        ("system", "Be brief."),
        ("user", "Which?" + FORM),
    ]
    assert [turn.content for turn in chat.problems[1].messages] == ["And?" + FORM]
    system = built("a.jsonl", jsonl({"system": "Be brief.", "question": "Who?", "answer": "Ann"}))
    assert [turn.role for turn in system.problems[0].messages] == ["system", "user"]


@pytest.mark.parametrize(
    ("given", "letter"), [({"answer_is": "text"}, "B"), ({"answer_is": "0"}, "C"), ({"answer_is": "1"}, "B")]
)
def test_a_user_decides_what_rows_leave_open(given: dict[str, str], letter: str) -> None:
    """The right answer 2 among 1, 2, 3: the text, the third or the second."""
    rows = jsonl({"question": "Which?", "choices": ["1", "2", "3"], "answer": 2})
    task = own_questions.from_file("a.jsonl", rows, given)
    assert preparation.build(task, parse("a.jsonl", rows, ()), [], None).problems[0].references == (letter,)


def test_positions_that_count_from_0_or_from_1_are_refused_unless_a_row_decides() -> None:
    """A row with 0, or with as many as there are options, decides it; else the user does."""
    row = {"question": "Which?", "choices": OPTIONS, "answer": 2}
    with pytest.raises(BadData) as error:
        own_questions.from_file("a.jsonl", jsonl({"question": "1+1?", "answer": 2}, row, row | {"answer": 3}))
    assert error.value.sentence.startswith(
        "a.jsonl, row 2: the right answer 2 is 'blue' if options count from 0, and 'green' if they count from 1, and so "
        "for 1 more: no right answer is 0"
    )
    for first, right in ("0", "blue"), ("1", "green"):
        about = own_questions.from_file("a.jsonl", jsonl(row), {"answer_is": first}).about
        assert f"position from {first} (row 1: 2 is '{right}')" in about
    zero = own_questions.from_file("a.jsonl", jsonl(row, row | {"answer": 0})).about
    assert "is written as its position from 0 (row 1: 2 is 'blue')." in zero
    last = own_questions.from_file("a.jsonl", jsonl(row, row | {"answer": 4})).about
    assert "is written as its position from 1 (row 1: 2 is 'green')." in last


def test_columns_are_named_by_the_user_where_names_say_nothing() -> None:
    """Dots lead into objects; what is left over is told."""
    row = {"frage": "Which?", "data": {"pick": ["x", "y"], "right": "y"}, "hint": "h"}
    given = {"question": "frage", "choices": "data.pick", "answer": "data.right"}
    task = own_questions.from_file("a.jsonl", jsonl(row), given)
    assert preparation.build(task, parse("a.jsonl", jsonl(row), ()), [], None).problems[0].references == ("B",)
    assert "Not used: hint." in task.about


def test_questions_about_one_context_are_a_cluster_if_the_user_says_so() -> None:
    """The context is shown all the same; without the word, nobody knows whether it is a passage or an instruction."""
    rows = jsonl(*({"context": f"Text {at // 2}.", "question": f"{at}?", "answer": "x"} for at in range(4)))
    task = own_questions.from_file("mine.jsonl", rows, {"cluster": "context"})
    paper = preparation.build(task, parse("mine.jsonl", rows, ()), [], None)
    names = [problem.cluster for problem in paper.problems]
    assert names[0] == names[1] != names[2] == names[3]
    assert "Text 1." in str(paper.problems[2].messages[-1].content)
    assert "clusters from 'context'" in task.about
    assert not any(problem.cluster for problem in built("mine.jsonl", rows).problems)


def test_a_column_that_nobody_has_is_a_slip() -> None:
    """With those that there are; a path into an object is a column, and so is one that most rows leave empty."""
    rows = jsonl({"q": {"text": "1?"}, "a": None}, {"q": {"text": "2?"}, "a": "2", "hint": "two"})
    with pytest.raises(BadData, match="there is no column 'b', which --columns answer=b names; there are: q, a, hint"):
        own_questions.from_file("a.jsonl", rows, {"question": "q.text", "answer": "b"})
    with pytest.raises(BadData, match="there is no column 'clue', which --columns context=hint"):
        own_questions.from_file("a.jsonl", rows, {"question": "q.text", "answer": "a", "context": "hint+clue"})
    with pytest.raises(BadData, match="row 1: the field 'a' is empty"):
        own_questions.from_file("a.jsonl", rows, {"question": "q.text", "answer": "a", "context": "hint"})


@pytest.mark.parametrize(
    ("match", "answer", "reply"),
    [("contains", "Paris", "I like Paris."), ("exact", "42", "ANSWER: 42"), ("regex", "/par+is/i", "PARRIS")],
)
def test_a_user_says_how_answers_are_compared(match: str, answer: str, reply: str) -> None:
    """All but options, and the request stays the same, so that kept replies can be judged again."""
    rows = jsonl({"question": "?", "answer": answer}, ROW | {"answer": "A"})
    (task,) = own_questions.matched([own_questions.from_file("a.jsonl", rows)], match)
    paper = preparation.build(task, parse("a.jsonl", rows, ()), [], None)
    assert (why(paper, 0, reply), why(paper, 1, "ANSWER: A")) == ("right", "right")
    assert paper.questions == built("a.jsonl", rows).questions
    assert f"With --match {match}" in "".join(own_verdicts.told(paper))


def test_a_task_file_with_its_own_judging_is_not_judged_in_another_way() -> None:
    task = own_questions.from_file("a.jsonl", jsonl({"question": "?", "answer": "x"}))
    other = replace(task, pipelines=(Pipeline(filters=(Step(name="stripped"),), metrics=(MetricUse(name="exact"),)),))
    assert own_questions.matched([other], "auto") == (other,)
    with pytest.raises(EvalError, match="--match contains: the task file of a says itself how its answers are judged"):
        own_questions.matched([other], "contains")


def test_right_answers_that_are_no_patterns_are_refused_before_anything_is_asked() -> None:
    rows = jsonl({"question": "?", "answer": "a"}, {"question": "?", "answer": "a("})
    (task,) = own_questions.matched([own_questions.from_file("a.jsonl", rows)], "regex")
    paper = preparation.build(task, parse("a.jsonl", rows, ()), [], None)
    with pytest.raises(BadData, match="row 2: the right answer 'a\\(' is no pattern"):
        list(own_verdicts.told(paper))


def test_the_form_of_the_answer_is_asked_for_where_answers_are_short() -> None:
    """A long text is its answer as it is, and a user may ask the bare question."""
    rows = jsonl({"question": "1?", "answer": "x"}, {"question": "2?", "answer": "x\ny"}, ROW | {"answer": "A"})
    asked = [problem.messages[-1].content for problem in built("a.jsonl", rows).problems]
    assert asked[:2] == ["1?" + FORM, "2?"]
    assert asked[2].endswith("B. y\n\nThink it through if you need to, then end with: ANSWER: X (one of A, B).")
    task = own_questions.from_file("a.jsonl", rows, {"ask": "bare"})
    bare = preparation.build(task, parse("a.jsonl", rows, ()), [], None)
    assert [problem.messages[-1].content for problem in bare.problems] == ["1?", "2?", "Which?\n\nA. x\nB. y"]
    with pytest.raises(EvalError, match="no way of asking called 'x'"):
        own_questions.from_file("a.jsonl", rows, {"ask": "x"})


@pytest.mark.parametrize(
    ("replies", "note"),
    [
        (
            ["I like x!", "It was x or y"],
            "2 of 2 replies judged wrong contain the right answer: 'I like x!' (row 1; right",
        ),
        (["x", "y"], ""),
        (["z", "nothing"], "No reply is right: 'z' (row 1; right: 'x'); 'nothing' (row 2; right: 'x')."),
    ],
)
def test_a_figure_that_is_not_to_be_believed_has_what_to_look_at_first(replies: list[str], note: str) -> None:
    """With up to three of the replies, and the command that judges what is kept again."""
    paper = built("a.jsonl", jsonl(*[{"question": "?", "answer": "x"}] * 2))
    misses = own_verdicts.Misses(paper)
    for place, reply in enumerate(replies):
        attempt = Attempt(problem=place, index=0, text=reply)
        misses.add(paper.problems[place], [attempt], [why(paper, place, reply)])
    told = misses.told("AGAIN")
    assert told.startswith(note)
    assert bool(told) == bool(note)
    assert ("again: AGAIN --match contains" in told) == note.startswith("2 of 2")


def test_the_first_misses_are_shown_in_whichever_order_replies_came() -> None:
    paper = built("a.jsonl", jsonl(*[{"question": "?", "answer": "x"}] * 5))
    shown = set()
    for order in permutations(range(5)):
        misses = own_verdicts.Misses(paper)
        for place in order:
            misses.add(paper.problems[place], [Attempt(problem=place, index=0, text=f"no {place}")], ["wrong"])
        shown.add(misses.told("AGAIN"))
    (told,) = shown
    assert re.findall(r"row (\d)", told) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("name", "text", "right", "wrong", "told"),
    [
        (
            "a.csv",
            "question;answer\nPi?;3,14\nOne?;1\n",
            "It is 3,14.",
            "314",
            "The comma in right answers is a decimal",
        ),
        ("a.csv", "frage;answer\nPi?;1.234,50\n", "1234.5", "1.234", "The comma in right answers is a decimal"),
        ("a.csv", "problem,solution\n1+1?,So it is \\boxed{2}.\n", "2", "3", r"from 'solution' after \boxed"),
        ("a.csv", "problem,solution\n?,Thus \\boxed{\\frac12}.\n", "0.5", "2", r"from 'solution' after \boxed"),
        ("a.csv", "question,answer\nWhich? A) red B) blue,B\n", "ANSWER: B", "ANSWER: A", "Options are read in the"),
        ("a.csv", "question,answer\nWhich? a) red b) blue,b\n", "b)", "a)", "Options are read in the questions"),
        ("a.csv", "question,answer\nWhich vitamin?,C\n", "C.", "B", "is a letter, and no options are seen"),
        (
            "a.csv",
            'question,answer\n"Which?\n(a) no\n\nA. red\nB. blue\nC. x",(c)\n',
            "C",
            "(A)",
            "Options are read in",
        ),
        ("a.csv", "question,answer\nWho?,Ann|Bo\n", "Ann|Bo", "Ann", "The | in row 1 is a part of its right answer"),
        ("a.csv", "question,answer\nWho?,/Ann?/\n", "/Ann?/", "An", "The right answer of row 1 is compared as a text"),
    ],
)
def test_right_answers_are_read_as_files_write_them(name: str, text: str, right: str, wrong: str, told: str) -> None:
    """What could be meant in another way is told."""
    given = {"question": "frage"} if "frage" in text else {}
    task = own_questions.from_file(name, text.encode(), given)
    paper = preparation.build(task, parse(name, text.encode(), ()), [], None)
    assert (why(paper, 0, right), why(paper, 0, wrong)) == ("right", "wrong")
    assert told in task.about


def test_a_bar_stands_between_right_answers_where_the_user_says_so() -> None:
    rows = jsonl({"question": "?", "answer": "4 | four"}, {"question": "?", "answer": "x"})
    task = own_questions.from_file("a.jsonl", rows, {"answer_is": "alternatives"})
    paper = preparation.build(task, parse("a.jsonl", rows, ()), [], None)
    assert paper.problems[0].references == ("4", "four")


def test_the_first_question_of_a_file_without_a_header_is_not_lost() -> None:
    with pytest.raises(BadData, match=r"the first line has 'What is 2\+2\?', so it seems to be a question, no header"):
        built("a.csv", b"What is 2+2?,4\nWhat is 3+3?,6\n")


def test_a_question_with_its_options_is_not_asked_with_them_twice() -> None:
    row = {"question": "Which?\nA) red\nB) blue", "answer": "B"}
    content = built("a.jsonl", jsonl(row)).problems[0].messages[-1].content
    assert content == row["question"] + FORM.replace("the answer alone", "one of A, B")
