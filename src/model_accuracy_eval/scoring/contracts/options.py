"""Metrics of weighed options and weighed texts."""

from collections.abc import Sequence
from math import exp, log
from typing import Any

from model_accuracy_eval.records import Candidate, Likelihood, Problem
from model_accuracy_eval.scoring.contracts.contract import Case, Contract, problem, weighed
from model_accuracy_eval.scoring.metrics import metric


def _case(name: str, told: Sequence[Likelihood], asked: Problem, expected: Any, **args: Any) -> Case:
    given = f"{[one.logprob for one in told]} for {list(asked.choices or asked.references)}, right {list(asked.gold)}"
    return Case(given=given, run=lambda: metric(name).score(told, asked, **args), expected=expected)


def _contract(name: str, rule: str, example: Case, falsification: Case) -> Contract:
    wrong = f"Every dataset that is weighed by {name} has another figure than its paper means."
    return Contract(id=f"metric {name}", rule=rule, example=example, falsification=falsification, if_fails=wrong)


def _text(text: str) -> Problem:
    return Problem(id=0, messages=(), references=("",), candidates=(Candidate(context="", continuation=text),))


_SHAPES = problem("0", choices=("3", "four", "22222"), gold=(1,))
_COLOURS = problem("0", choices=("blue", "red"), gold=(0,))
_ACCENT = problem("0", choices=("é", "ab"), gold=(1,))
_MAYBE = problem("2", choices=("yes", "no way", "maybe so"), gold=(2,))
_YES = problem("0", choices=("yes", "no way", "maybe so"), gold=(0,))
_TEXT = problem("Paris")
_THREE = weighed(-3, -4, -5)
_WORTH = problem("x", choices=("x", "y"), target_scores={"x": 0.3, "y": 0.7})
_TRUE = problem("a", choices=("a", "b", "c"), gold=(0, 1))

