"""Metrics that are in no table: the user's own functions, and metrics of the `evaluate` library if it is installed.

A function takes (answer, right answers, …). One with the parameters `predictions` and `references` gets lists of one
item, as lm-eval calls it. A path may also lead to a `Metric`. A mapping that is returned becomes several figures.
"""

import inspect
import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextvars import ContextVar
from functools import cache, partial
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from typing import Any

from model_accuracy_eval import extras
from model_accuracy_eval.errors import BadData, BadValue, UsageError
from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.metrics.metric_type import Metric, Reads, SampleValue

# The user's own functions, named by their paths: `package.module:function`, or `folder/file.py:function`.


def is_path(name: str) -> bool:
    """Whether a name is a path instead of a name in a table."""
    return ":" in name


_IN_A_FILE = re.compile(r"((?:lm_eval\w*:)?)(.+\.py):([\w.]+)")


def file_of(path: str) -> str | None:
    """The file of `folder/file.py:function`; None for what names no function in a file."""
    found = _IN_A_FILE.fullmatch(path)
    return found[2] if found else None


def in_other_file(path: str, file: str) -> str:
    """The path of the same function in another file."""
    return _IN_A_FILE.sub(lambda found: f"{found[1]}{file}:{found[3]}", path)


def by_content(path: str) -> str:
    """The path with what its file holds instead of where it lies; unchanged if there is no such file."""
    file = file_of(path)
    try:
        content = SourceFileLoader("", file).get_data(file) if file else None
    except OSError:
        return path
    return path if content is None or file is None else in_other_file(path, sha256(content).hexdigest())


def load(path: str) -> Any:
    """The function at the path. Loading runs its module."""
    return _loaded(LOADER.get(), path)


@cache
def _loaded(loader: Callable[[str], Any], path: str) -> Any:
    return loader(path)


def _refused(path: str) -> Any:
    raise BadValue(f"'{path}' is Python of a task file, which runs only where the user trusts it: --trust-python.")


def takes(function: Callable[..., Any], names: Iterable[str]) -> bool:
    """Whether the function has parameters of all these names."""
    return set(names) <= set(inspect.signature(function).parameters)


def takes_any_name(function: Callable[..., Any]) -> bool:
    """Whether the function takes arguments of any name."""
    parameters = inspect.signature(function).parameters.values()
    return any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)


def check_arguments(kind: str, name: str, function: Callable[..., Any], arguments: Collection[str]) -> None:
    """Refuses unknown and missing arguments before anything is asked."""
    if takes_any_name(function):
        return
    parameters = [item for item in inspect.signature(function).parameters.values() if item.kind is item.KEYWORD_ONLY]
    known = [parameter.name for parameter in parameters]
    unknown = [argument for argument in arguments if argument not in known]
    if unknown:
        takes_them = f"it takes {', '.join(known)}" if known else "it takes none"
        raise BadValue(f"The {kind} '{name}' has no argument '{unknown[0]}'; {takes_them}.")
    needed = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
    if missing := [argument for argument in needed if argument not in arguments]:
        raise BadValue(f"The {kind} '{name}' needs the argument '{missing[0]}'.")


LOADER: ContextVar[Callable[[str], Any]] = ContextVar("LOADER", default=_refused)
"""How functions are loaded: where the user trusts them, in a separate process, which also calls them."""


# Scoring functions that task files of lm-eval name, called as lm-eval calls them.
#
# `lm_eval:<path>` is a metric of one text and its right answer. The others are functions of a whole row and its
# results: a text, the log-likelihoods of its options, or that of a whole text. They return several values; the argument
# `part` chooses one of them.


TEXT, RESULTS, LIKELIHOODS, ROLLING = "lm_eval:", "lm_eval_results:", "lm_eval_likelihoods:", "lm_eval_rolling:"
PAIRS = "pairs"

LmEvalFunction = Callable[..., Any]


def _text(function: LmEvalFunction, answer: str, references: Sequence[str], **args: Any) -> SampleValue:
    """Of several right answers one is enough; the value is then 0 or 1."""
    values = [_compare(function, answer, right, args) for right in references]
    if len(values) == 1:
        return values[0]
    return float(any(next(iter(value.values())) if isinstance(value, dict) else value for value in values))


