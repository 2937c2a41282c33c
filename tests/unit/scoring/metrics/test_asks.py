"""Asks as data: the questions to a judge and the programs for a sandbox, and the values of their results."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.unit.scoring.judged_tasks import pipe, problem, said, task

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import (
    Attempt,
    Media,
    Message,
    MetricUse,
    Opinion,
    Pipeline,
    Problem,
    ProblemResult,
    Question,
    Step,
)
from model_accuracy_eval.records.code import Execution, ExecutionVerdict, Program
from model_accuracy_eval.scoring.code import benchmark_suites
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.metrics import metric_type
from model_accuracy_eval.scoring.metrics.metric_table import metric, needs_judge, pipelines
from model_accuracy_eval.scoring.metrics.metric_type import Ask

CAPITAL = Problem(
    id=3,
    messages=(Message(role="user", content="What is the capital of France?"),),
    references=("Paris",),
    choices=("Paris", "Rome"),
    extras={"level": 2, "hint": "{answer}"},
)


def asked(measure: MetricUse, *replies: str, filters: tuple[Step, ...] = ()) -> list[metric_type.Ask]:
    card = Scorecard(task(pipe(measure, filters=filters)), len(replies), (1,))
    return list(card.asks(CAPITAL, said(*replies)))


def judged(measure: MetricUse, finding: metric_type.AskResult | None, *replies: str) -> ProblemResult:
    card = Scorecard(task(pipe(measure)), len(replies), (1,), ask_results=lambda _ask: finding)
    return card.judge(CAPITAL, said(*replies))


def test_u18_a_judge_is_asked_whether_both_answers_say_the_same() -> None:
    """One question for each different answer, with the right answer and the model's own in it."""
    first, second = asked(MetricUse(name="judge"), "It is Paris.", "Rome", "It is Paris.")
    assert isinstance(first, Question)
    assert "Reference answer: Paris" in first.messages[0].content
    assert "Answer to be marked: It is Paris." in first.messages[0].content
    assert "yes or no" in first.messages[0].content
    assert isinstance(second, Question)
    assert "Answer to be marked: Rome" in second.messages[0].content


def test_a_prompt_sees_the_problem_and_what_it_says_is_not_read_again() -> None:
    """Placeholders inside values, and unknown ones, stay as they are."""
    prompt = "{question}|{answer}|{reference}|{choices}|{level}|{hint}|{nobody}"
    (question,) = asked(
        MetricUse(name="judge", args={"prompt": prompt, "system": "Be strict.", "max_tokens": 9}), "{level}"
    )
    assert isinstance(question, Question)
    system, user = question.messages
    assert (system.role, system.content, question.max_tokens) == ("system", "Be strict.", 9)
    assert user.content == "What is the capital of France?|{level}|Paris|Paris\nRome|2|{answer}|{nobody}"


def test_a_judge_sees_the_pictures_of_the_question_that_its_prompt_shows() -> None:
    """And no others."""
    one, other = (Media(kind="image", format="png", sha256=name * 64) for name in "ab")
    messages = (Message(role="user", content=f"What is {one}?", media=(one, other)),)
    use = MetricUse(name="judge", args={"prompt": "{question}|{answer}"})
    (question,) = Scorecard(task(pipe(use)), 1, (1,)).asks(replace(CAPITAL, messages=messages), said("A rose"))
    assert isinstance(question, Question)
    assert question.messages[-1].media == (one,)


VERDICT = {"pattern": r"Verdict: (\w+)"}
CORRECT = {"read": "regex", "pattern": "^CORRECT"}


