"""Tells whether a model adapter's inference is as accurate as it should be.

The Python interface, which the command line uses too:

    from model_accuracy_eval import evaluate

    report = evaluate(endpoint="http://localhost:8000", datasets=("gsm8k",), limit=100)
    print(report.outcome.sentence)

Importing this package loads nothing else; a name of `__all__` loads what it needs when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model_accuracy_eval.ports import Published, Sink
    from model_accuracy_eval.python_api.compare import compare
    from model_accuracy_eval.python_api.evaluate import evaluate
    from model_accuracy_eval.python_api.progress import ProgressEvent
    from model_accuracy_eval.python_api.rescore_files import rescore
    from model_accuracy_eval.records import Comparison, Report, Settings
    from model_accuracy_eval.scoring.metrics.metric_table import Metric

__version__ = "0.1.0"
__all__ = [
    "Comparison",
    "Metric",
    "ProgressEvent",
    "Published",
    "Report",
    "Settings",
    "Sink",
    "compare",
    "evaluate",
    "rescore",
]

_HOMES = {
    "Comparison": "model_accuracy_eval.records",
    "Metric": "model_accuracy_eval.scoring.metrics.metric_table",
    "ProgressEvent": "model_accuracy_eval.python_api.progress",
    "Published": "model_accuracy_eval.ports",
    "Report": "model_accuracy_eval.records",
    "Settings": "model_accuracy_eval.records",
    "Sink": "model_accuracy_eval.ports",
    "compare": "model_accuracy_eval.python_api.compare",
    "evaluate": "model_accuracy_eval.python_api.evaluate",
    "rescore": "model_accuracy_eval.python_api.rescore_files",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'model_accuracy_eval' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
