"""An entry of metric_list → a measure: a metric of our table, Python of the author's, or the evaluate library's."""

import re
from typing import Any

from model_accuracy_eval.records import Kind, Measure
from model_accuracy_eval.scoring import paths
from model_accuracy_eval.scoring.aggregations import AGGREGATIONS
from model_accuracy_eval.scoring.metrics import METRICS, harness
from model_accuracy_eval.scoring.metrics.own import HUGGING_FACE
from model_accuracy_eval.scoring.reductions import REDUCTIONS
from model_accuracy_eval.tasks.lm_eval.findings import Findings
from model_accuracy_eval.tasks.lm_eval.reading import Fields, Function

_OWN_KEYS = {"metric", "aggregation", "higher_is_better", "reduction", "k", "kwargs", "hf_evaluate", "weight_by_size"}
_SWITCHES = {"ignore_case", "ignore_punctuation", "ignore_numbers"}
_PASS_AT = re.compile(r"pass_at_(k|\d+)")


def measures(given: Any, kind: Kind, findings: Findings) -> tuple[Measure, ...]:
    return tuple(_measure(one, kind, findings) for one in given or [])


def of_whole_rows(judged: Any, given: list[Fields], kind: Kind, findings: Findings) -> tuple[Measure, ...]:
    """A metric for every value of process_results that metric_list names."""
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


def _measure(given: Fields, kind: Kind, findings: Findings) -> Measure:
    if findings.programs:
        return _tested(given, findings)
    reduction = given.get("reduction")
    if reduction is not None and reduction not in REDUCTIONS:
        findings.refuse(f"its reduction '{reduction}' is not known here")
    name = _name(given, kind, findings)
    return Measure(
        name=name,
        label=_label(given.get("metric")) if paths.is_path(name) or name == harness.PAIRS else "",
        # lm-eval looks at further keys only where texts are judged.
        args=_args(given) if kind == "generate" and name != harness.PAIRS else {},
        reduction=reduction,
        k=_sizes(given),
        aggregation=_aggregation(given, kind, findings),
        higher_is_better=given.get("higher_is_better"),
    )


def _tested(given: Fields, findings: Findings) -> Measure:
    """pass@k of programs, which our sandbox runs in place of the function that the file names."""
    size = _PASS_AT.fullmatch(_label(given.get("metric")))
    if size is None:
        findings.refuse(f"its replies are programs, but its metric '{given.get('metric')}' is no pass_at_k")
        return Measure(name="code_eval")
    k = _sizes(given) if size[1] == "k" else (int(size[1]),)
    return Measure(name="code_eval", reduction="pass@k", k=k)


def _name(given: Fields, kind: Kind, findings: Findings) -> str:
    """The metric, or where it stands: Python of the author, a path of ours, the evaluate library."""
    name = given.get("metric")
    if isinstance(name, Function):
        if kind != "generate":
            findings.refuse(f"its metric '{name}' is Python, but options are weighed")
        return harness.TEXT + findings.path("metric", name)
    if kind == "generate" and given.get("hf_evaluate"):
        return HUGGING_FACE + str(name)
    if kind == "generate" and isinstance(given.get("aggregation"), Function) and _weighs(name):
        return harness.PAIRS  # lm-eval's own functions of these names only hand the pairs on
    if paths.is_path(str(name)):
        findings.trust(f"its metric '{name}'")
    else:
        check_metric(str(name), kind, findings)
    return str(name)


def _weighs(name: Any) -> bool:
    return name in METRICS and METRICS[name].reads == "likelihoods"


def check_metric(name: str, kind: Kind, findings: Findings) -> None:
    if name not in METRICS:
        findings.refuse(f"its metric '{name}' is not known here")
    elif kind == "generate" and _weighs(name):
        findings.refuse(f"its metric '{name}' weighs options, but its replies are texts")


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
    """Flat keys, and over them those of `kwargs`. Switches are on with any value that lm-eval takes for yes: files that
    indent a list wrongly have a text there."""
    flat = {key: value for key, value in given.items() if key not in _OWN_KEYS}
    whole = {**flat, **{key: value for key, value in (given.get("kwargs") or {}).items() if key != "k"}}
    return {key: bool(value) if key in _SWITCHES else value for key, value in whole.items()}


def _sizes(given: Fields) -> tuple[int, ...]:
    k = (given.get("kwargs") or {}).get("k", given.get("k"))
    return () if k is None else tuple(k) if isinstance(k, list) else (int(k),)
