"""Contracts of metrics of log-likelihoods, of options and of whole texts."""

from collections.abc import Sequence
from math import exp, log
from typing import Any

from model_accuracy_eval.records import Candidate, Loglikelihood, Problem
from model_accuracy_eval.scoring.contracts.contract import Case, CaseValues, Contract, contract, problem
from model_accuracy_eval.scoring.metrics import metric


def _contract(name: str, rule: str, example: CaseValues, falsification: CaseValues) -> Contract:
    """A case is (log-likelihoods, problem, expected value)."""

    def case(options: Sequence[Loglikelihood], asked: Problem, expected: Any) -> Case:
        logprobs, texts = [option.logprob for option in options], list(asked.choices or asked.references)
        text = f"{logprobs} for {texts}, right {list(asked.gold)}"
        return Case(input=text, run=lambda: metric(name).score(options, asked), expected=expected)

    if_fails = f"Every dataset that is scored by {name} has another figure than its paper means."
    return contract(f"metric {name}", rule, case(*example), case(*falsification), if_fails)


def _logprobs(*logprobs: float, tokens: int | None = None, greedy: bool | None = None) -> tuple[Loglikelihood, ...]:
    return tuple(Loglikelihood(logprob=logprob, tokens=tokens, greedy=greedy) for logprob in logprobs)


def _text(text: str) -> Problem:
    return Problem(id=0, messages=(), references=("",), candidates=(Candidate(context="", continuation=text),))


_SHAPES = problem("0", choices=("3", "four", "22222"), gold=(1,))
_COLOURS = problem("0", choices=("blue", "red"), gold=(0,))
_ACCENT = problem("0", choices=("é", "ab"), gold=(1,))
_MAYBE = problem("2", choices=("yes", "no way", "maybe so"), gold=(2,))
_YES = problem("0", choices=("yes", "no way", "maybe so"), gold=(0,))
_SECOND = problem("1", choices=("a", "b"), gold=(1,))
_PARIS = problem("Paris")
_THREE = _logprobs(-3, -4, -5)
_SCORED = problem("x", choices=("x", "y"), target_scores={"x": 0.3, "y": 0.7})
_SECOND_OF_TWO = problem("y", choices=("x", "y"), gold=(1,))
_TWO_RIGHT = problem("a", choices=("a", "b", "c"), gold=(0, 1))
_TOKENS = (*_logprobs(-3, tokens=2), *_logprobs(-1.4, tokens=1))

# fmt: off
CONTRACTS = (
    _contract("acc", "the right option is the most likely, of equals the first",
              (_logprobs(-1, -2), _COLOURS, 1.0), (_logprobs(-2, -2), _SECOND, 0.0)),
    _contract("acc_norm", "the most likely per character",
              (_logprobs(-3, -3.5, -6), _SHAPES, 1.0), (_logprobs(-1, -1), _ACCENT, 1.0)),
    _contract("acc_bytes", "the most likely per byte, of equals the first",
              (_logprobs(-1, -2), _COLOURS, 1.0), (_logprobs(-1, -1), _ACCENT, 0.0)),
    _contract("acc_tokens", "the most likely per token; unknown where tokens are not counted",
              (_TOKENS, _SECOND, 1.0), (_logprobs(-3, -1), _COLOURS, None)),
    _contract("acc_mutual_info", "the option whose likelihood its question raises most",
              (_logprobs(-1, -2, -4, -2), _COLOURS, 1.0), (_logprobs(-1, -2, -1, -5), _COLOURS, 0.0)),
    _contract("exact_match_mc", "greedy decoding gives the right option; unknown where the service does not say",
              (_logprobs(-1, -2, greedy=True), _COLOURS, 1.0), (_logprobs(-1, -2), _COLOURS, None)),
    _contract("f1", "right and most likely option, for F1 over the dataset",
              (_logprobs(-1, -2), _COLOURS, (0, 0)), (_logprobs(-3, -2), _COLOURS, (0, 1))),
    _contract("mcc", "right and most likely option, for the correlation over the dataset",
              (_logprobs(-1, -2), _COLOURS, (0, 0)), (_logprobs(-3, -2), _COLOURS, (0, 1))),
    _contract("brier_score", "squared distance of the options' shares from certainty",
              (_THREE, _YES, 0.180061), (_logprobs(0, -1000), _COLOURS, 0.0)),
    _contract("choice_prob", "the right option's share of the probability",
              (_logprobs(-1, -1), _COLOURS, 0.5), (_logprobs(-1000, -1001), _COLOURS, 1 / (1 + exp(-1)))),
    _contract("choice_prob_norm", "the same per byte",
              (_THREE, _MAYBE, 0.377861), (_logprobs(-2, -2), _ACCENT, 0.5)),
    _contract("choice_logprob", "logarithm of the right option's share",
              (_THREE, _MAYBE, -2.407606), (_logprobs(-1, -1), _COLOURS, log(0.5))),
    _contract("choice_logprob_norm", "logarithm of the right option's share per byte",
              (_THREE, _MAYBE, -0.973230), (_logprobs(-2, -2), _ACCENT, log(0.5))),
    _contract("perplexity", "log-likelihood of the right answer, for the perplexity over the dataset",
              (_logprobs(-2), _PARIS, -2.0), (_logprobs(-1, -5), _SECOND, -5.0)),
    _contract("word_perplexity", "words are separated by blanks of any kind",
              (_logprobs(-4), _text("hello world"), (-4.0, 2)), (_logprobs(-4), _text("a \n b\tc"), (-4.0, 3))),
    _contract("byte_perplexity", "bytes, not characters",
              (_logprobs(-4), _text("abc"), (-4.0, 3)), (_logprobs(-4), _text("é"), (-4.0, 2))),
    _contract("bits_per_byte", "bytes of the whole text",
              (_logprobs(-4), _text("abc"), (-4.0, 3)), (_logprobs(-4), _text("日"), (-4.0, 3))),
    _contract("bpb", "bits of the right option per byte of its text",
              (_THREE, _MAYBE, 0.901684), (_logprobs(-log(4)), problem("é"), 1.0)),
    _contract("logprob", "logarithm of the right answer's likelihood",
              (_THREE, _MAYBE, -5.0), (_THREE, _TWO_RIGHT, -3.0)),
    _contract("likelihood", "the right answer's likelihood",
              (_logprobs(log(0.25), -9), _COLOURS, 0.25), (_logprobs(-1000, -1), _COLOURS, 0.0)),
    _contract("log_prob", "the score of the most likely option",
              (_logprobs(-1, -1.5), _SCORED, 0.3), (_logprobs(-3, -1.5), _SECOND_OF_TWO, 1.0)),
    _contract("log_prob_mc2", "share of the options before the first one with score 0",
              (_logprobs(-1, -2, -1), _TWO_RIGHT, 0.577681), (_logprobs(-1001, -1002, -1001), _TWO_RIGHT, 0.577681)),
)
# fmt: on
