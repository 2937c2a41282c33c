"""The table of metrics: the name of each, what it reads, and what its figures mean."""

from model_accuracy_eval import extras
from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import MetricUse
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.exact import EXACT_METRICS, GROUPED_METRICS, MIXED_METRICS
from model_accuracy_eval.scoring.metrics.exams import BBEH_METRICS, EXAM_METRICS, GRID_METRICS
from model_accuracy_eval.scoring.metrics.function_calls import FUNCTION_CALL_METRICS
from model_accuracy_eval.scoring.metrics.instructions import INSTRUCTION_METRICS
from model_accuracy_eval.scoring.metrics.judge_metrics import FACT_METRICS, JUDGE_METRICS
from model_accuracy_eval.scoring.metrics.likelihoods import LIKELIHOOD_METRICS, OPTION_METRICS
from model_accuracy_eval.scoring.metrics.long_texts import LONG_TEXT_METRICS
from model_accuracy_eval.scoring.metrics.metric_type import Metric, SampleValue
from model_accuracy_eval.scoring.metrics.overlap import OVERLAP_METRICS
from model_accuracy_eval.scoring.metrics.picture_answers import PICTURE_METRICS
from model_accuracy_eval.scoring.metrics.program_metrics import PROGRAM_METRICS
from model_accuracy_eval.scoring.metrics.reading_metrics import READING_METRICS
from model_accuracy_eval.scoring.metrics.translation import TRANSLATION_METRICS
from model_accuracy_eval.scoring.metrics.user_functions import PAIR_METRICS, user_metric

__all__ = ["METRICS", "PARTS", "Metric", "SampleValue", "check", "metric"]

PARTS: tuple[dict[str, Metric], ...] = (
    EXACT_METRICS,
    MIXED_METRICS,
    BBEH_METRICS,
    EXAM_METRICS,
    GRID_METRICS,
    GROUPED_METRICS,
    INSTRUCTION_METRICS,
    FUNCTION_CALL_METRICS,
    OVERLAP_METRICS,
    READING_METRICS,
    TRANSLATION_METRICS,
    PICTURE_METRICS,
    LONG_TEXT_METRICS,
    JUDGE_METRICS,
    FACT_METRICS,
    PROGRAM_METRICS,
    OPTION_METRICS,
    LIKELIHOOD_METRICS,
    PAIR_METRICS,
)
"""The metrics of each module, in the order in which they are shown."""
METRICS: dict[str, Metric] = {name: metric for part in PARTS for name, metric in part.items()}


def metric(name: str) -> Metric:
    """The metric with this name, or the one that a path leads to; an unknown name is refused with the nearest."""
    if user_functions.is_path(name):  # no name of the table is one
        return user_metric(name)
    try:
        return METRICS[name]
    except KeyError:
        raise UnknownName("metric", name, METRICS) from None


def check(use: MetricUse) -> None:
    """Refuses an unknown metric, unknown arguments, and a metric whose libraries are missing."""
    row = metric(use.name)
    user_functions.check_arguments("metric", use.name, row.asks or row.score, use.args)
    for library in row.needs:
        extras.load(library, needed_by=f"The metric '{use.name}'")
