"""Metrics of log-likelihoods: the figures of the harnesses, and properties that hold for any values."""

from math import exp, fsum, inf, log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Attempt, Candidate, Loglikelihood, MetricUse, Pipeline, Problem
from model_accuracy_eval.scoring.figures.judging import judge
from model_accuracy_eval.scoring.metrics.metric_table import metric

LOGPROBS = st.lists(st.floats(-50, 0), min_size=2, max_size=6)


def problem(*choices: str, gold: int | tuple[int, ...] = 0, **more: object) -> Problem:
    places = (gold,) if isinstance(gold, int) else gold
    return Problem(id=0, messages=(), references=("x",), choices=choices, gold=places, **more)  # type: ignore[arg-type]


def weighed(*logprobs: float, **more: object) -> tuple[Loglikelihood, ...]:
    return tuple(Loglikelihood(logprob=one, **more) for one in logprobs)  # type: ignore[arg-type]


def score(name: str, told: tuple[Loglikelihood, ...], asked: Problem, **args: object) -> object:
    return metric(name).score(told, asked, **args)


SENT = tuple(Candidate(context="Q", continuation=text) for text in (" é", " abcde"))
WHOLE = Problem(id=0, messages=(), references=("",), candidates=(Candidate(context="", continuation="a é\n c"),))
TABLE = problem("x", "y", extras={"target_scores": {"x": 0.3, "y": 0.7}})
THREE, BLANK = problem("yes", "no way", "maybe so", gold=2), problem("é", "abcde", candidates=SENT)
BITS = (*weighed(-3 * log(2)), *weighed(-6 * log(2)))
PER_TOKEN = (Loglikelihood(logprob=-3, tokens=6), Loglikelihood(logprob=-2, tokens=1))
NEVER = weighed(-inf, -inf)


@pytest.mark.parametrize(
    ("name", "told", "asked", "value"),
    [
        # the first of equals counts, gold outside is never right, and of several right options one is enough
        ("acc", weighed(-1, -1), problem("a", "b", gold=0), 1),
        ("acc", weighed(-1, -1), problem("a", "b", gold=1), 0),
        ("acc", weighed(-1, -2), problem("a", "b", gold=(1, 0)), 1),
        ("acc", weighed(-1, -2), problem("a", "b", gold=-100), 0),
        ("acc", NEVER, problem("a", "b", gold=1), 0),
        # without options, whether greedy decoding says it; unknown where the service does not tell
        ("acc", weighed(-1, greedy=True), problem(), 1),
        ("acc", weighed(-1, greedy=False), problem(), 0),
        ("acc", weighed(-1), problem(), None),
        # é has one character and two bytes; an option without a text is the least likely
        ("acc_norm", weighed(-1, -1), problem("é", "ab", gold=1), 1),
        ("acc_bytes", weighed(-1, -1), problem("é", "ab", gold=0), 1),
        ("acc_norm", weighed(-1, -2), problem("", "b", gold=1), 1),
        # a mean loss of 1.5 loses against 1.4; where tokens are not counted, nothing is known
        ("acc_tokens", (*weighed(-3, tokens=2), *weighed(-1.4, tokens=1)), problem("a", "b", gold=1), 1),
        ("acc_tokens", weighed(-3, -1.4), problem("a", "b"), None),
        ("exact_match_mc", (*weighed(-1, greedy=False), *weighed(-2, greedy=True)), problem("a", "b", gold=0), 0),
        ("exact_match_mc", (*weighed(-1, greedy=False), *weighed(-2, greedy=True)), problem("a", "b", gold=(0, 1)), 1),
        ("exact_match_mc", weighed(-1, -2), problem("a", "b"), None),
        # blanks of any kind stand between words
        ("word_perplexity", weighed(-6), WHOLE, (-6.0, 3)),
        ("byte_perplexity", weighed(-6), WHOLE, (-6.0, 7)),
        ("bits_per_byte", weighed(-6), WHOLE, (-6.0, 7)),
        # as the harness computes them
        ("bpb", weighed(-3, -4, -5), THREE, 0.901684),
        ("logprob", weighed(-3, -4, -5), THREE, -5),
        ("choice_logprob", weighed(-3, -4, -5), THREE, -2.407606),
        ("choice_prob_norm", weighed(-3, -4, -5), THREE, 0.377861),
        ("choice_logprob_norm", weighed(-3, -4, -5), THREE, -0.97323),
        ("choice_logprob", weighed(-inf, -1), problem("a", "b"), None),
        ("likelihood", weighed(-3, -4, -5), THREE, exp(-5)),
        ("brier_score", weighed(-3, -4, -5), problem("a", "b", "c", gold=0), 0.180061),
        ("brier_score", weighed(log(0.7), log(0.3)), problem("a", "b", gold=0), 0.18),
        ("brier_score", weighed(log(0.6), log(0.4)), problem("a", "b", gold=1), 0.72),
        ("brier_score", NEVER, problem("a", "b"), 0.5),
        # bytes are those of what was weighed, with the blank in front
        ("bpb", BITS, BLANK, 1),
        ("choice_prob_norm", BITS, BLANK, 0.5),
        ("choice_logprob_norm", BITS, BLANK, log(0.5)),
        # what the likeliest option is worth, by the row's own table, else 1 for the right one
        ("log_prob", weighed(-3, -1.5), problem("x", "y", gold=1), 1),
        ("log_prob", weighed(-1, -1.5), TABLE, 0.3),
        ("log_prob", PER_TOKEN, problem("x", "y", gold=0), 0),
        ("log_prob", NEVER, problem("a", "b", gold=0), 0),
        # the share of those before the first that is worth nothing
        ("log_prob_mc2", weighed(-1, -2, -1), problem("a", "b", "c", gold=(0, 1)), 0.577681),
        ("log_prob_mc2", NEVER, problem("a", "b", gold=0), 0),
    ],
)
def test_what_options_and_texts_are_worth(
    name: str, told: tuple[Loglikelihood, ...], asked: Problem, value: Any
) -> None:
    """L20 to L30 of the harness, U13 and U14 of UltraEval, N20 of nanochat."""
    assert score(name, told, asked) == (value if value is None else pytest.approx(value, abs=1e-6))


