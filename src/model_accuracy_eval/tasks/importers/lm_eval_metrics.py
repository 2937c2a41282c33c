"""metric_list, filter_list and scorer → pipelines. Metrics are ours, the author's Python, or the evaluate library's."""

import re
from typing import Any

from msgspec.structs import replace

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import MetricUse, Pipeline, RequestKind, Step
from model_accuracy_eval.scoring.figures.aggregations import AGGREGATIONS
from model_accuracy_eval.scoring.figures.reductions import REDUCTIONS
from model_accuracy_eval.scoring.filters import filters
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.metric_table import CLASSES, DEFAULT_METRICS, METRICS, SCORERS
from model_accuracy_eval.scoring.metrics.user_functions import HUGGING_FACE
from model_accuracy_eval.tasks.importers.lm_eval_files import ImportFindings, PythonReference, TaskFields, functions

_OWN_KEYS = {"metric", "aggregation", "higher_is_better", "reduction", "k", "kwargs", "hf_evaluate", "weight_by_size"}
_SWITCHES = {"ignore_case", "ignore_punctuation", "ignore_numbers"}
_PASS_AT = re.compile(r"pass_at_(k|\d+)")


def scorer(fields: TaskFields, findings: ImportFindings) -> Step | None:
    """`scorer: name`, or `scorer: {type: name, kwargs: {…}}`, as the 0.5 documentation writes it."""
    entry = fields.get("scorer")
    if entry is None:
        return None
    settings: TaskFields = entry if isinstance(entry, dict) else {"type": entry}
    name = settings.get("type")
    if name not in SCORERS:
        ours = f", which is called '{CLASSES[name]}' here" if name in CLASSES else ""
        findings.refuse(f"its scorer is {name}{ours}")
    return Step(name=str(name), args=settings.get("kwargs") or {})


def pipelines(fields: TaskFields, kind: RequestKind, findings: ImportFindings) -> tuple[Pipeline, ...]:
    """One for every entry of filter_list; the task's metrics are those of entries that name none."""
    process_results, entries = fields.get("process_results"), fields.get("metric_list") or []
    if process_results is None:
        common = tuple(_metric_use(entry, kind, findings) for entry in entries)
    else:
        common = _of_process_results(process_results, entries, kind, findings)
    if not common and "scorer" not in fields:
        common = DEFAULT_METRICS[kind]
        for measure in common:
            _check_metric(measure.name, kind, findings)
    filter_list = fields.get("filter_list")
    if not isinstance(filter_list, list) or not filter_list:
        return (Pipeline(metrics=common),) if common else ()
    return tuple(_pipeline(entry, common, fields, kind, findings) for entry in filter_list)


def looks_at_rows(fields: TaskFields) -> bool:
    """Whether judging may use every column of a row."""
    return bool(fields.get("process_results")) or bool(functions(fields.get("filter_list")))


def _pipeline(
    entry: TaskFields, common: tuple[MetricUse, ...], fields: TaskFields, kind: RequestKind, findings: ImportFindings
) -> Pipeline:
    steps = tuple(_step(step, fields, findings) for step in entry.get("filter") or [])
    metrics = tuple(_metric_use(one, kind, findings) for one in entry.get("metric_list") or []) or common
    if any(step.name == "regex_pos" for step in steps):
        # Answers are lists of tags, and so are both sides of a pair.
        metrics = tuple(
            replace(one, args={"listed": True}) if one.name == user_functions.PAIRS else one for one in metrics
        )
    # Likelihoods are not text: the filters of such tasks only choose the one sample that there is.
    return Pipeline(name=str(entry.get("name", "none")), filters=steps if kind == "generate" else (), metrics=metrics)


def _step(entry: TaskFields, fields: TaskFields, findings: ImportFindings) -> Step:
    """A filter of ours, or a function or class of the author, which is named by its path or by its registered name."""
    name = entry.get("function")
    args = {key: value for key, value in entry.items() if key not in {"function", "kwargs"}}
    args |= entry.get("kwargs") or {}
    place, function = ("filter_fn", args.pop("filter_fn", name)) if name == "custom" else ("its filter", name)
    if python := functions(args):
        findings.refuse(f"an argument of its filter is Python ({python[0]})")
    if isinstance(function, PythonReference):
        return _custom(place, function, args, findings)
    step = Step(name=str(function), args=args)
    if user_functions.is_path(step.name):  # not checked, because loading it runs it
        findings.trust(f"its filter '{function}'")
        return step
    try:
        filters.check(step)
    except UnknownName:
        registered = _registered(step.name, fields)
        if registered and findings.trusted:
            return _custom(place, registered, args, findings)
        findings.refuse(f"its filter '{function}' is not known here")
    return step


def _custom(place: str, function: PythonReference, args: dict[str, Any], findings: ImportFindings) -> Step:
    return Step(name="custom", args={**args, "filter_fn": findings.path(place, function)})


def _registered(name: str, fields: TaskFields) -> PythonReference | None:
    """The filter of that name in the one module whose functions the task names; it is looked up when that is loaded."""
    modules = {(function.name.rpartition(".")[0], function.folder) for function in functions(fields)}
    if len(modules) != 1:
        return None
    ((module, folder),) = modules
    return PythonReference(f"{module}.{name}", folder)


