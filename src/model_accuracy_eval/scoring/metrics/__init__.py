"""The table of metrics: the name of each, what it reads, and what its figures mean."""

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module

from model_accuracy_eval import optional
from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import MetricUse
from model_accuracy_eval.scoring import function_paths
from model_accuracy_eval.scoring.metrics.metric_type import Metric, SampleValue
from model_accuracy_eval.scoring.metrics.user_functions import user_metric

__all__ = ["METRICS", "Metric", "SampleValue", "check", "metric"]

TABLES = {
    "exact": "EXACT_METRICS",
    "mixed_kinds": "MIXED_METRICS",
    "extra_hard_answers": "BBEH_METRICS",
    "exams": "EXAM_METRICS",
    "grids": "GRID_METRICS",
    "grouped_answers": "GROUPED_METRICS",
    "instructions": "INSTRUCTION_METRICS",
    "function_calls": "FUNCTION_CALL_METRICS",
    "overlap": "OVERLAP_METRICS",
    "reading_metrics": "READING_METRICS",
    "translation": "TRANSLATION_METRICS",
    "picture_answers": "PICTURE_METRICS",
    "long_texts": "LONG_TEXT_METRICS",
    "judge_metrics": "JUDGE_METRICS",
    "fact_grades": "FACT_METRICS",
    "program_metrics": "PROGRAM_METRICS",
    "options": "OPTION_METRICS",
    "likelihoods": "LIKELIHOOD_METRICS",
    "lm_eval_functions": "PAIR_METRICS",
}
"""Module → its part of the table. A module is loaded when a name is looked for that no earlier one has."""
_LOOKED_AT_FIRST = ("exact", "options", "likelihoods")


class _Metrics(MutableMapping[str, Metric]):
    """The parts as one table, which few runs need all of."""

    def __init__(self) -> None:
        self._parts: dict[str, Mapping[str, Metric]] = {}
        self._found: dict[str, Metric] = {}

    def _part(self, module: str) -> Mapping[str, Metric]:
        if module not in self._parts:
            self._parts[module] = getattr(import_module(f"{__name__}.{module}"), TABLES[module])
        return self._parts[module]

    def __getitem__(self, name: str) -> Metric:
        found = self._found.get(name)
        if found is None:
            modules = dict.fromkeys((*_LOOKED_AT_FIRST, *TABLES))
            part = next((part for part in map(self._part, modules) if name in part), None)
            if part is None:
                raise KeyError(name)
            found = self._found[name] = part[name]
        return found

    def __setitem__(self, name: str, value: Metric) -> None:
        self._found[name] = value

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __iter__(self) -> Iterator[str]:
        of_parts = dict.fromkeys(name for module in TABLES for name in self._part(module))
        return iter(of_parts | dict.fromkeys(self._found))

    def __len__(self) -> int:
        return len(list(iter(self)))


METRICS = _Metrics()


def metric(name: str) -> Metric:
    """The metric with this name, or the one that a path leads to; an unknown name is refused with the nearest."""
    if function_paths.is_path(name):  # no name of the table is one
        return user_metric(name)
    try:
        return METRICS[name]
    except KeyError:
        raise UnknownName("metric", name, METRICS) from None


def check(use: MetricUse) -> None:
    """Refuses an unknown metric, unknown arguments, and a metric whose libraries are missing."""
    row = metric(use.name)
    function_paths.check_arguments("metric", use.name, row.asks or row.score, use.args)
    for library in row.needs:
        optional.require(library, needed_by=f"The metric '{use.name}'")