@pytest.mark.parametrize(
    ("name", "opinion", "args", "value"),
    [
        # by the first of the two words as a whole word, or by a pattern
        ("judge", "Yes.", {}, 1.0),
        ("judge", "no, they differ", {}, 0.0),
        ("judge", "**NO**", {}, 0.0),
        ("judge", "Nobody knows; yesterday", {}, None),
        ("judge", "", {}, None),
        ("judge", "Reasons: yes and no. Verdict: no", VERDICT, 0.0),
        ("judge", "no verdict", VERDICT, None),
        ("judge", "CORRECT", CORRECT, 1.0),
        ("judge", "INCORRECT", CORRECT, 0.0),
        # a share of the best; beyond 0 and the best, and without a number, the judge has said nothing
        ("judge_score", "7", {}, 0.7),
        ("judge_score", "Score: 4.5 of 5", {"out_of": 5}, 0.9),
        ("judge_score", "[[8]] because 3", {"pattern": r"\[\[(\d+)\]\]"}, 0.8),
        ("judge_score", "0", {}, 0.0),
        ("judge_score", "10", {}, 1.0),
        ("judge_score", "11", {}, None),
        ("judge_score", "-1", {}, None),
        ("judge_score", "great", {}, None),
    ],
)
def test_u18_what_a_judge_says_is_a_value_or_nothing(
    name: str, opinion: str, args: dict[str, object], value: float | None
) -> None:
    """Nothing is no 0."""
    assert metric(name).score(Opinion(text=opinion), CAPITAL, **args) == value


def test_an_unknown_way_of_reading_is_refused() -> None:
    """With those that there are."""
    with pytest.raises(BadValue, match="A judge is read as yes-no, regex, not as 'mind'"):
        metric("judge").score(Opinion(text="yes"), CAPITAL, read="mind")


def test_what_nobody_could_judge_is_counted_apart() -> None:
    """Not wrong in silence: no value, the answer kept, and its own word for why."""
    problem_result = judged(MetricUse(name="judge"), None, "Paris", "Rome", "")
    assert problem_result.why == ("unjudged", "unjudged", "empty")
    assert problem_result.answers == ("Paris", "Rome", None)
    assert judged(MetricUse(name="judge"), Opinion(text="perhaps"), "Paris").why == ("unjudged",)
    assert judged(MetricUse(name="judge"), Opinion(text="yes"), "Paris", "Rome").c == 2


def test_nobody_is_asked_about_what_was_not_answered() -> None:
    """An empty reply, a failed one and one without an answer in it are not worth a question."""
    number = (Step(name="last_number"),)
    assert asked(MetricUse(name="judge"), "", " \n") == []
    assert asked(MetricUse(name="judge"), "none", filters=number) == []
    card = Scorecard(task(pipe("judge")), 1, (1,))
    assert list(card.asks(CAPITAL, [None])) == []
    assert list(Scorecard(task(pipe("exact_match")), 1, (1,)).asks(CAPITAL, said("x"))) == []


def test_every_sample_is_asked_about_even_where_the_pipeline_chooses() -> None:
    """Verdicts are the samples' own, and what is chosen is one of them."""
    measure, vote = MetricUse(name="judge"), (Step(name="take_first_k", args={"k": 2}), Step(name="majority_vote"))
    assert len(asked(measure, "a", "b", "c", filters=vote)) == 3


def test_a_program_is_the_answer_with_the_problems_tests() -> None:
    """Both from templates over the problem's columns."""
    args = {
        "code": "# level {level}\n{answer}",
        "tests": "assert {reference}",
        "entry_points": ("f{level}",),
        "seconds": 3.0,
    }
    (program,) = asked(MetricUse(name="code", args=args), "def f2(): pass")
    assert isinstance(program, Program)
    assert (program.code, program.tests, program.entry_points) == ("# level 2\ndef f2(): pass", "assert Paris", ("f2",))
    assert program.limits.wall_seconds == 3


def test_what_finds_the_mode_knows_nothing_of_the_answer() -> None:
    """The solution and the files see the problem's columns; a place for the answer stays as it is written."""
    args = {
        "solution": "{reference} at {level}: {answer}",
        "files": {"a.txt": "{level}{answer}"},
        "mode": "shared",
        "memory_mb": 64,
    }
    first, second = (asked(MetricUse(name="code", args=args), text)[0] for text in ("x = 1", "x = 2"))
    assert isinstance(first, Program)
    assert isinstance(second, Program)
    assert first.reference == second.reference == "Paris at 2: {answer}"
    assert first.files == second.files == {"a.txt": "2{answer}"}
    assert (first.mode, first.limits.memory_mb) == ("shared", 64)


