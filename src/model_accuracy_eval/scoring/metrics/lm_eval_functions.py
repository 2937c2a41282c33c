"""Scoring functions that task files of lm-eval name, called as lm-eval calls them.

`lm_eval:<path>` is a metric of one text and its right answer. The others are functions of a whole row and its results:
a text, the log-likelihoods of its options, or that of a whole text. They return several values; the argument `part`
chooses one of them.
"""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Loglikelihood, Problem
from model_accuracy_eval.scoring import function_paths
from model_accuracy_eval.scoring.metrics.metric_type import Metric, Reads, SampleValue

TEXT, RESULTS, LIKELIHOODS, ROLLING = "lm_eval:", "lm_eval_results:", "lm_eval_likelihoods:", "lm_eval_rolling:"
PAIRS = "pairs"

LmEvalFunction = Callable[..., Any]


def is_name(name: str) -> bool:
    return name.startswith(tuple(_KINDS))


def lm_eval_metric(name: str) -> Metric:
    """The metric with one of these prefixes."""
    kind, _, path = name.partition(":")
    score, reads = _KINDS[f"{kind}:"]
    return Metric(score=partial(score, function_paths.load(path)), reads=reads, share=False)


def _text(function: LmEvalFunction, answer: str, references: Sequence[str], **args: Any) -> SampleValue:
    """Of several right answers one is enough; the value is then 0 or 1."""
    values = [_compare(function, answer, right, args) for right in references]
    if len(values) == 1:
        return values[0]
    return float(any(next(iter(value.values())) if isinstance(value, dict) else value for value in values))


def _compare(function: LmEvalFunction, answer: str, right: str, args: dict[str, Any]) -> SampleValue:
    """Passes the pair by name if the function has such parameters, else as one list, for an aggregation to read."""
    named = {"references": [right], "predictions": [answer], **args}
    if function_paths.takes(function, named) or function_paths.takes_any_name(function):
        return function(**named)
    return function([right, answer])


def _pair(answer: str, references: Sequence[str], *, listed: bool = False) -> SampleValue:
    """Right answer and answer, for an aggregation over all pairs.

    `listed`: both are lists of tags, the answer as `regex_pos` writes it; no answer is one tag that is never right.
    """
    if listed:
        return list(references), [json.loads(answer) if answer else [""]]
    return (references[0] if len(references) == 1 else list(references)), answer


def _results(function: LmEvalFunction, answer: str, problem: Problem, *, part: str) -> SampleValue:
    return _part(function, problem, [answer], part)


def _likelihoods(
    function: LmEvalFunction, options: Sequence[Loglikelihood], problem: Problem, *, part: str
) -> SampleValue:
    return _part(function, problem, [(option.logprob, bool(option.greedy)) for option in options], part)


def _rolling(function: LmEvalFunction, texts: Sequence[Loglikelihood], problem: Problem, *, part: str) -> SampleValue:
    return _part(function, problem, [texts[0].logprob], part)


def _part(function: LmEvalFunction, problem: Problem, results: list[Any], part: str) -> SampleValue:
    """One value of the returned mapping; a row without it is left out of the figure."""
    values = function(problem.extras, results)
    if not isinstance(values, dict):
        raise BadData(f"The function that judges problem {problem.id} gives no plain values by name.")
    return values.get(part)


_KINDS: dict[str, tuple[LmEvalFunction, Reads]] = {
    TEXT: (_text, "answers"),
    RESULTS: (_results, "answers in their problem"),
    LIKELIHOODS: (_likelihoods, "likelihoods"),
    ROLLING: (_rolling, "likelihoods"),
}

PAIR_METRICS = {PAIRS: Metric(score=_pair, aggregation="f1", share=False)}
