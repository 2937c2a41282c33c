"""Reply → verdict → problem result → rows."""

from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.unit.scoring.judged_tasks import task

from model_accuracy_eval.errors import BadValue, EvalError, UnknownName
from model_accuracy_eval.records import (
    Attempt,
    EarlierReply,
    Fault,
    FaultKind,
    Media,
    Message,
    MetricUse,
    Pipeline,
    Problem,
    Prompt,
    Step,
    SummaryRow,
    Verdict,
)
from model_accuracy_eval.scoring.figures.judging import check, check_turns, judge
from model_accuracy_eval.scoring.figures.scorecard import Scorecard, metric_names

LETTERS = Pipeline(filters=(Step(name="stripped"),), metrics=(MetricUse(name="exact", label="accuracy"),))
TASK = task(LETTERS)


def problem(number: int, *references: str) -> Problem:
    return Problem(id=number, messages=(Message(role="user", content="?"),), references=references or ("A",))


SOUND = Media(kind="audio", format="wav", sha256="0" * 64, size=1)


def said(text: str, *, reasoning: str = "", finish_reason: str | None = None) -> Attempt:
    return Attempt(problem=0, index=0, text=text, reasoning=reasoning, finish_reason=finish_reason)


def verdict_of(attempt: Attempt, asked: Problem, pipeline: Pipeline = LETTERS) -> Verdict:
    """One sample alone, judged."""
    return judge(asked, [attempt], pipeline).verdicts[0]


def counted(n: int, *correct: int, k: tuple[int, ...] = ()) -> tuple[SummaryRow, ...]:
    """Rows of problems of which so many samples are correct, by way of replies and verdicts."""
    card = Scorecard(TASK, n, k or (n,))
    for number, c in enumerate(correct):
        card.judge(problem(number), [said("A" if sample < c else "X") for sample in range(n)])
    return card.rows("0ba9da")


def figures(rows: tuple[SummaryRow, ...]) -> dict[str, float | None]:
    return {row.metric: row.value for row in rows}


@given(st.integers(2, 8).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), min_size=1, max_size=12))))
def test_rows_are_means_over_problems(given_: tuple[int, list[int]]) -> None:
    """accuracy and avg@n are the share of correct samples, pass@n of solved problems, cons@n of majorities."""
    n, correct = given_
    found = figures(counted(n, *correct))
    size = len(correct)
    assert list(found) == [f"accuracy ({n} runs average)", f"avg@{n}", f"pass@{n}", f"cons@{n}"]
    assert found[f"avg@{n}"] == pytest.approx(100 * sum(correct) / n / size)
    assert found[f"accuracy ({n} runs average)"] == pytest.approx(found[f"avg@{n}"])
    assert found[f"pass@{n}"] == pytest.approx(100 * sum(c > 0 for c in correct) / size)
    assert found[f"cons@{n}"] == pytest.approx(100 * sum(2 * c > n for c in correct) / size)


def test_one_sample_gives_plain_accuracy() -> None:
    """n = 1 has one row, under the name that readers know."""
    (row,) = counted(1, 1, 0, 1, 1)
    assert (row.dataset, row.version, row.metric, row.mode, row.value) == ("demo", "0ba9da", "accuracy", "gen", 75.0)


def test_several_k_stand_in_the_known_order() -> None:
    """All pass@k, then all cons@k."""
    expected = ["accuracy (5 runs average)", "avg@5", "pass@1", "pass@5", "cons@1", "cons@5"]
    assert metric_names(TASK, 5, (1, 5)) == expected
    assert list(figures(counted(5, 3, 2, k=(1, 5)))) == expected


def test_only_the_first_metric_has_figures_without_its_name() -> None:
    """Of several in several pipelines, judged as they are named beforehand."""
    second = replace(LETTERS, name="again")
    both = replace(LETTERS, metrics=(*LETTERS.metrics, MetricUse(name="contains")))
    card = Scorecard(task(both, second), 2, (2,))
    card.judge(problem(0), [said("A"), said("X")])
    names = [row.metric for row in card.rows("0ba9da")]
    assert names == metric_names(task(both, second), 2, (2,))
    assert [name for name in names if name.startswith("avg")] == [
        "avg@2", "avg@2(contains)", "avg@2(accuracy,again)",
    ]  # fmt: skip