@pytest.mark.parametrize(("verdict", "why"), [("passed", "right"), ("timeout", "wrong"), ("harness_error", "unjudged")])
def test_a_program_is_right_if_it_passed(verdict: ExecutionVerdict, why: str) -> None:
    """A sandbox that failed says nothing about it."""
    ended = Execution(verdict=verdict, isolation="none", integrity="split")
    assert judged(MetricUse(name="code"), ended, "x = 1").why == (why,)


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=5), st.text(max_size=5))
def test_findings_are_kept_under_all_that_was_asked(one: str, other: str, judge: str, other_judge: str) -> None:
    """Another question, and another judge of the same question, is another key; a sandbox is the same for all."""
    questions = [Question(messages=(Message(role="user", content=text),)) for text in (one, other)]
    keys = {(text, name): metric_type.key(question, name) for text, question in zip((one, other), questions, strict=True)
            for name in (judge, other_judge)}  # fmt: skip
    assert len(set(keys.values())) == len(keys)
    program = Program(code=one, tests=other)
    assert metric_type.key(program, judge) == metric_type.key(program, other_judge)
    assert metric_type.key(program) not in keys.values()


def test_scorers_that_ask_are_scorers_like_others() -> None:
    """`judge` and `code` take their metric's arguments."""
    spec = task(scorer=Step(name="judge", args={"prompt": "{answer}?"}))
    assert pipelines(spec)[0].metrics == (MetricUse(name="judge", args={"prompt": "{answer}?"}),)
    assert needs_judge(spec)
    assert not needs_judge(task(scorer=Step(name="code")))
    assert isinstance(pipelines(task(scorer=Step(name="code")))[0], Pipeline)


def test_thoughts_are_not_shown_to_the_judge() -> None:
    """The scorer reads the answer behind them."""
    card = Scorecard(task(scorer=Step(name="judge", args={"prompt": "{answer}"})), 1, (1,))
    sample = Attempt(problem=0, index=0, text="<think>Rome?</think>Paris")
    (question,) = card.asks(problem(0), [sample])
    assert isinstance(question, Question)
    assert question.messages[0].content == "Paris"


PROMPT = (
    'def twice(x):\n    """Two times x.\n    >>> twice(2)\n    4\n    >>> print("no value")\n    no value\n    """\n'
)
ROW = {"prompt": PROMPT, "entry_point": "twice", "test": "def check(candidate):\n    assert candidate(3) == 6"}
BODIES = {"right": "    return 2 * x", "shown alone": "    return 4", "wrong": "    return 0"}


def test_examples_become_asserts() -> None:
    """Those whose result is a value; what is printed is none."""
    program = benchmark_suites.shown_tests("code", ROW)
    assert program is not None
    assert program.tests == "assert (twice(2)) == (4)\n"
    assert benchmark_suites.shown_tests("code", {**ROW, "prompt": "def f(): …"}) is None


def run(ask: Ask) -> Execution:
    """A sandbox for three known bodies."""
    assert isinstance(ask, Program)
    shown = "check(" not in ask.tests
    passed = BODIES["right"] in ask.code or (shown and BODIES["shown alone"] in ask.code)
    return Execution(verdict="passed" if passed else "failed", isolation="none", integrity="split")


@pytest.mark.parametrize(
    ("samples", "best"),
    [
        (["wrong", "right"], 100),
        (["right", "wrong"], 100),
        (["wrong", "shown alone", "right"], 0),
        (["wrong", "wrong"], 0),
    ],
)
def test_the_first_that_passes_the_examples_is_taken(samples: list[str], best: float) -> None:
    """Told apart from pass@k: the tests themselves have no say in the choice."""
    card = Scorecard(find("humaneval"), len(samples), (len(samples),), ask_results=run)
    problem = Problem(id=0, messages=(), references=("",), extras=ROW)
    attempts = [Attempt(problem=0, index=place, text=BODIES[one]) for place, one in enumerate(samples)]
    problem_result = card.judge(problem, attempts)
    figures = {row.metric: row.value for row in card.rows("abc123")}
    assert problem_result.c == samples.count("right")
    (name,) = [name for name in figures if "best of n" in name]
    assert figures[name] == best
