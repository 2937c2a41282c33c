"""metric_list, filter_list and scorer → pipelines."""

from typing import Any

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import Kind, Measure, Pipeline, Step
from model_accuracy_eval.scoring import filters, paths
from model_accuracy_eval.scoring.aggregations import AGGREGATIONS
from model_accuracy_eval.scoring.metrics import METRICS, harness
from model_accuracy_eval.scoring.metrics.own import HUGGING_FACE
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
    judged = fields.get("process_results")
    if judged is None:
        common = _measures(fields.get("metric_list"), kind, findings)
    else:
        common = _of_whole_rows(fields, kind, findings)
    if not common and "scorer" not in fields:
        common = BY_KIND[kind]
        for measure in common:
            _check_metric(measure.name, kind, findings)
    entries = fields.get("filter_list")
    if not isinstance(entries, list) or not entries:
        return (Pipeline(metrics=common),) if common else ()
    return tuple(_pipeline(entry, common, kind, findings) for entry in entries)


def looks_at_rows(fields: Fields) -> bool:
    """Whether judging may look at every column of a row."""
    return "process_results" in fields or bool(functions(fields.get("filter_list")))


def _of_whole_rows(fields: Fields, kind: Kind, findings: Findings) -> tuple[Measure, ...]:
    """A metric for every value of process_results that metric_list names."""
    judged, given = fields["process_results"], fields.get("metric_list") or []
    if not isinstance(judged, Function):
        findings.refuse(f"its process_results is no function, but {judged!r}")
        return ()
    if not given:
        findings.refuse("its metric_list names none of the values that process_results gives")
    path = findings.path("process_results", judged)
    beginning = {"generate": harness.RESULTS, "rolling": harness.ROLLING}.get(kind, harness.LIKELIHOODS)
    return tuple(
        Measure(
            name=beginning + path,
            label=_label(one.get("metric")),
            args={"part": _label(one.get("metric"))},
            aggregation=_aggregation(one, kind, findings) or _usual(one.get("metric")),
            higher_is_better=one.get("higher_is_better"),
        )
        for one in given
    )


def _label(name: Any) -> str:
    """A function is known by its own name."""
    return name.name.rpartition(".")[2] if isinstance(name, Function) else str(name)


def _usual(name: Any) -> str | None:
    """How the values of a known metric become one, whoever computed them."""
    return METRICS[name].aggregation if name in METRICS else None


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
    if name == "custom" and isinstance(step.args.get("filter_fn"), Function):
        return Step(name="custom", args={**step.args, "filter_fn": findings.path("filter_fn", step.args["filter_fn"])})
    if found := functions(given):
        findings.refuse(f"its filter is a class in Python ({found[0]})")
        return Step(name="take_first")
    try:
        filters.check(step)
    except UnknownName:
        findings.refuse(f"its filter '{name}' is not known here")
    return step


def _measures(given: Any, kind: Kind, findings: Findings) -> tuple[Measure, ...]:
    return tuple(_measure(one, kind, findings) for one in given or [])


def _measure(given: Fields, kind: Kind, findings: Findings) -> Measure:
    reduction = given.get("reduction")
    if reduction is not None and reduction not in REDUCTIONS:
        findings.refuse(f"its reduction '{reduction}' is not known here")
    name = _name(given, kind, findings)
    return Measure(
        name=name,
        label=_label(given.get("metric")) if paths.is_path(name) else "",
        # lm-eval looks at further keys only where texts are judged.
        args=_args(given) if kind == "generate" else {},
        reduction=reduction,
        k=_sizes(given),
        aggregation=_aggregation(given, kind, findings),
        higher_is_better=given.get("higher_is_better"),
    )


def _name(given: Fields, kind: Kind, findings: Findings) -> str:
    """The metric, or where it stands: Python of the author, a path of ours, the evaluate library."""
    name = given.get("metric")
    if isinstance(name, Function):
        if kind != "generate":
            findings.refuse(f"its metric '{name}' is Python, but options are weighed")
        return harness.TEXT + findings.path("metric", name)
    if kind == "generate" and given.get("hf_evaluate"):
        return HUGGING_FACE + str(name)
    if not paths.is_path(str(name)):
        _check_metric(str(name), kind, findings)
    elif not findings.trusted:
        findings.refuse(f"its metric '{name}' is Python, which is run only with --trust-python")
    return str(name)


def _aggregation(given: Fields, kind: Kind, findings: Findings) -> str | None:
    name = given.get("aggregation")
    if kind == "generate" and given.get("hf_evaluate") and isinstance(name, str):
        findings.ignore("aggregation (the evaluate library is given all answers at once)")
        return None
    if isinstance(name, Function):
        return findings.path("aggregation", name)
    if name is not None and name not in AGGREGATIONS:
        findings.refuse(f"its aggregation '{name}' is not known here")
    return name


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
