"""Figures that lack samples lie between a least and a greatest one, whatever the samples would have said."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.scoring.judged_tasks import pipe, problem, task

from model_accuracy_eval.records import (
    Attempt,
    Candidate,
    Fault,
    Grouping,
    Loglikelihood,
    MetricUse,
    Opinion,
    Problem,
    Question,
    Step,
    SummaryRow,
    TaskSpec,
)
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.metrics.metric_type import Ask

Samples = Sequence[Attempt | None]

WORDS = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "far", "zz"]), max_size=9).map(" ".join)


def text(words: str) -> Attempt:
    return Attempt(problem=0, index=0, text=words)


def measured(*logprobs: float) -> Attempt:
    options = tuple(Loglikelihood(logprob=value, tokens=2, greedy=value > -2) for value in logprobs)
    return Attempt(problem=0, index=0, method="echo", loglikelihoods=options)


def rejected() -> Attempt:
    return Attempt(problem=0, index=0, fault=Fault(kind="rejected", sentence="HTTP 400"))


def figures(
    spec: TaskSpec, problems: Sequence[Problem], samples: Sequence[Samples], k: Sequence[int] = (), **more: Any
) -> dict[str, SummaryRow]:
    n = len(samples[0])
    card = Scorecard(spec, n, k or (n,), **more)
    for each, of_problem in zip(problems, samples, strict=True):
        card.judge(each, of_problem)
    return {row.metric: row for row in card.rows("0ba9da")}


def within(row: SummaryRow, figure: float | None) -> bool:
    """Whether the figure lies inside the row's bounds; without any it must be the row's value."""
    if row.value is None:
        return True
    if figure is None:
        return row.bounds is not None
    slack = 1e-6 * max(1.0, abs(figure))
    if row.bounds is None:
        return abs(figure - row.value) <= slack
    low, high = row.bounds.low, row.bounds.high
    return (low is None or low - slack <= figure) and (high is None or figure <= high + slack)


def check(
    data: st.DataObject,
    spec: TaskSpec,
    problems: Sequence[Problem],
    reply: st.SearchStrategy[Attempt],
    n: int,
    k: Sequence[int] = (),
) -> None:
    """Draws all replies, loses some of them, and compares the figures."""
    one = st.lists(reply, min_size=n, max_size=n)
    replies = [data.draw(one) for _ in problems]
    lost = data.draw(st.lists(st.booleans(), min_size=n * len(problems), max_size=n * len(problems)))
    flags = iter(lost)
    kept = [[None if next(flags) else sample for sample in of_problem] for of_problem in replies]
    whole, partial = figures(spec, problems, replies, k), figures(spec, problems, kept, k)
    if not all(lost):
        assert whole.keys() == partial.keys()
    for name, row in partial.items():
        if all(lost):
            assert (row.value, row.interval, row.stderr, row.bounds) == (None, None, None, None)
        else:
            assert within(row, whole[name].value), (row, whole[name])
            assert within(row, row.value), row
            if row.interval is not None:
                assert row.interval.low - 1e-9 <= (whole[name].value or 0.0) <= row.interval.high + 1e-9


LETTERS = st.sampled_from(["A", "B", "C", ""]).map(text)

REDUCTIONS = (None, "take_first", "mean", "median", "max", "min", "majority", "pass@k", "cons@k", "avg@n", "pass@2")


@pytest.mark.parametrize("reduction", REDUCTIONS)
@given(st.data(), st.integers(2, 5))
def test_right_or_wrong_by_every_reduction(reduction: str | None, data: st.DataObject, n: int) -> None:
    """pass@k, cons@k, averages, medians, majorities: the true figure is inside, and so is its interval."""
    spec = task(pipe(MetricUse(name="exact_match", reduction=reduction)))
    check(data, spec, [problem(number, "A") for number in range(data.draw(st.integers(1, 6)))], LETTERS, n, (1, 2, n))


@pytest.mark.parametrize("reduction", ["take_first", "mean", "median", "max", "min", "majority"])
@given(st.data(), st.integers(2, 5))
def test_shares_by_every_reduction(reduction: str, data: st.DataObject, n: int) -> None:
    """The most frequent of several values may be any of them."""
    spec = task(pipe(MetricUse(name="token_f1", reduction=reduction)))
    words = st.sampled_from(["a", "a b", "b", "a b c d"]).map(text)
    check(data, spec, [problem(number, "a") for number in range(data.draw(st.integers(1, 3)))], words, n)


@given(st.data(), st.integers(1, 5), st.booleans())
def test_samples_that_vote(data: st.DataObject, n: int, skip: bool) -> None:
    """A majority that the lost votes could overthrow is open; one that they could not is certain."""
    vote = Step(name="majority_vote", args={"skip_unread": skip})
    spec = task(
        pipe("exact_match", filters=[Step(name="choice_letter"), vote]),
        pipe("exact_match", filters=[Step(name="take_first")], name="first"),
        pipe("exact_match", filters=[Step(name="take_first_k", args={"k": 1})], name="some"),
    )
    asked = [problem(number, "A", choices=("x", "y", "z")) for number in range(3)]
    check(data, spec, asked, LETTERS, n)


def test_a_majority_that_lost_votes_cannot_overthrow_is_exact() -> None:
    """Four of five against one lost vote; unread ones may be skipped."""
    for skip, said in ((False, "AAAA"), (True, "AAA?")):
        steps = [Step(name="choice_letter"), Step(name="majority_vote", args={"skip_unread": skip})]
        asked = [problem(0, "A", choices=("x", "y", "z"))]
        row = figures(task(pipe("exact_match", filters=steps)), asked, [[*map(text, said), None]])["exact_match"]
        assert (row.value, row.bounds) == (100.0, None)


@pytest.mark.parametrize(
    "name", ["bleu", "chrf", "chrf++", "ter", "sentence_bleu", "word_error_rate", "squad", "rouge"]
)
@given(st.data(), st.integers(1, 2))
def test_texts_of_any_length(name: str, data: st.DataObject, n: int) -> None:
    """Figures of whole datasets too; of several right answers each counts."""
    right = st.lists(WORDS.filter(bool), min_size=1, max_size=2)
    asked = [problem(number, *data.draw(right)) for number in range(data.draw(st.integers(1, 4)))]
    check(data, task(pipe(name)), asked, WORDS.map(text), n)


LOGPROB = st.floats(-30, 0)


@pytest.mark.parametrize(
    "name",
    ["perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte", "bpb", "logprob", "likelihood"],
)  # fmt: skip
@given(st.data(), st.integers(1, 2))
def test_weighed_texts(name: str, data: st.DataObject, n: int) -> None:
    """A lost text may be as unlikely as can be, so its figure has one end only."""
    asked = [
        problem(number, words, candidates=(Candidate(context="", continuation=words),))
        for number, words in enumerate(data.draw(st.lists(WORDS.filter(bool), min_size=1, max_size=5)))
    ]
    check(data, task(pipe(name), kind="rolling"), asked, LOGPROB.map(measured), n)


OPTIONS = ("acc", "acc_norm", "f1", "mcc", "brier_score", "choice_prob", "choice_logprob", "log_prob", "log_prob_mc2")


@pytest.mark.parametrize("name", OPTIONS)
@given(st.data(), st.integers(1, 2), st.integers(2, 4))
def test_weighed_options(name: str, data: st.DataObject, n: int, options: int) -> None:
    """F1 and Matthews' correlation too, of two labels and of more."""
    places = st.integers(0, options - 1)
    asked = [
        problem(number, "a", choices=tuple("abcd"[:options]), gold=(gold,))
        for number, gold in enumerate(data.draw(st.lists(places, min_size=1, max_size=7)))
    ]
    weighed = st.lists(LOGPROB, min_size=options, max_size=options).map(lambda values: measured(*values))
    check(data, task(pipe(name), kind="choice"), asked, weighed, n)


