"""How lm-eval judged the samples that it kept: its file of results beside them has the settings of every metric.

`samples_<task>_<stamp>.jsonl` names the metrics alone; `results_<stamp>.json` holds, under `configs`, the whole task.
"""

import json
import re
from collections.abc import Mapping
from math import isfinite
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Pipeline, Record
from model_accuracy_eval.scoring.metrics import METRICS
from model_accuracy_eval.tasks.lm_eval import judging
from model_accuracy_eval.tasks.lm_eval.findings import Findings

_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<stamp>\d{4}-\d\d-\d\dT[\d.:-]+)")
_JUDGING = ("metric_list", "unsafe_code")
"""Fields of a task that say how answers are judged which its filters have read."""


class Settings(Record, frozen=True, kw_only=True):
    """How one task was judged, and what came out."""

    where: str
    pipelines: tuple[Pipeline, ...] = ()
    """One a filter, none of which reads anything: the samples hold what they have read."""
    reasons: tuple[str, ...] = ()
    """Why it cannot be judged so here."""
    figures: dict[str, float] = {}  # noqa: RUF012 - msgspec copies it
    """`metric,filter` → figure, shares in per cent."""

    def of(self, filtered: str) -> Pipeline | None:
        """None where `why_not` has something to say."""
        known = () if self.reasons else self.pipelines
        return next((one for one in known if one.name == filtered), None)

    def why_not(self, filtered: str) -> str:
        reasons = self.reasons or (f"it has no filter '{filtered}'",)
        return f"{self.where} cannot be followed: {'; '.join(reasons)}"

    def figures_of(self, filtered: str) -> dict[str, float]:
        """Metric → figure, of one filter."""
        ending = f",{filtered}"
        return {name.removesuffix(ending): one for name, one in self.figures.items() if name.endswith(ending)}


class _Results(msgspec.Struct):
    configs: dict[str, dict[str, Any]]
    results: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)


def place(name: str) -> tuple[str, str] | None:
    """The task of a file of samples, and the name of the results that were written with it."""
    found = _SAMPLES.fullmatch(name)
    return (found["task"], f"results_{found['stamp']}.json") if found else None


def read(data: bytes, where: str, task: str) -> Settings | None:
    """None where the task's replies are not texts: options are weighed without settings."""
    try:
        # By Python's own reader, because lm-eval writes NaN, which is no JSON.
        whole = msgspec.convert(json.loads(data), _Results)
    except (msgspec.ValidationError, ValueError) as error:
        raise BadData(f"{where}: this is no file of lm-eval's results: {error}.") from error
    fields = whole.configs.get(task)
    if fields is None:
        return Settings(where=where, reasons=(f"it says nothing of '{task}'",))
    if fields.get("output_type", "generate_until") != "generate_until":
        return None
    figures = dict(_figures(whole.results.get(task, {})))
    if _is_python(fields):
        return Settings(where=where, reasons=("the task judges by Python of its own",), figures=figures)
    findings = Findings(trusted=False)
    pipelines = judging.pipelines(_alone(fields), "generate", findings)
    return Settings(where=where, pipelines=pipelines, reasons=tuple(findings.reasons), figures=figures)


def _is_python(fields: dict[str, Any]) -> bool:
    """Functions are written as their source, which does not say where they stand."""
    metrics = fields.get("metric_list") or []
    sources = [fields.get("process_results"), *(one.get(key) for one in metrics for key in ("metric", "aggregation"))]
    return any(isinstance(source, str) and "\n" in source for source in sources)


def _alone(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that judge, with every filter's name and metrics but without its steps."""
    entries = fields.get("filter_list") or [{"name": "none"}]
    filters = [{"name": one.get("name"), "metric_list": one.get("metric_list")} for one in entries]
    return {**{name: fields[name] for name in _JUDGING if fields.get(name)}, "filter_list": filters}


def _figures(told: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Those of metrics that we know, so that their scale is known."""
    named = [(key, key.partition(",")[0], value) for key, value in told.items() if isinstance(value, int | float)]
    return [
        (key, value * (100 if METRICS[name].share else 1))
        for key, name, value in named
        if name in METRICS and isfinite(value)
    ]
