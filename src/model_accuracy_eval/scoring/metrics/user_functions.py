"""Metrics that are in no table: the user's own functions, and metrics of the `evaluate` library if it is installed.

A function takes (answer, right answers, …). One with the parameters `predictions` and `references` gets lists of one
item, as lm-eval calls it. A path may also lead to a `Metric`. A mapping that is returned becomes several figures.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from model_accuracy_eval import extras
from model_accuracy_eval.errors import BadData, UsageError
from model_accuracy_eval.scoring import function_paths
from model_accuracy_eval.scoring.metrics import lm_eval_functions
from model_accuracy_eval.scoring.metrics.metric_type import Metric, SampleValue

HUGGING_FACE = "hf_evaluate:"


def user_metric(path: str) -> Metric:
    """The metric that the path leads to."""
    if path.startswith(HUGGING_FACE):
        return Metric(score=_pair, aggregation=path, share=False)
    return _load(function_paths.LOADER.get(), path)


@cache
def _load(loader: object, path: str) -> Metric:
    """`loader` is part of the cache's key: the same path means another function in another process."""
    if lm_eval_functions.is_name(path):
        return lm_eval_functions.lm_eval_metric(path)
    loaded = function_paths.load(path)
    if isinstance(loaded, dict):  # a Metric that lives in another process
        return Metric(**loaded)
    if isinstance(loaded, Metric):
        return loaded
    if function_paths.takes(loaded, ("predictions", "references")):
        return Metric(score=partial(_in_lists, loaded), share=False)
    return Metric(score=loaded, share=False)


def _in_lists(function: Callable[..., SampleValue], answer: str, references: Sequence[str], **args: Any) -> SampleValue:
    right = references[0] if len(references) == 1 else list(references)
    return function(predictions=[answer], references=[right], **args)


def _pair(answer: str, references: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    return answer, tuple(references)


def hugging_face_figure(path: str, pairs: Sequence[tuple[str, tuple[str, ...]]]) -> float | None:
    """The figure of all answers by the `evaluate` library's metric; the metric must be on this machine."""
    name = path.removeprefix(HUGGING_FACE)
    metric = _hugging_face_metric(name)
    right = [references[0] if len(references) == 1 else list(references) for _, references in pairs]
    figures = metric.compute(predictions=[answer for answer, _ in pairs], references=right)
    value = figures.get(name) if name in figures else next(iter(figures.values()), None)
    return float(value) if isinstance(value, int | float) else None


def user_figure(path: str, values: Sequence[Any]) -> float:
    """The result of the user's own aggregation. It is called once, because it may not accept the draws of a
    bootstrap."""
    figure = function_paths.load(path)(list(values))
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
