"""Reply → verdict → tally → rows, with the worked examples of the definitions at the end of the way."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import (
    Attempt,
    DataFile,
    Fault,
    FaultKind,
    Message,
    Pipeline,
    Problem,
    Prompt,
    Step,
    Tally,
    TaskSpec,
)
from model_accuracy_eval.scoring import pipeline

LETTERS = Pipeline(extract=(Step(name="stripped"),), metric=Step(name="exact"))
TASK = TaskSpec(
    name="letters",
    about="Letters.",
    data=DataFile(name="letters.jsonl"),
    fields=("question",),
    prompt=Prompt(question="?"),
    reference="A",
    pipelines=(LETTERS,),
)


def problem(number: int, *references: str) -> Problem:
    return Problem(id=number, messages=(Message(role="user", content="?"),), references=references or ("A",))


def said(text: str, *, reasoning: str = "", finish_reason: str | None = None) -> Attempt:
    return Attempt(problem=0, index=0, text=text, reasoning=reasoning, finish_reason=finish_reason)


def counted(n: int, *correct: int) -> list[Tally]:
    """Tallies of problems of which so many samples are correct, by way of replies and verdicts."""
    return [
        pipeline.tally(
            problem(number),
            [pipeline.judge(said("A" if sample < c else "X"), problem(number), LETTERS) for sample in range(n)],
            LETTERS,
        )
        for number, c in enumerate(correct)
    ]


def figures(tallies: list[Tally], n: int, *k: int) -> dict[str, float | None]:
    return {row.metric: row.value for row in pipeline.rows(TASK, "0ba9da", tallies, n, k or (n,))}


def graded(*problems: tuple[str, str]) -> dict[str, float | None]:
    """Rows for problems given as (answers, gold): "AAB" are three samples."""
    tallies = []
    for number, (answers, gold) in enumerate(problems):
        asked = problem(number, gold)
        tallies.append(pipeline.tally(asked, [pipeline.judge(said(text), asked, LETTERS) for text in answers], LETTERS))
    return figures(tallies, len(problems[0][0]))


def test_the_example_with_four_problems() -> None:
    """c = 2, 2, 1, 0 of three: pass@3 0.75, avg@3 0.4167, cons@3 0.5."""
    found = graded(("AAX", "A"), ("BCB", "B"), ("XXC", "C"), ("XXX", "D"))
    assert found["pass@3"] == 75.0
    assert found["avg@3"] == pytest.approx(41.67, abs=0.005)
    assert found["avg@3"] == pytest.approx(100 * (2 + 2 + 1) / 12)
    assert found["cons@3"] == 50.0


@pytest.mark.parametrize(
    ("problems", "average", "consistent"),
    [
        ((("AAB", "A"), ("BBC", "B")), 66.7, 100.0),
        ((("ABC", "A"), ("ABC", "B")), 33.3, 0.0),
        ((("AAA", "A"), ("BBB", "C")), 50.0, 50.0),
    ],
    ids=["cons above avg", "cons below avg", "cons equals avg"],
)
def test_the_examples_of_how_cons_and_avg_order(
    problems: tuple[tuple[str, str], ...], average: float, consistent: float
) -> None:
    """Agreement lifts cons@k above avg@n, spread sinks it, and at the extremes the two are one."""
    found = graded(*problems)
    assert found["avg@3"] == pytest.approx(average, abs=0.05)
    assert found["cons@3"] == consistent


def test_the_example_of_the_estimator_as_a_row() -> None:
    """n = 5, c = 3, k = 2: pass@2 is 90."""
    assert figures(counted(5, 3), 5, 2)["pass@2"] == pytest.approx(90.0, abs=1e-12)


@given(st.integers(2, 8).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), min_size=1, max_size=12))))
def test_rows_are_means_over_problems(given_: tuple[int, list[int]]) -> None:
    """accuracy and avg@n are the share of correct samples, pass@n of solved problems, cons@n of majorities."""
    n, correct = given_
    found = figures(counted(n, *correct), n)
    size = len(correct)
    assert list(found) == [f"accuracy ({n} runs average)", f"avg@{n}", f"pass@{n}", f"cons@{n}"]
    assert found[f"avg@{n}"] == pytest.approx(100 * sum(correct) / n / size)
    assert found[f"accuracy ({n} runs average)"] == pytest.approx(found[f"avg@{n}"])
    assert found[f"pass@{n}"] == pytest.approx(100 * sum(c > 0 for c in correct) / size)
    assert found[f"cons@{n}"] == pytest.approx(100 * sum(2 * c > n for c in correct) / size)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=10), st.randoms())
def test_samples_are_grouped_by_problem(correct: list[int], chance: object) -> None:
    """The order of problems, and of samples within one, changes no figure."""
    assert figures(counted(5, *correct), 5, 1, 3, 5) == pytest.approx(figures(counted(5, *sorted(correct)), 5, 1, 3, 5))


def test_one_sample_gives_plain_accuracy() -> None:
    """n = 1 has one row, under the name that readers know."""
    (row,) = pipeline.rows(TASK, "0ba9da", counted(1, 1, 0, 1, 1), 1, (1,))
    assert (row.dataset, row.version, row.metric, row.mode, row.value) == ("letters", "0ba9da", "accuracy", "gen", 75.0)


def test_several_k_stand_in_the_known_order() -> None:
    """All pass@k, then all cons@k."""
    names = ["accuracy (5 runs average)", "avg@5", "pass@1", "pass@5", "cons@1", "cons@5"]
    assert pipeline.metric_names(5, (1, 5)) == names
    assert list(figures(counted(5, 3, 2), 5, 1, 5)) == names


def test_every_row_has_its_interval() -> None:
    """From two problems on; one problem has figures and no interval."""
    assert all(row.interval for row in pipeline.rows(TASK, "v", counted(5, 3, 2), 5, (5,)))
    assert not any(row.interval for row in pipeline.rows(TASK, "v", counted(5, 3), 5, (5,)))


def test_no_problems_give_no_figures() -> None:
    """A dataset of which nothing was marked has unknown figures, not 0."""
    assert set(figures([], 5).values()) == {None}


def test_a_metric_of_degrees_has_its_average_alone() -> None:
    """Where right and wrong is no yes-or-no matter there is no c, so no pass@k and no cons@k."""
    tallies = [msgspec.structs.replace(tally, c=None, values=(0.5, 0.25)) for tally in counted(2, 1, 2)]
    assert figures(tallies, 2) == {"accuracy (2 runs average)": 37.5}


REPLIES = [
    (said("A"), 1.0, "A", "right"),
    (said(" A\n"), 1.0, "A", "right"),
    (said("B"), 0.0, "B", "wrong"),
    (said(""), None, None, "empty"),
    (said(" \n"), None, None, "empty"),
    (said("", reasoning="A"), None, None, "empty"),
]


@pytest.mark.parametrize(("attempt", "value", "answer", "why"), REPLIES)
def test_a_reply_becomes_a_verdict(attempt: Attempt, value: float | None, answer: str | None, why: str) -> None:
    """Right, wrong or empty; what could not be judged has no value."""
    verdict = pipeline.judge(attempt, problem(0), LETTERS)
    assert (verdict.value, verdict.answer, verdict.why, verdict.cut) == (value, answer, why, False)


def test_an_answer_that_is_not_found_is_not_wrong() -> None:
    """It is counted apart."""
    numbers = Pipeline(extract=(Step(name="last_number"),), metric=Step(name="number"))
    assert pipeline.judge(said("none"), problem(0, "5"), numbers).why == "not found"


def test_a_cut_reply_is_judged_and_marked() -> None:
    """finish_reason "length" is told beside the verdict, whatever that is."""
    for text, why in (("A", "right"), ("B", "wrong"), ("", "empty")):
        verdict = pipeline.judge(said(text, finish_reason="length"), problem(0), LETTERS)
        assert (verdict.why, verdict.cut) == (why, True)


@pytest.mark.parametrize(("kind", "why"), [("rejected", "rejected"), ("failed", "failed"), ("refused", "failed")])
def test_a_fault_is_no_answer(kind: FaultKind, why: str) -> None:
    """Rejected by the service and failed on the way are told apart."""
    attempt = Attempt(problem=0, index=0, fault=Fault(kind=kind, sentence="no"))
    verdict = pipeline.judge(attempt, problem(0), LETTERS)
    assert (verdict.value, verdict.why) == (None, why)


def test_reasoning_is_judged_only_on_request_and_only_alone() -> None:
    """--score-reasoning reads it where there is nothing else."""
    alone, both = said("", reasoning="A"), said("B", reasoning="A")
    assert pipeline.judge(alone, problem(0), LETTERS, score_reasoning=True).why == "right"
    assert pipeline.judge(both, problem(0), LETTERS, score_reasoning=True).why == "wrong"


def test_a_tally_is_strict() -> None:
    """Samples without a value stay in n and count as not correct."""
    judged = [pipeline.judge(said(text), problem(7), LETTERS) for text in ("A", "", "B")]
    tally = pipeline.tally(problem(7), [*judged, pipeline.MISSING], LETTERS)
    assert (tally.problem, tally.n, tally.c, tally.values) == (7, 4, 1, (1.0, 0.0, 0.0, 0.0))
    assert tally.why == ("right", "empty", "wrong", "missing")
    assert tally.answers == ("A", None, "B", None)
    assert tally.references == ("A",)


def test_steps_and_metrics_are_known_before_a_run() -> None:
    """A name that no table holds is refused with the nearest."""
    pipeline.check(LETTERS)
    with pytest.raises(UnknownName, match=r"no extraction step called 'striped'; did you mean stripped"):
        pipeline.check(Pipeline(extract=(Step(name="striped"),), metric=Step(name="exact")))
    with pytest.raises(UnknownName, match=r"no metric called 'exakt'; did you mean exact"):
        pipeline.check(Pipeline(extract=(), metric=Step(name="exakt")))
