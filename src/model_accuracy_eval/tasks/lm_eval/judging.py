"""metric_list, filter_list and scorer → pipelines."""

from typing import Any

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import Kind, Measure, Pipeline, Step
from model_accuracy_eval.scoring import filters
from model_accuracy_eval.scoring.aggregations import AGGREGATIONS
from model_accuracy_eval.scoring.metrics import METRICS
from model_accuracy_eval.scoring.reductions import REDUCTIONS
from model_accuracy_eval.scoring.scorers import BY_KIND, SCORERS
from model_accuracy_eval.tasks.lm_eval.findings import Findings
from model_accuracy_eval.tasks.lm_eval.reading import Fields, Function, functions

_OWN_KEYS = {"metric", "aggregation", "higher_is_better", "reduction", "k", "kwargs", "hf_evaluate", "weight_by_size"}


def scorer(fields: Fields, findings: Findings) -> Step | None:
    """`scorer: name`, or `scorer: {type: name, kwargs: {…}}`, as the 0.5 documentation writes it."""
    given = fields.get("scorer")
    if given is None:
        return None
    own: Fields = given if isinstance(given, dict) else {"type": given}
    name = own.get("type")
    if name not in SCORERS:
        findings.refuse(f"its scorer is {name}")
    return Step(name=str(name), args=own.get("kwargs") or {})


def pipelines(fields: Fields, kind: Kind, findings: Findings) -> tuple[Pipeline, ...]:
    """One for every entry of filter_list; the metrics of the task stand in those that name none."""
    if "process_results" in fields:
        findings.refuse(f"replies are judged by Python (process_results: {fields['process_results']})")
        return ()
    common = _measures(fields.get("metric_list"), kind, findings)
    if not common and "scorer" not in fields:
        common = BY_KIND[kind]
        for measure in common:
            _check_metric(measure.name, kind, findings)
    entries = fields.get("filter_list")
    if not isinstance(entries, list) or not entries:
        return (Pipeline(metrics=common),) if common else ()
    return tuple(_pipeline(entry, common, kind, findings) for entry in entries)


def _pipeline(entry: Fields, common: tuple[Measure, ...], kind: Kind, findings: Findings) -> Pipeline:
    steps = tuple(_step(one, findings) for one in entry.get("filter") or [])
    own = _measures(entry.get("metric_list"), kind, findings)
    # What weighs options reads no text: the filters of such tasks only choose the one sample that there is.
    return Pipeline(
        name=str(entry.get("name", "none")), filters=steps if kind == "generate" else (), metrics=own or common
    )


def _step(given: Fields, findings: Findings) -> Step:
    name = given.get("function")
    args = {key: value for key, value in given.items() if key not in {"function", "kwargs"}}
    step = Step(name=str(name), args={**args, **(given.get("kwargs") or {})})
    if found := functions(given):
        findings.refuse(f"its filter '{name}' is Python ({found[0]})")
        return Step(name="take_first")
    try:
        filters.check(step)
    except UnknownName:
        findings.refuse(f"its filter '{name}' is not known here")
    return step


def _measures(given: Any, kind: Kind, findings: Findings) -> tuple[Measure, ...]:
    return tuple(_measure(one, kind, findings) for one in given or [])


def _measure(given: Fields, kind: Kind, findings: Findings) -> Measure:
    name, aggregation, reduction = (given.get(key) for key in ("metric", "aggregation", "reduction"))
    if isinstance(name, Function) or functions(given):
        findings.refuse(f"its metric '{name}' is computed by Python ({functions(given)[0]})")
        return Measure(name="exact")
    if given.get("hf_evaluate"):
        findings.refuse(f"its metric '{name}' would be fetched from a hub (hf_evaluate)")
    _check_metric(str(name), kind, findings)
    if aggregation is not None and aggregation not in AGGREGATIONS:
        findings.refuse(f"its aggregation '{aggregation}' is not known here")
    if reduction is not None and reduction not in REDUCTIONS:
        findings.refuse(f"its reduction '{reduction}' is not known here")
    return Measure(
        name=str(name),
        # lm-eval looks at further keys only where texts are judged.
        args=_args(given) if kind == "generate" else {},
        reduction=reduction,
        k=_sizes(given),
        aggregation=aggregation,
        higher_is_better=given.get("higher_is_better"),
    )


def _args(given: Fields) -> Fields:
    """Flat keys, and over them those of `kwargs`."""
    flat = {key: value for key, value in given.items() if key not in _OWN_KEYS}
    return {**flat, **{key: value for key, value in (given.get("kwargs") or {}).items() if key != "k"}}


def _sizes(given: Fields) -> tuple[int, ...]:
    k = (given.get("kwargs") or {}).get("k", given.get("k"))
    return () if k is None else tuple(k) if isinstance(k, list) else (int(k),)


def _check_metric(name: str, kind: Kind, findings: Findings) -> None:
    if name not in METRICS:
        findings.refuse(f"its metric '{name}' is not known here")
    elif METRICS[name].reads == "likelihoods" and kind == "generate":
        findings.refuse(f"its metric '{name}' weighs options, but its replies are texts")