def test_u10_per_token_the_likeliest_may_be_another() -> None:
    """Tokens turn the tables where lengths differ; there is no other unit."""
    assert score("log_prob", PER_TOKEN, problem("x", "y", gold=0), per="token") == 1
    with pytest.raises(BadData, match="not per 'word'"):
        score("log_prob", PER_TOKEN, problem("x", "y"), per="word")


DOCS = [
    (problem("3", "four", "22222", gold=1), (-3.0, -3.5, -6.0), (-1.0, -5.0, -7.0)),
    (problem("blue", "red", gold=0), (-1.0, -2.0), (-4.0, -2.0)),
    (problem("aa", "b", gold=1), (-2.0, -1.5), (-1.0, -3.0)),
]


def test_l20_to_l22_three_documents_with_and_without_their_questions() -> None:
    """Two thirds are right by acc and by acc_norm, but not the same; by what the question adds, all. Other metrics do
    not see the second half of the likelihoods."""
    assert [score("acc", weighed(*lls), asked) for asked, lls, _ in DOCS] == [0, 1, 1]
    assert [score("acc_norm", weighed(*lls), asked) for asked, lls, _ in DOCS] == [1, 1, 0]
    assert [score("acc_mutual_info", weighed(*lls, *bare), one) for one, lls, bare in DOCS] == [1, 1, 1]
    with pytest.raises(BadData, match="problem 0 has 2 options and 2 log-likelihoods"):
        score("acc_mutual_info", weighed(-1, -2), problem("a", "b"))
    with pytest.raises(BadData, match="problem 0 has 0 options and 1 log-likelihoods"):
        score("acc_mutual_info", weighed(-1), problem())
    for one, lls, bare in DOCS:
        for name in ("acc", "acc_norm", "acc_bytes", "brier_score", "choice_prob", "f1", "logprob"):
            assert score(name, weighed(*lls, *bare), one) == score(name, weighed(*lls), one)


@given(LOGPROBS, st.data())
def test_shares_of_probability_add_up(logprobs: list[float], data: st.DataObject) -> None:
    """Over all options to 1, and a constant added to all likelihoods changes nothing."""
    names = [chr(97 + place) * (place + 1) for place in range(len(logprobs))]
    shift = data.draw(st.floats(-2000, 0))
    for name in ("choice_prob", "choice_prob_norm"):
        shares = [score(name, weighed(*logprobs), problem(*names, gold=place)) for place in range(len(names))]
        assert fsum(shares) == pytest.approx(1)  # type: ignore[arg-type]
    for name in ("acc", "brier_score", "choice_prob"):
        moved = weighed(*(one + shift for one in logprobs))
        if len({one + shift for one in logprobs}) == len(set(logprobs)):
            assert score(name, moved, problem(*names)) == pytest.approx(
                score(name, weighed(*logprobs), problem(*names)), abs=1e-6
            )


def test_a_sample_without_likelihoods_is_unknown() -> None:
    """It is counted as not found, and never as a lucky guess for the first option."""
    asked = problem("a", "b")
    sample = Attempt(problem=0, index=0, loglikelihoods=(None, None))
    marks = judge(asked, [sample], Pipeline(metrics=(MetricUse(name="acc"),)))
    assert (marks.verdicts[0].why, marks.verdicts[0].value, marks.values) == ("not found", None, ((None,),))