CONTRACTS = (
    _contract(
        "acc",
        "the right option is the likeliest, of equals the first",
        _case("acc", weighed(-1, -2), _COLOURS, 1.0),
        _case("acc", weighed(-2, -2), problem("1", choices=("a", "b"), gold=(1,)), 0.0),
    ),
    _contract(
        "acc_norm",
        "the likeliest per character",
        _case("acc_norm", weighed(-3, -3.5, -6), _SHAPES, 1.0),
        _case("acc_norm", weighed(-1, -1), _ACCENT, 1.0),
    ),
    _contract(
        "acc_bytes",
        "the likeliest per byte, of equals the first",
        _case("acc_bytes", weighed(-1, -2), _COLOURS, 1.0),
        _case("acc_bytes", weighed(-1, -1), _ACCENT, 0.0),
    ),
    _contract(
        "acc_tokens",
        "the likeliest per token; unknown where tokens are not counted",
        _case(
            "acc_tokens",
            (*weighed(-3, tokens=2), *weighed(-1.4, tokens=1)),
            problem("1", choices=("a", "b"), gold=(1,)),
            1.0,
        ),
        _case("acc_tokens", weighed(-3, -1), _COLOURS, None),
    ),
    _contract(
        "acc_mutual_info",
        "the option that its question makes likelier by the most",
        _case("acc_mutual_info", weighed(-1, -2, -4, -2), _COLOURS, 1.0),
        _case("acc_mutual_info", weighed(-1, -2, -1, -5), _COLOURS, 0.0),
    ),
    _contract(
        "exact_match_mc",
        "greedy decoding says the right option; unknown where nobody tells",
        _case("exact_match_mc", weighed(-1, -2, greedy=True), _COLOURS, 1.0),
        _case("exact_match_mc", weighed(-1, -2), _COLOURS, None),
    ),
    _contract(
        "f1",
        "right and likeliest option, for F1 over the dataset",
        _case("f1", weighed(-1, -2), _COLOURS, (0, 0)),
        _case("f1", weighed(-3, -2), _COLOURS, (0, 1)),
    ),
    _contract(
        "mcc",
        "right and likeliest option, for the correlation over the dataset",
        _case("mcc", weighed(-1, -2), _COLOURS, (0, 0)),
        _case("mcc", weighed(-3, -2), _COLOURS, (0, 1)),
    ),
    _contract(
        "brier_score",
        "squared distance of the options' shares from certainty",
        _case("brier_score", _THREE, _YES, 0.180061),
        _case("brier_score", weighed(0, -1000), _COLOURS, 0.0),
    ),
    _contract(
        "choice_prob",
        "the right option's share of the probability",
        _case("choice_prob", weighed(-1, -1), _COLOURS, 0.5),
        _case("choice_prob", weighed(-1000, -1001), _COLOURS, 1 / (1 + exp(-1))),
    ),
    _contract(
        "choice_prob_norm",
        "the same per byte",
        _case("choice_prob_norm", _THREE, _MAYBE, 0.377861),
        _case("choice_prob_norm", weighed(-2, -2), _ACCENT, 0.5),
    ),
    _contract(
        "choice_logprob",
        "logarithm of the right option's share",
        _case("choice_logprob", _THREE, _MAYBE, -2.407606),
        _case("choice_logprob", weighed(-1, -1), _COLOURS, log(0.5)),
    ),
    _contract(
        "choice_logprob_norm",
        "logarithm of the right option's share per byte",
        _case("choice_logprob_norm", _THREE, _MAYBE, -0.973230),
        _case("choice_logprob_norm", weighed(-2, -2), _ACCENT, log(0.5)),
    ),
    _contract(
        "perplexity",
        "logarithm of the right answer, for the perplexity over the dataset",
        _case("perplexity", weighed(-2), _TEXT, -2.0),
        _case("perplexity", weighed(-1, -5), problem("1", choices=("a", "b"), gold=(1,)), -5.0),
    ),
    _contract(
        "word_perplexity",
        "words are what stands between blanks, whatever those are",
        _case("word_perplexity", weighed(-4), _text("hello world"), (-4.0, 2)),
        _case("word_perplexity", weighed(-4), _text("a \n b\tc"), (-4.0, 3)),
    ),
    _contract(
        "byte_perplexity",
        "bytes, not characters",
        _case("byte_perplexity", weighed(-4), _text("abc"), (-4.0, 3)),
        _case("byte_perplexity", weighed(-4), _text("é"), (-4.0, 2)),
    ),
    _contract(
        "bits_per_byte",
        "bytes of the whole text",
        _case("bits_per_byte", weighed(-4), _text("abc"), (-4.0, 3)),
        _case("bits_per_byte", weighed(-4), _text("日"), (-4.0, 3)),
    ),
    _contract(
        "bpb",
        "bits of the right option per byte of its text",
        _case("bpb", _THREE, _MAYBE, 0.901684),
        _case("bpb", weighed(-log(4)), problem("é"), 1.0),
    ),
    _contract(
        "logprob",
        "logarithm of the right answer's likelihood",
        _case("logprob", _THREE, _MAYBE, -5.0),
        _case("logprob", _THREE, _TRUE, -3.0),
    ),
    _contract(
        "likelihood",
        "how likely the right answer is",
        _case("likelihood", weighed(log(0.25), -9), _COLOURS, 0.25),
        _case("likelihood", weighed(-1000, -1), _COLOURS, 0.0),
    ),
    _contract(
        "log_prob",
        "what the likeliest option is worth",
        _case("log_prob", weighed(-1, -1.5), _WORTH, 0.3),
        _case("log_prob", weighed(-3, -1.5), problem("y", choices=("x", "y"), gold=(1,)), 1.0),
    ),
    _contract(
        "log_prob_mc2",
        "share of the options before the first that is worth nothing",
        _case("log_prob_mc2", weighed(-1, -2, -1), _TRUE, 0.577681),
        _case("log_prob_mc2", weighed(-1001, -1002, -1001), _TRUE, 0.577681),
    ),
)
