"""Replies as models write them → the answer that a careful reader takes from them."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from model_accuracy_eval.benchmarks.gsm8k import ZERO_SHOT
from model_accuracy_eval.records import Message, Pipeline, Problem, Step
from model_accuracy_eval.scoring.answers.reader import Doubtful
from model_accuracy_eval.scoring.answers.stated_numbers import as_number, last_number, number_answer
from model_accuracy_eval.scoring.answers.stated_texts import maths_answer
from model_accuracy_eval.scoring.code.benchmark_suites import CODE_EXTRACTORS
from model_accuracy_eval.scoring.filters import filters
from model_accuracy_eval.scoring.filters.filters import EXTRACTORS, stripped
from model_accuracy_eval.scoring.metrics.metric_table import metric

GSM8K = ZERO_SHOT.pipelines[0]


def read_answer(reply: str, pipeline: Pipeline) -> str | None:
    """The text after every filter."""
    return filters.run(pipeline.filters, [reply], PLAIN)[0]


def asked(*choices: str) -> Problem:
    return Problem(id=0, messages=(Message(role="user", content="?"),), references=("x",), choices=choices)


ARGUMENTS: dict[str, dict[str, Any]] = {"regex": {"regex_pattern": "(a)"}}
PLAIN = asked()
CITIES = asked("Berlin", "Paris", "Rome", "Madrid")

NUMBERS = {
    # the form that is asked for
    "#### 18 dollars, for 3 boxes": "18",
    # scientific notation, whose last digits are an exponent
    "#### 1e5": "100000",
    "That is -1.2e3 N.": "-1200",
    "6.02·10²³": "602" + "0" * 21,
    r"\(3 \times 10^{-2}\)": "0.03",
    "3 x 10^2 = 300": "300",
    "commit 0x1e5": "5",
    "#### −7": "-7",
    "#### \\$9.50": "9.50",
    "12 - 5 = 7\n#### 7\n\nI hope that these 3 steps help!": "7",
    # boxed
    "\\boxed{42} eggs in 3 boxes": "42",
    "$$\\boxed{\\text{42 eggs}}$$ for 7 days": "42",
    "\\boxed{5} is wrong, so \\boxed{6}": "6",
    "\\boxed{-\\$3} at 10 per cent": "-3",
    # prose
    "12 eggs, 3 boxes. Answer: 15": "15",
    "The change is −5": "-5",
    "The balance is -$5.": "-5",
    "That leaves 10-5=5": "5",
    "The first three are 1,2,3": "3",
    "一共1,200元": "1200",
    # Markdown headings are not the mark
    "#### Step 2: Multiply\n3*4 makes 12": "12",
    "#### Step 1\nAdd.\n#### Final answer\n\\boxed{42} for 7 days": "42",
    # thoughts
    "maybe 7, no\n</think>\n\n#### 9": "9",
    "<think>a 5</think>8<think>b 6</think>": "8",
    # talk of a next question
    "It is 12.\n\nQuestion: How many days has May?\nAnswer: 31": "12",
}


@pytest.mark.parametrize(("reply", "expected"), NUMBERS.items())
def test_gsm8k_reads_what_a_careful_reader_reads(reply: str, expected: str) -> None:
    """Whole replies through the steps of gsm8k; the answer counts as a number, however it is written."""
    answer = read_answer(reply, GSM8K)
    assert answer is not None
    assert as_number(answer) == as_number(expected), answer


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["{!r}", "{:e}", "{:.3E} m/s", "**{:g}**"]))
def test_any_float_is_read_back_as_python_writes_it(number: float, form: str) -> None:
    """With an exponent where it has one."""
    written = form.format(number)
    answer = number_answer(f"In 3 steps: {written}", PLAIN)
    assert answer is not None
    assert float(answer) == float(written.strip("*").partition(" ")[0])


@given(st.integers(-(10**12), 10**12), st.sampled_from(["{}", "{:,}", "{}.", "${:,}.", "**{}**", "{:,} eggs", "={}"]))
def test_any_number_is_read_back_as_it_was_written(number: int, form: str) -> None:
    """Plain or with thousands commas, behind each of the three marks."""
    written = form.format(number)
    for reply in (f"The total is {written}", f"1 and 2\n#### {written}", f"\\boxed{{{written}}} after 3 steps"):
        answer = number_answer(reply, PLAIN)
        assert answer is not None
        assert as_number(answer) == number, reply


@given(st.text())
def test_what_is_read_is_a_number(text: str) -> None:
    """Whatever the reply, the step gives something that counts as a number, or nothing."""
    for step in (last_number, number_answer):
        answer = step(text, PLAIN)
        assert answer is None or as_number(answer) is not None


@given(st.text(alphabet="0123456789,.-+$%# \n\\boxed{}()<think/>ANSWERabc：答案", max_size=80))
def test_no_reply_upsets_a_step(text: str) -> None:
    """Every step takes any text and gives text or nothing; those that read code need the columns of their dataset."""
    problem = structs.replace(CITIES, extras={**CITIES.extras, "kind": "text"})
    for name, step in EXTRACTORS.items() - CODE_EXTRACTORS.items():
        answer = step(text, problem, **ARGUMENTS.get(name, {}))
        assert answer is None or isinstance(answer, str)


def test_blanks_are_no_answer() -> None:
    """A reply of blanks has nothing in it."""
    assert stripped("  a b \n", PLAIN) == "a b"
    assert stripped(" \n", PLAIN) is None


def test_steps_end_as_soon_as_nothing_is_left() -> None:
    """The step behind one that found nothing is not run."""
    steps = Pipeline(filters=(Step(name="strip_thoughts"), Step(name="stripped")))
    assert read_answer("<think>unfinished", steps) is None
    assert read_answer("<think>x</think> y ", steps) == "y"


@pytest.mark.parametrize(
    "unit",
    [" ", "\n", "*", "_", "answer ", "Answer:", "<think>", "\\boxed{", "1,", "#", "答案", "A, ", "wait ", "\nQ: "],
)
def test_a_degenerate_reply_is_read_in_no_time(unit: str) -> None:
    """A model that repeats itself to the end of its budget does not hang the judging: time grows with length alone."""
    reply = "answer" + unit * (60_000 // len(unit))
    for name in ("strip_thoughts", "last_number", "number_answer", "maths_answer", "choice_letter", "stripped"):
        EXTRACTORS[name](reply, CITIES)
        EXTRACTORS[name](reply + "</think>" + reply, CITIES)


MATHS_REPLIES = {
    r"So $x = \boxed{\frac{\sqrt{3}}{2}}$ and we are done with all 3 steps.": r"\frac{\sqrt{3}}{2}",
    r"Hence $x = \boxed{1}$ or $x = \boxed{2}$.": "1, 2",
    r"First \boxed{1}. That was wrong, it is \boxed{2}": "2",
    "The answer is x = 2 or x = 3.": "2, 3",
    "答案是 $x^2+1$。": "1+x^2",
    r"We get \[ x = 4 \] in the end": "4",
    r"so the area is \( 2\pi \)": r"2\pi",
    "The answer is Evelyn.": "evelyn",
}


@pytest.mark.parametrize("reply", MATHS_REPLIES)
def test_a_formula_is_read_where_it_is_stated(reply: str) -> None:
    """In the last box, after "answer is", as the last formula; not in what explains it."""
    answer = maths_answer(reply, PLAIN)
    assert answer is not None
    assert metric("math_equal").score(answer, (MATHS_REPLIES[reply],)) == 1, answer


FORMULAS = (r"\frac{1}{2}", "x^2 + 1", "12", r"2\sqrt{3}", "(1, 2)", "x = 3")
IN_TEXT = ("$@$", r"\(@\)", r"\[@\]", "$$@$$", "@")


@pytest.mark.parametrize("more", ["", " Note that $5 < 7$.", "\n\nThis is what was asked for.", "\nIndeed, $a = 5$."])
@pytest.mark.parametrize(
    "stated",
    [
        "The answer is @.",
        "Final answer: @",
        "**Final answer:** @",
        "<answer>@</answer>",
        "The answer is:\n@\nas was to be shown.",
        '{"answer": "@"}',
        "We look at $a$. The answer is @, where $a$ is old.",
    ],
)
def test_a_stated_formula_is_read_as_it_stands(stated: str, more: str) -> None:
    """In whatever marks, and whatever is said behind it; bare ones end with their line."""
    for formula, marks in product(FORMULAS, IN_TEXT[: None if more.startswith("\n") else -1]):
        found = maths_answer(stated.replace("@", marks.replace("@", formula)) + more, PLAIN)
        assert found == formula
        assert not isinstance(found, Doubtful)


def test_a_formula_that_nothing_states_is_the_reply_or_a_guess() -> None:
    """A reply that is nothing else, or the end of the last sentence."""
    for formula, marks in product(FORMULAS, IN_TEXT):
        written = marks.replace("@", formula)
        assert maths_answer(written, PLAIN) == formula
        guess = maths_answer(f"We look at $a$ and $b$.\n\nThus the sum of all is {written}.", PLAIN)
        assert guess == formula
        assert isinstance(guess, Doubtful)
