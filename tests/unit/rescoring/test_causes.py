"""Why a claim differs: a claim that was made by a known cause is explained by it, any other is not explained."""

from collections.abc import Sequence

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from model_accuracy_eval.records import VerdictReason
from model_accuracy_eval.rescoring import causes
from model_accuracy_eval.rescoring.causes import CAUSES, Claim, Evidence, JudgedProblem, Measure

REASONS: tuple[VerdictReason, ...] = (
    "right", "wrong", "not found", "unjudged", "empty", "rejected", "failed", "missing",
)  # fmt: skip


@st.composite
def problems(draw: st.DrawFn, *, least: int = 1) -> list[JudgedProblem]:
    """Up to 12 problems of up to 6 samples each, of two parts."""
    n = draw(st.integers(least, 6))
    reasons = draw(st.lists(st.lists(st.sampled_from(REASONS), min_size=n, max_size=n), min_size=1, max_size=12))
    return [
        JudgedProblem(values=tuple(float(why == "right") for why in row), why=tuple(row), part="ab"[number % 2])
        for number, row in enumerate(reasons)
    ]


def figures(rows: Sequence[JudgedProblem]) -> list[Measure]:
    """Those that can be counted."""
    n = causes.samples_of_each(rows)
    return [Measure("mean"), *(Measure(kind, k) for k in range(1, n + 1) for kind in ("pass", "cons"))]


def evidence(rows: Sequence[JudgedProblem], figure: Measure) -> Evidence:
    share = causes.as_defined(rows, figure)
    assert share is not None
    return Evidence(problems=rows, ours=100 * share, figure=figure, others={})


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
@given(data=st.data(), digits=st.sampled_from([2, 4, 13]), scale=st.sampled_from([1, 100]))
def test_a_claim_that_a_cause_made_is_explained_by_it(
    cause: causes.Cause, data: st.DataObject, digits: int, scale: int
) -> None:
    """In per cent or as a share of 1, printed with any number of digits, unless our own figure is printed alike."""
    rows = data.draw(problems())
    shares = [(figure, share) for figure in figures(rows) if (share := cause.recount(rows, figure)) is not None]
    if not shares:
        return
    figure, share = data.draw(st.sampled_from(shares))
    claim = Claim(round(scale * share, digits), digits)
    against = evidence(rows, figure)
    assert against.ours is not None
    explanation = causes.explain(claim, against)
    if claim.may_be(against.ours):
        assert cause.name not in explanation.causes
        return
    assert cause.name in explanation.causes
    assert str(claim) in explanation.sentence
    assert ("ways" in explanation.sentence) == (len(explanation.causes) > 1)


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
def test_every_cause_can_be_the_only_one(cause: causes.Cause) -> None:
    """There are samples for which no other way to count gives the same."""

    def is_alone(rows: list[JudgedProblem]) -> bool:
        return any(
            causes.explain(Claim(100 * share, 15), evidence(rows, figure)).causes == (cause.name,)
            for figure in figures(rows)
            if (share := cause.recount(rows, figure)) is not None
        )

    assert find(problems(least=2), is_alone, settings=settings(phases=[Phase.generate], max_examples=2000))


@given(rows=problems(), data=st.data(), value=st.floats(0, 100))
def test_any_other_claim_is_not_explained(rows: list[JudgedProblem], data: st.DataObject, value: float) -> None:
    """Unless by chance it is what a cause gives, which is then true of it."""
    figure = data.draw(st.sampled_from(figures(rows)))
    claim = Claim(round(value, 4), 4)
    against = evidence(rows, figure)
    explanation = causes.explain(claim, against)
    shares = [cause.recount(rows, figure) for cause in CAUSES]
    known = [100 * share for share in shares if share is not None] + [against.ours or 0.0]
    near = any(abs(claim.value - scaled) < 1e-3 for share in known for scaled in (share, share / 100))
    if not near:
        assert explanation.causes == ()
        assert f"{claim} is not explained" in explanation.sentence


@given(problems(), st.data())
def test_our_own_figure_needs_no_explanation(rows: list[JudgedProblem], data: st.DataObject) -> None:
    """To two digits, as tables print it; with fewer, it is rounded."""
    figure = data.draw(st.sampled_from(figures(rows)))
    against = evidence(rows, figure)
    assert against.ours is not None
    assert causes.explain(Claim(round(against.ours, 2), 2), against) == causes.Explanation()
    assert causes.explain(Claim(against.ours, 15), against) == causes.Explanation()
    coarse = causes.explain(Claim(round(against.ours), 0), against)
    assert coarse.causes in [(), ("rounding",)]


@pytest.mark.parametrize(
    ("value", "digits", "cause", "sentence"),
    [
        (66.7, 1, "rounding", "66.7 is 66.6667 rounded."),
        (66.6, 1, "cut off", "66.6 is what comes out when 66.6667 is cut off, not rounded; here it is 66.67."),
        (0.667, 3, "fraction", "0.667 is 66.67 % as a share of 1."),
        (0.6666666666666666, 16, "fraction", "0.6667 is 66.67 % as a share of 1."),
    ],
)
def test_other_writings_of_our_figure_are_named(value: float, digits: int, cause: str, sentence: str) -> None:
    """Two of three problems."""
    rows = [JudgedProblem((value,), ("right" if value else "wrong",)) for value in (1.0, 1.0, 0.0)]
    explanation = causes.explain(Claim(value, digits), evidence(rows, Measure("mean")))
    assert (explanation.causes, explanation.sentence) == ((cause,), sentence)


def test_a_coarse_share_proves_nothing() -> None:
    """1 is not 96.67 % as a share of 1, nor is 0.7 one of 66.67 %."""
    rows = [JudgedProblem((value,), ("right" if value else "wrong",)) for value in (1.0, 1.0, 0.0)]
    for value in (0.7, 1.0):
        assert causes.explain(Claim(value, 1), evidence(rows, Measure("mean"))).causes == ()


def test_another_figure_of_ours_is_named() -> None:
    """The loose reading for the strict one."""
    against = Evidence(problems=(), ours=50.0, figure=None, others={"loose": 75.0, "loose of parts": 75.0, "x": 50.0})
    explanation = causes.explain(Claim(0.75, 2), against)
    assert explanation.causes == ("other figure",)
    assert explanation.sentence == (
        "0.75 is what comes out when another of our figures is meant (loose, loose of parts); here it is 50.00."
    )


def test_digits_are_those_of_the_most_precise_figure() -> None:
    """A table prints 50.00 as 50.0 in JSON, next to 62.25."""
    assert causes.claims({"a": 50.0, "b": 62.25, "c": 7.0})["a"] == Claim(50.0, 2)
    assert causes.claims({"a": 50.0})["a"].digits == 0
    assert causes.claims({"a": 1e-07})["a"].digits == 7
    assert causes.claims({"a": 1e22})["a"].digits == 0
    assert causes.claims({"a": 54.01069518716578})["a"].digits == 14