LONG = [" ".join(f"w{number}" for number in range(120)), " ".join(f"v{number}" for number in range(10))]
SHORT = ["abcde", "abcde", "".join(map(chr, range(ord("0"), ord("z")))), "fghijk"]


@pytest.mark.parametrize(
    ("name", "right", "said", "copy_and_better"),
    [
        # Where the others are too short, BLEU gains more by words than it loses by wrong ones.
        ("bleu", LONG, [LONG[0][: LONG[0].index(" w60")]], [LONG[1], LONG[1] + " z" * 70]),
        # Where no other answer has six characters, chrF does not look at the sixes of a long right answer.
        ("chrf", SHORT, ["abcde", "abcde", "01234"], ["fghijk", "fghij"]),
    ],
)
def test_a_lost_answer_may_do_better_than_a_copy(
    name: str, right: list[str], said: list[str], copy_and_better: list[str]
) -> None:
    """By its length alone."""
    asked, known = [problem(number, words) for number, words in enumerate(right)], [[text(words)] for words in said]
    row = figures(task(pipe(name)), asked, [*known, [None]])[name]
    values = [figures(task(pipe(name)), asked, [*known, [text(one)]])[name].value for one in copy_and_better]
    assert (values[1] or 0.0) > (values[0] or 0.0)
    assert all(within(row, value) for value in values)