def _compare(function: LmEvalFunction, answer: str, right: str, args: dict[str, Any]) -> SampleValue:
    """Passes the pair by name if the function has such parameters, else as one list, for an aggregation to read."""
    named = {"references": [right], "predictions": [answer], **args}
    if takes(function, named) or takes_any_name(function):
        return function(**named)
    return function([right, answer])


def _scored_pair(answer: str, references: Sequence[str], *, listed: bool = False) -> SampleValue:
    """Right answer and answer, for an aggregation over all pairs.

    `listed`: both are lists of tags, the answer as `regex_pos` writes it; no answer is one tag that is never right.
    """
    if listed:
        return list(references), [json.loads(answer) if answer else [""]]
    return _one_or_all(references), answer


def _one_or_all(references: Sequence[str]) -> str | list[str]:
    return references[0] if len(references) == 1 else list(references)


def _part(
    function: LmEvalFunction, results: Callable[[Any], list[Any]], said: Any, problem: Problem, *, part: str
) -> SampleValue:
    """One value of the returned mapping; a row without it is left out of the figure."""
    values = function(problem.extras, results(said))
    if not isinstance(values, dict):
        raise BadData(f"The function that judges problem {problem.id} gives no plain values by name.")
    return values.get(part)


_RESULTS: dict[str, tuple[Callable[[Any], list[Any]], Reads]] = {
    RESULTS: (lambda answer: [answer], "answers in their problem"),
    LIKELIHOODS: (lambda options: [(option.logprob, bool(option.greedy)) for option in options], "likelihoods"),
    ROLLING: (lambda texts: [texts[0].logprob], "likelihoods"),
}
"""How a function gets what was said, and what its metric reads."""

PAIR_METRICS = {PAIRS: Metric(score=_scored_pair, aggregation="f1", share=False)}


HUGGING_FACE = "hf_evaluate:"


def user_metric(path: str) -> Metric:
    """The metric that the path leads to."""
    if path.startswith(HUGGING_FACE):
        return Metric(score=_pair, aggregation=path, share=False)
    return _load(LOADER.get(), path)


@cache
def _load(loader: object, path: str) -> Metric:
    """`loader` is part of the cache's key: the same path means another function in another process."""
    kind, _, place = path.partition(":")
    if f"{kind}:" == TEXT:
        return Metric(score=partial(_text, load(place)), share=False)
    if f"{kind}:" in _RESULTS:
        results, reads = _RESULTS[f"{kind}:"]
        return Metric(score=partial(_part, load(place), results), reads=reads, share=False)
    loaded = load(path)
    if isinstance(loaded, dict):  # a Metric that lives in another process
        return Metric(**loaded)
    if isinstance(loaded, Metric):
        return loaded
    if takes(loaded, ("predictions", "references")):
        return Metric(score=partial(_in_lists, loaded), share=False)
    return Metric(score=loaded, share=False)


def _in_lists(function: Callable[..., SampleValue], answer: str, references: Sequence[str], **args: Any) -> SampleValue:
    return function(predictions=[answer], references=[_one_or_all(references)], **args)


def _pair(answer: str, references: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    return answer, tuple(references)


def hugging_face_figure(path: str, pairs: Sequence[tuple[str, tuple[str, ...]]]) -> float | None:
    """The figure of all answers by the `evaluate` library's metric; the metric must be on this machine."""
    name = path.removeprefix(HUGGING_FACE)
    metric = _hugging_face_metric(name)
    right = [_one_or_all(references) for _, references in pairs]
    figures = metric.compute(predictions=[answer for answer, _ in pairs], references=right)
    value = figures.get(name) if name in figures else next(iter(figures.values()), None)
    return float(value) if isinstance(value, int | float) else None


def user_figure(path: str, values: Sequence[Any]) -> float:
    """The result of the user's own aggregation. It is called once, because it may not accept the draws of a
    bootstrap."""
    figure = load(path)(list(values))
    if not isinstance(figure, int | float):
        raise BadData(f"The aggregation {path} of {len(values)} values gives no number.")
    return float(figure)


@cache
def _hugging_face_metric(name: str) -> Any:
    evaluate = extras.load("evaluate")
    local_only = evaluate.DownloadConfig(local_files_only=True)
    try:
        return evaluate.load(name, download_config=local_only)
    except Exception as error:
        raise UsageError(
            f"The metric '{name}' of the evaluate library is not on this machine: give the path of its folder, "
            f"as in {HUGGING_FACE}/path/to/{name}.",
            detail=str(error),
        ) from error