def test_no_problems_give_no_figures() -> None:
    """A dataset of which nothing was marked has unknown figures, not 0."""
    assert figures(counted(5)) == dict.fromkeys(metric_names(TASK, 5, (5,)))


REPLIES = [
    (said("A"), 1.0, "A", "right"),
    (said(" A\n"), 1.0, "A", "right"),
    (said("B"), 0.0, "B", "wrong"),
    (said(""), None, None, "empty"),
    (said(" \n"), None, None, "empty"),
    (said("", reasoning="A"), None, None, "empty"),
    (replace(said(""), media=(SOUND,)), None, None, "not found"),
]


@pytest.mark.parametrize(("attempt", "value", "answer", "why"), REPLIES)
def test_a_reply_becomes_a_verdict(attempt: Attempt, value: float | None, answer: str | None, why: str) -> None:
    """Right, wrong or empty; what could not be judged has no value."""
    verdict = verdict_of(attempt, problem(0))
    assert (verdict.value, verdict.answer, verdict.why, verdict.cut) == (value, answer, why, False)


def test_an_answer_that_is_not_found_is_not_wrong() -> None:
    """It is counted apart."""
    numbers = Pipeline(filters=(Step(name="last_number"),), metrics=(MetricUse(name="number", label="accuracy"),))
    assert verdict_of(said("none"), problem(0, "5"), numbers).why == "not found"


@pytest.mark.parametrize(("text", "doubtful"), [("The answer is 5.", ()), ("We have 3 pans. We have 5 eggs.", (0,))])
def test_a_doubtful_answer_is_judged_and_marked(text: str, doubtful: tuple[int, ...]) -> None:
    """In the verdict and in the problem's result, and it is a text that can be saved."""
    numbers = Pipeline(filters=(Step(name="number_answer"),), metrics=(MetricUse(name="number", label="accuracy"),))
    verdict = verdict_of(said(text), problem(0, "5"), numbers)
    assert (verdict.why, verdict.doubtful, type(verdict.answer)) == ("right", bool(doubtful), str)
    assert Scorecard(task(numbers), 1, (1,)).judge(problem(0, "5"), [said(text)]).doubtful == doubtful


def test_a_cut_reply_is_judged_and_marked() -> None:
    """finish_reason "length" is told beside the verdict, whatever that is."""
    for text, why in (("A", "right"), ("B", "wrong"), ("", "empty")):
        verdict = verdict_of(said(text, finish_reason="length"), problem(0))
        assert (verdict.why, verdict.cut) == (why, True)


@pytest.mark.parametrize(("kind", "why"), [("rejected", "rejected"), ("failed", "failed"), ("refused", "failed")])
def test_a_fault_is_no_answer(kind: FaultKind, why: str) -> None:
    """Rejected by the service and failed on the way are told apart."""
    attempt = Attempt(problem=0, index=0, fault=Fault(kind=kind, sentence="no"))
    verdict = verdict_of(attempt, problem(0))
    assert (verdict.value, verdict.why) == (None, why)


def test_a_tally_is_strict() -> None:
    """Samples without a value stay in n and count as not correct."""
    problem_result = Scorecard(TASK, 4, (4,)).judge(problem(7), [*map(said, ("A", "", "B")), None])
    assert (problem_result.problem, problem_result.n, problem_result.c, problem_result.values) == (
        7,
        4,
        1,
        (1.0, 0.0, 0.0, 0.0),
    )
    assert problem_result.why == ("right", "empty", "wrong", "missing")
    assert problem_result.answers == ("A", None, "B", None)
    assert problem_result.references == ("A",)


