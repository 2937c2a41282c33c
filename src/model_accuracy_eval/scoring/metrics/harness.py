"""Functions that task files of lm-eval name for judging, called as lm-eval calls them.

`lm_eval:<path>` is a metric of one text and its right answer. The others are functions of a whole row and what was
said about it: a text, the likelihoods of its options, or that of a whole text. They give several values, and the
argument `part` chooses one.
"""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Likelihood, Problem
from model_accuracy_eval.scoring import paths
from model_accuracy_eval.scoring.metrics.row import Metric, Payload, Reads

TEXT, RESULTS, LIKELIHOODS, ROLLING = "lm_eval:", "lm_eval_results:", "lm_eval_likelihoods:", "lm_eval_rolling:"

PAIRS = "pairs"

Function = Callable[..., Any]


def is_name(name: str) -> bool:
    return name.startswith(tuple(_KINDS))


def row(name: str) -> Metric:
    """The row of a metric with one of these beginnings."""
    kind, _, path = name.partition(":")
    score, reads = _KINDS[f"{kind}:"]
    return Metric(score=partial(score, paths.load(path)), reads=reads, share=False)


def _text(function: Function, answer: str, references: Sequence[str], **args: Any) -> Payload:
    """Of several right answers one is enough, and then the value is 0 or 1."""
    values = [_against(function, answer, one, args) for one in references]
    if len(values) == 1:
        return values[0]
    return float(any(next(iter(one.values())) if isinstance(one, dict) else one for one in values))


def _against(function: Function, answer: str, right: str, args: dict[str, Any]) -> Payload:
    """By name where the function has such names, else the pair as one list, which an aggregation will look at."""
    named = {"references": [right], "predictions": [answer], **args}
    if paths.takes(function, named) or paths.takes_any_name(function):
        return function(**named)
    return function([right, answer])


def _pair(answer: str, references: Sequence[str], *, listed: bool = False) -> Payload:
    """What is right and what was said, for an aggregation that looks at all pairs.

    `listed`: both are lists of tags, the answer as `regex_pos` writes it; no answer is one tag that is never right.
    """
    if listed:
        return list(references), [json.loads(answer) if answer else [""]]
    return (references[0] if len(references) == 1 else list(references)), answer


def _results(function: Function, answer: str, problem: Problem, *, part: str) -> Payload:
    return _part(function, problem, [answer], part)


def _likelihoods(function: Function, weighed: Sequence[Likelihood], problem: Problem, *, part: str) -> Payload:
    return _part(function, problem, [(one.logprob, bool(one.greedy)) for one in weighed], part)


def _rolling(function: Function, weighed: Sequence[Likelihood], problem: Problem, *, part: str) -> Payload:
    return _part(function, problem, [weighed[0].logprob], part)


def _part(function: Function, problem: Problem, results: list[Any], part: str) -> Payload:
    """One value of the mapping; of a row without it nothing is known, and it is left out of the figure."""
    told = function(problem.extras, results)
    if not isinstance(told, dict):
        raise BadData(f"The function that judges problem {problem.id} gives no plain values by name.")
    return told.get(part)


_KINDS: dict[str, tuple[Function, Reads]] = {
    TEXT: (_text, "answers"),
    RESULTS: (_results, "answers in their problem"),
    LIKELIHOODS: (_likelihoods, "likelihoods"),
    ROLLING: (_rolling, "likelihoods"),
}

ROWS = {PAIRS: Metric(score=_pair, aggregation="f1", share=False)}
