"""The table of metrics: what each is called, what it looks at, and what its figures mean."""

from importlib.util import find_spec

from model_accuracy_eval.errors import UnknownName, UsageError
from model_accuracy_eval.records import Measure
from model_accuracy_eval.scoring import paths
from model_accuracy_eval.scoring.metrics import (
    asked,
    exact,
    exams,
    harness,
    instructions,
    likelihoods,
    maths,
    options,
    overlap,
    own,
    points,
    tested,
    translation,
)
from model_accuracy_eval.scoring.metrics.row import Metric, Payload

__all__ = ["METRICS", "Metric", "Payload", "check", "metric"]

METRICS: dict[str, Metric] = {
    **exact.ROWS,
    **exams.ROWS,
    **instructions.ROWS,
    **points.ROWS,
    **overlap.ROWS,
    **maths.ROWS,
    **translation.ROWS,
    **asked.ROWS,
    **tested.ROWS,
    **options.ROWS,
    **likelihoods.ROWS,
    **harness.ROWS,
}


def metric(name: str) -> Metric:
    """The row of that name, or what the name says where to find; an unknown one is answered with the nearest."""
    if name in METRICS:
        return METRICS[name]
    if paths.is_path(name):
        return own.row(name)
    raise UnknownName("metric", name, METRICS)


def check(measure: Measure) -> None:
    """It exists, has these arguments, and what it needs is installed; asked before anything starts."""
    row = metric(measure.name)
    paths.check_arguments("metric", measure.name, row.asks or row.score, measure.args)
    extra, _, modules = row.extra.partition(":")
    missing = [module for module in modules.split(",") if module and find_spec(module) is None]
    if missing:
        raise UsageError(
            f"The metric '{measure.name}' needs {missing[0]}, which is not installed: "
            f"pip install 'model-accuracy-eval[{extra}]'."
        )