def test_steps_and_metrics_are_known_before_a_run() -> None:
    """A name that no table holds is refused with the nearest."""
    check(LETTERS)
    with pytest.raises(UnknownName, match=r"no filter called 'striped'; did you mean stripped"):
        check(Pipeline(filters=(Step(name="striped"),), metrics=(MetricUse(name="exact", label="accuracy"),)))
    with pytest.raises(UnknownName, match=r"no metric called 'exakt'; did you mean exact"):
        check(Pipeline(metrics=(MetricUse(name="exakt"),)))


def test_a_transcript_is_judged_where_the_task_says_so() -> None:
    """Elsewhere a reply in sound alone has no answer, and is not empty."""
    sound = Media(kind="audio", format="wav", sha256="0" * 64)
    aloud = replace(said("A"), spoken=True, media=(sound,))
    assert [judge(problem(0), [aloud], each).verdicts[0].why for each in (LETTERS, replace(LETTERS, spoken=True))] == [
        "not found",
        "right",
    ]


EACH = Pipeline(turn="each", filters=LETTERS.filters, metrics=LETTERS.metrics)
TWO_TURNS = replace(problem(0), follow_ups=("And?",), turn_references=("A", "B"))


def replied(first: str, second: str, *, cut: bool = False) -> Attempt:
    earlier = EarlierReply(text=first, next="And?", finish_reason="length" if cut else "stop")
    return replace(said(second), earlier=(earlier,))


@pytest.mark.parametrize(
    ("attempt", "verdict"),
    [
        (replied("A", "B"), Verdict(value=1.0, answer="B", why="right")),
        (replied("A", "A"), Verdict(value=0.5, answer="A", why="wrong")),
        (replied(" ", "B"), Verdict(value=0.5, answer="B", why="wrong")),
        (replied("A", " "), Verdict(value=0.5, answer=None, why="wrong")),
        (replied("", " "), Verdict(value=None, answer=None, why="empty")),
        (replied("A", "B", cut=True), Verdict(value=1.0, answer="B", why="right", cut=True)),
        (replied("", "", cut=True), Verdict(value=None, answer=None, why="empty", cut=True)),
    ],
)
def test_a_conversation_is_the_mean_of_its_turns(attempt: Attempt, verdict: Verdict) -> None:
    """Each has its own right answer; what is so of one turn is so of the conversation."""
    judged = judge(TWO_TURNS, [attempt], EACH)
    assert judged.verdicts == (verdict,)
    assert judged.values == ((verdict.value or 0.0,),)


@pytest.mark.parametrize(
    ("changes", "pipeline", "sentence"),
    [
        ({"prompt": Prompt(question="?")}, EACH, "no follow_ups"),
        ({"kind": "choice"}, LETTERS, "in chats"),
        ({"mode": "text"}, LETTERS, "in chats"),
        ({"tools": ("calculator",)}, LETTERS, "in chats"),
        ({"functions": "{{ x }}"}, LETTERS, "in chats"),
        ({}, replace(LETTERS, filters=(Step(name="majority_vote"),)), "choose among samples"),
        ({}, EACH, ""),
    ],
)
def test_turns_that_cannot_be_asked_or_judged_are_refused(
    changes: dict[str, Any], pipeline: Pipeline, sentence: str
) -> None:
    """Before the run starts."""
    turned = replace(TASK, **({"prompt": Prompt(question="?", follow_ups="{{ x }}")} | changes))
    with pytest.raises(BadValue, match=sentence) if sentence else nullcontext():
        check_turns(turned, [pipeline])


@pytest.mark.parametrize(
    ("attempt", "turn", "sentence"),
    [
        (said("A"), 1, "has 2 turns, but its reply 0 has 1"),
        (replied("A", "B"), 3, "turn 3"),
        (replied("A", "B"), 0, "turn 0"),
    ],
)
def test_a_turn_that_is_not_there_is_not_judged(attempt: Attempt, turn: int, sentence: str) -> None:
    with pytest.raises(EvalError, match=sentence):
        judge(TWO_TURNS, [attempt], replace(EACH, turn=turn))
