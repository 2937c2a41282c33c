"""Metrics of log-likelihoods: the figures of the harnesses, and properties that hold for any values."""

from math import exp, fsum, inf, log

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


DOCS = [
    (problem("3", "four", "22222", gold=1), (-3.0, -3.5, -6.0), (-1.0, -5.0, -7.0)),
    (problem("blue", "red", gold=0), (-1.0, -2.0), (-4.0, -2.0)),
    (problem("aa", "b", gold=1), (-2.0, -1.5), (-1.0, -3.0)),
]


def test_l20_l21_acc_and_acc_norm_of_three_documents() -> None:
    """Two thirds each, but not of the same documents."""
    assert [score("acc", weighed(*lls), asked) for asked, lls, _ in DOCS] == [0, 1, 1]
    assert [score("acc_norm", weighed(*lls), asked) for asked, lls, _ in DOCS] == [1, 1, 0]


def test_l20_the_first_of_equals_counts_and_gold_outside_is_never_right() -> None:
    """And several right options are right as soon as one is the likeliest."""
    assert score("acc", weighed(-1, -1), problem("a", "b", gold=0)) == 1
    assert score("acc", weighed(-1, -1), problem("a", "b", gold=1)) == 0
    assert score("acc", weighed(-1, -2), problem("a", "b", gold=(1, 0))) == 1
    assert score("acc", weighed(-1, -2), problem("a", "b", gold=-100)) == 0


def test_l20_without_options_acc_is_whether_greedy_decoding_says_it() -> None:
    """Unknown where the service does not tell."""
    assert score("acc", weighed(-1, greedy=True), problem()) == 1
    assert score("acc", weighed(-1, greedy=False), problem()) == 0
    assert score("acc", weighed(-1), problem()) is None


def test_l21_characters_are_not_bytes() -> None:
    """é has one character and two bytes."""
    told = weighed(-1, -1)
    assert score("acc_norm", told, problem("é", "ab", gold=1)) == 1
    assert score("acc_bytes", told, problem("é", "ab", gold=0)) == 1


def test_l22_acc_mutual_info_weighs_what_the_question_adds() -> None:
    """All three documents are right by it; without the second half of the likelihoods it says what it lacks."""
    assert all(score("acc_mutual_info", weighed(*asked, *bare), one) == 1 for one, asked, bare in DOCS)
    with pytest.raises(BadData, match="problem 0 has 2 options and 2 log-likelihoods"):
        score("acc_mutual_info", weighed(-1, -2), problem("a", "b"))


def test_l22_other_metrics_do_not_see_the_second_half() -> None:
    """The unconditional likelihoods change nothing but mutual information."""
    for one, asked, bare in DOCS:
        for name in ("acc", "acc_norm", "acc_bytes", "brier_score", "choice_prob", "f1", "logprob"):
            assert score(name, weighed(*asked, *bare), one) == score(name, weighed(*asked), one)


def test_l24_exact_match_of_options_is_greedy_decoding() -> None:
    """Of the right options one is enough."""
    told = (*weighed(-1, greedy=False), *weighed(-2, greedy=True))
    assert score("exact_match_mc", told, problem("a", "b", gold=0)) == 0
    assert score("exact_match_mc", told, problem("a", "b", gold=(0, 1))) == 1
    assert score("exact_match_mc", weighed(-1, -2), problem("a", "b")) is None


def test_l25_l26_a_text_counts_words_and_bytes() -> None:
    """Of the whole text, blanks of any kind between words."""
    asked = Problem(id=0, messages=(), references=("",), candidates=(Candidate(context="", continuation="a é\n c"),))
    assert score("word_perplexity", weighed(-6), asked) == (-6.0, 3)
    assert score("byte_perplexity", weighed(-6), asked) == score("bits_per_byte", weighed(-6), asked) == (-6.0, 7)


def test_l30_figures_of_the_right_option() -> None:
    """As the harness computes them for likelihoods of -3, -4 and -5."""
    asked, told = problem("yes", "no way", "maybe so", gold=2), weighed(-3, -4, -5)
    assert score("bpb", told, asked) == pytest.approx(0.901684, abs=1e-6)
    assert score("logprob", told, asked) == -5
    assert score("choice_logprob", told, asked) == pytest.approx(-2.407606, abs=1e-6)
    assert score("choice_prob_norm", told, asked) == pytest.approx(0.377861, abs=1e-6)
    assert score("choice_logprob_norm", told, asked) == pytest.approx(log(0.377861), abs=1e-5)
    assert score("likelihood", told, asked) == pytest.approx(exp(-5))