@pytest.mark.parametrize("name", ["mean", "median", "sum", "max", "min", "nanmean", "perplexity"])
@given(st.data())
def test_every_aggregation(name: str, data: st.DataObject) -> None:
    """Of log-likelihoods, which have no least value."""
    asked = [problem(number) for number in range(data.draw(st.integers(1, 5)))]
    spec = task(pipe(MetricUse(name="logprob", aggregation=name)), kind="target")
    check(data, spec, asked, LOGPROB.map(measured), 1)


@given(st.data(), st.integers(1, 3), st.booleans())
def test_parts_their_mean_and_centred_figures(data: st.DataObject, n: int, weigh: bool) -> None:
    """Each by its own lost samples; a part without any verdict has no figure, and neither has the mean of the parts."""
    spec = task(pipe("exact_match"), grouping=Grouping(weight_by_size=weigh, areas={"x": "X", "y": "X"}), baseline=0.25)
    parts = data.draw(st.lists(st.sampled_from("xy"), min_size=1, max_size=6))
    check_parts = [problem(number, "A", category=part) for number, part in enumerate(parts)]
    check(data, spec, check_parts, LETTERS, n)


def test_perplexity_cannot_gain_by_refusing_texts() -> None:
    """Half of the texts are refused: without them the figure looks better, but it is no less than what the rest proves,
    and has no greatest value."""
    asked = [problem(number, candidates=(Candidate(context="", continuation="ab"),)) for number in range(4)]
    spec = task(pipe("bits_per_byte"), kind="rolling")
    whole = figures(spec, asked, [[measured(-3.0)], [measured(-1.0)]] * 2)["bits_per_byte"]
    row = figures(spec, asked, [[rejected()], [measured(-1.0)]] * 2)["bits_per_byte"]
    assert whole.value is not None
    assert row.value is not None
    assert row.bounds is not None
    assert row.value < whole.value
    assert row.bounds.low == pytest.approx(row.value / 2)
    assert (row.bounds.high, row.bounds.samples) == (None, 2)


def test_an_answer_that_the_judge_left_unjudged_is_lost_too() -> None:
    """It counts as wrong, and may have been right."""

    def opinion(ask: Ask) -> Opinion | None:
        return Opinion(text="yes") if isinstance(ask, Question) and "good" in ask.messages[0].content else None

    spec = task(pipe(MetricUse(name="judge", args={"prompt": "{answer}"})))
    row = figures(spec, [problem(0, "A"), problem(1, "A")], [[text("good")], [text("odd")]], ask_results=opinion)[
        "judge"
    ]
    assert row.bounds is not None
    assert (row.value, row.bounds.low, row.bounds.high) == (50, 50, 100)


def test_a_run_that_ended_early_could_still_be_anything_that_the_rest_makes_of_it() -> None:
    """One of two problems is right, the other was never judged."""
    card = Scorecard(task(pipe("exact_match")), 1, (1,))
    card.judge(problem(0, "A"), [text("A")])
    card.leave_out(problem(1, "A"))
    (row,) = card.rows("0ba9da")
    assert row.value == 100.0
    assert row.bounds is not None
    assert (row.bounds.low, row.bounds.high, row.bounds.samples) == (50.0, 100.0, 1)


def test_small_datasets_are_bounded_as_tightly_as_can_be() -> None:
    """For right-or-wrong figures the ends are reached by completions."""
    spec = task(pipe("exact_match"))
    asked = [problem(0, "A"), problem(1, "A")]
    kept: list[Samples] = [[text("A"), None, text("B")], [None, None, text("A")]]
    rows = figures(spec, asked, kept, (1, 2, 3))
    completions = [
        figures(spec, asked, [[text("A"), text(x), text("B")], [text(y), text(z), text("A")]], (1, 2, 3))
        for x, y, z in product("AB", repeat=3)
    ]
    for name, row in rows.items():
        reached = [whole[name].value for whole in completions]
        if row.bounds is None:
            assert set(reached) == {row.value}
        else:
            assert (row.bounds.low, row.bounds.high) == pytest.approx((min(reached), max(reached)))  # type: ignore[type-var]


def test_metrics_of_the_users_own_have_no_known_limits() -> None:
    """Nobody knows what values such a function could have given."""
    use = MetricUse(name=f"{__name__}:length")
    rows = figures(task(pipe(use)), [problem(0), problem(1)], [[text("abc")], [None]])
    (row,) = rows.values()
    assert row.bounds is not None
    assert (row.bounds.low, row.bounds.high) == (None, None)


def length(answer: str, references: Sequence[str]) -> float | None:
    return float(len(answer))
