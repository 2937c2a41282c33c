"""Metrics that no table holds: functions of the user's own, and those of the `evaluate` library where it is installed.

A function gets (answer, right answers, …). One that has the parameters `predictions` and `references` gets lists of
one, as lm-eval gives them. A path may also lead to a `Metric`, a row of the user's own. A mapping that comes back
becomes several figures.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from model_accuracy_eval.errors import BadData, UsageError
from model_accuracy_eval.scoring import paths
from model_accuracy_eval.scoring.libraries import library
from model_accuracy_eval.scoring.metrics import harness
from model_accuracy_eval.scoring.metrics.row import Metric, Payload

HUGGING_FACE = "hf_evaluate:"


def row(path: str) -> Metric:
    """The row of a metric that its name says where to find."""
    if path.startswith(HUGGING_FACE):
        return Metric(score=_pair, aggregation=path, share=False)
    return _row(paths.LOADER.get(), path)


@cache
def _row(how: object, path: str) -> Metric:
    """`how` functions are loaded belongs to what is remembered."""
    if harness.is_name(path):
        return harness.row(path)
    found = paths.load(path)
    if isinstance(found, dict):  # a row that stands in another process
        return Metric(**found)
    if isinstance(found, Metric):
        return found
    if paths.takes(found, ("predictions", "references")):
        return Metric(score=partial(_in_lists, found), share=False)
    return Metric(score=found, share=False)


def _in_lists(function: Callable[..., Payload], answer: str, references: Sequence[str], **args: Any) -> Payload:
    right = references[0] if len(references) == 1 else list(references)
    return function(predictions=[answer], references=[right], **args)


def _pair(answer: str, references: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    return answer, tuple(references)


def computed(path: str, pairs: Sequence[tuple[str, tuple[str, ...]]]) -> float | None:
    """What the library's metric of that name says of all answers; it is loaded from this machine alone."""
    name = path.removeprefix(HUGGING_FACE)
    metric = _loaded(name)
    right = [references[0] if len(references) == 1 else list(references) for _, references in pairs]
    found = metric.compute(predictions=[answer for answer, _ in pairs], references=right)
    value = found.get(name) if name in found else next(iter(found.values()), None)
    return float(value) if isinstance(value, int | float) else None


def aggregated(path: str, values: Sequence[Any]) -> float:
    """What a function of the user's own makes of the values of all problems. It is called once: nobody knows whether it
    can be called with draws among them."""
    found = paths.load(path)(list(values))
    if not isinstance(found, int | float):
        raise BadData(f"The aggregation {path} of {len(values)} values gives no number.")
    return float(found)


@cache
def _loaded(name: str) -> Any:
    evaluate = library("evaluate", "evaluate")
    only_here = evaluate.DownloadConfig(local_files_only=True)
    try:
        return evaluate.load(name, download_config=only_here)
    except Exception as error:
        raise UsageError(
            f"The metric '{name}' of the evaluate library is not on this machine: give the path of its folder, "
            f"as in {HUGGING_FACE}/path/to/{name}.",
            detail=str(error),
        ) from error