def test_l30_bytes_are_those_of_what_was_weighed() -> None:
    """Bits per byte and shares per byte count the blank in front of an option that was sent with one."""
    sent = tuple(Candidate(context="Q", continuation=text) for text in (" é", " abcde"))
    asked, told = problem("é", "abcde", gold=0, candidates=sent), weighed(-3 * log(2), -6 * log(2))
    assert score("bpb", told, asked) == pytest.approx(1)
    assert score("choice_prob_norm", told, asked) == pytest.approx(0.5)
    assert score("choice_logprob_norm", told, asked) == pytest.approx(log(0.5))


def test_l29_brier_takes_any_number_of_options() -> None:
    """Problem by problem, so that documents may differ; .45 is the mean of the harness' two."""
    assert score("brier_score", weighed(-3, -4, -5), problem("a", "b", "c", gold=0)) == pytest.approx(
        0.180061, abs=1e-6
    )
    two = [score("brier_score", weighed(log(0.7), log(0.3)), problem("a", "b", gold=0)),
           score("brier_score", weighed(log(0.6), log(0.4)), problem("a", "b", gold=1))]  # fmt: skip
    assert sum(two) / 2 == pytest.approx(0.45)  # type: ignore[arg-type]


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


def test_what_cannot_happen_upsets_nothing() -> None:
    """Options of which none is likely at all, and options without a text."""
    never = weighed(-inf, -inf)
    assert score("acc", never, problem("a", "b", gold=1)) == 0
    assert score("brier_score", never, problem("a", "b")) == 0.5
    assert score("choice_logprob", weighed(-inf, -1), problem("a", "b")) is None
    assert score("acc_norm", weighed(-1, -2), problem("", "b", gold=1)) == 1
    assert score("log_prob", never, problem("a", "b", gold=0)) == 0
    assert score("log_prob_mc2", never, problem("a", "b", gold=0)) == 0


def test_n20_options_are_weighed_per_token() -> None:
    """A mean loss of 1.5 loses against 1.4; where tokens are not counted, nothing is known."""
    told = (Loglikelihood(logprob=-3, tokens=2), Loglikelihood(logprob=-1.4, tokens=1))
    assert score("acc_tokens", told, problem("a", "b", gold=1)) == 1
    assert score("acc_tokens", weighed(-3, -1.4), problem("a", "b")) is None


def test_u13_log_prob_is_what_the_likeliest_option_is_worth() -> None:
    """By the row's own table, else 1 for the right one."""
    plain = problem("x", "y", gold=1)
    assert score("log_prob", weighed(-3, -1.5), plain) == 1
    table = problem("x", "y", extras={"target_scores": {"x": 0.3, "y": 0.7}})
    assert score("log_prob", weighed(-1, -1.5), table) == 0.3


def test_u10_per_token_the_likeliest_may_be_another() -> None:
    """[3.0, 1.5] in all and [2.5, 0.5] per token are both the second; tokens turn the tables where lengths differ."""
    told = (Loglikelihood(logprob=-3, tokens=6), Loglikelihood(logprob=-2, tokens=1))
    assert score("log_prob", told, problem("x", "y", gold=0)) == 0
    assert score("log_prob", told, problem("x", "y", gold=0), per="token") == 1
    with pytest.raises(BadData, match="not per 'word'"):
        score("log_prob", told, problem("x", "y"), per="word")


def test_u14_log_prob_mc2_is_the_share_of_the_right_ones() -> None:
    """Those before the first that is worth nothing."""
    assert score("log_prob_mc2", weighed(-1, -2, -1), problem("a", "b", "c", gold=(0, 1))) == pytest.approx(
        0.577681, abs=1e-6
    )


def test_a_sample_without_likelihoods_is_unknown() -> None:
    """It is counted as not found, and never as a lucky guess for the first option."""
    asked = problem("a", "b")
    sample = Attempt(problem=0, index=0, loglikelihoods=(None, None))
    marks = judge(asked, [sample], Pipeline(metrics=(MetricUse(name="acc"),)))
    assert (marks.verdicts[0].why, marks.verdicts[0].value, marks.values) == ("not found", None, ((None,),))