def _of_process_results(
    function: Any, entries: list[TaskFields], kind: RequestKind, findings: ImportFindings
) -> tuple[MetricUse, ...]:
    """A metric for every value of process_results that metric_list names."""
    if not isinstance(function, PythonReference):
        findings.refuse(f"its process_results is no function, but {function!r}")
        return ()
    if not entries:
        findings.refuse("its metric_list names none of the values that process_results gives")
    path = findings.path("process_results", function)
    prefixes = {"generate": user_functions.RESULTS, "rolling": user_functions.ROLLING}
    prefix = prefixes.get(kind, user_functions.LIKELIHOODS)
    return tuple(
        MetricUse(
            name=prefix + path,
            label=_label(entry.get("metric")),
            args={"part": _label(entry.get("metric"))},
            # A known metric's values are aggregated as ever, even if a function computes them.
            aggregation=_aggregation(entry, kind, findings)
            or (METRICS[entry["metric"]].aggregation if entry.get("metric") in METRICS else None),
            higher_is_better=entry.get("higher_is_better"),
        )
        for entry in entries
    )


def _label(name: Any) -> str:
    """The name under which a metric is shown; a function's own name."""
    return name.name.rpartition(".")[2] if isinstance(name, PythonReference) else str(name)


def _metric_use(entry: TaskFields, kind: RequestKind, findings: ImportFindings) -> MetricUse:
    if findings.programs:
        return _program_metric(entry, findings)
    reduction = entry.get("reduction")
    if reduction is not None and reduction not in REDUCTIONS:
        findings.refuse(f"its reduction '{reduction}' is not known here")
    name = _name(entry, kind, findings)
    return MetricUse(
        name=name,
        label=_label(entry.get("metric")) if user_functions.is_path(name) or name == user_functions.PAIRS else "",
        # lm-eval looks at further keys only where texts are judged.
        args=_args(entry) if kind == "generate" and name != user_functions.PAIRS else {},
        reduction=reduction,
        k=_sizes(entry),
        aggregation=_aggregation(entry, kind, findings),
        higher_is_better=entry.get("higher_is_better"),
    )


def _program_metric(entry: TaskFields, findings: ImportFindings) -> MetricUse:
    """pass@k of programs, which our sandbox runs instead of the function that the file names."""
    size = _PASS_AT.fullmatch(_label(entry.get("metric")))
    if size is None:
        findings.refuse(f"its replies are programs, but its metric '{entry.get('metric')}' is no pass_at_k")
        return MetricUse(name="code_eval")
    k = _sizes(entry) if size[1] == "k" else (int(size[1]),)
    return MetricUse(name="code_eval", reduction="pass@k", k=k)


def _name(entry: TaskFields, kind: RequestKind, findings: ImportFindings) -> str:
    """The metric's name; for the author's Python and the evaluate library, where it is defined."""
    name = entry.get("metric")
    if isinstance(name, PythonReference):
        if kind != "generate":
            findings.refuse(f"its metric '{name}' is Python, but likelihoods of options are compared")
        return user_functions.TEXT + findings.path("metric", name)
    if kind == "generate" and entry.get("hf_evaluate"):
        return HUGGING_FACE + str(name)
    if kind == "generate" and isinstance(entry.get("aggregation"), PythonReference) and _needs_likelihoods(name):
        return user_functions.PAIRS  # lm-eval's own functions of these names only pass the pairs on
    if user_functions.is_path(str(name)):
        findings.trust(f"its metric '{name}'")
    else:
        _check_metric(str(name), kind, findings)
    return str(name)


def _needs_likelihoods(name: Any) -> bool:
    return name in METRICS and METRICS[name].reads == "likelihoods"


def _check_metric(name: str, kind: RequestKind, findings: ImportFindings) -> None:
    if name not in METRICS:
        findings.refuse(
            f"its metric '{name}' is not known here; if the evaluate library has it, write hf_evaluate: true beside it"
        )
    elif kind == "generate" and _needs_likelihoods(name):
        findings.refuse(f"its metric '{name}' needs likelihoods of options, but its replies are texts")


def _aggregation(entry: TaskFields, kind: RequestKind, findings: ImportFindings) -> str | None:
    name = entry.get("aggregation")
    if kind == "generate" and entry.get("hf_evaluate") and isinstance(name, str):
        findings.ignore("aggregation (the evaluate library is given all answers at once)")
        return None
    if isinstance(name, PythonReference):
        return findings.path("aggregation", name)
    if name is not None and name not in AGGREGATIONS:
        findings.refuse(f"its aggregation '{name}' is not known here")
    return name


def _args(entry: TaskFields) -> TaskFields:
    """The entry's keys, and over them those of `kwargs`. Any true value switches a switch on, as in lm-eval: files that
    indent a list wrongly have a text there."""
    flat = {key: value for key, value in entry.items() if key not in _OWN_KEYS}
    args = {**flat, **{key: value for key, value in (entry.get("kwargs") or {}).items() if key != "k"}}
    return {key: bool(value) if key in _SWITCHES else value for key, value in args.items()}


def _sizes(entry: TaskFields) -> tuple[int, ...]:
    k = (entry.get("kwargs") or {}).get("k", entry.get("k"))
    return () if k is None else tuple(k) if isinstance(k, list) else (int(k),)
