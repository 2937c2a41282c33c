"""metric_list, filter_list and scorer → pipelines."""

from typing import Any

from msgspec.structs import replace

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import Kind, Measure, Pipeline, Step
from model_accuracy_eval.scoring import filters, paths
from model_accuracy_eval.scoring.metrics import harness
from model_accuracy_eval.scoring.scorers import BY_KIND, SCORERS
from model_accuracy_eval.tasks.lm_eval import measuring
from model_accuracy_eval.tasks.lm_eval.findings import Findings
from model_accuracy_eval.tasks.lm_eval.reading import Fields, Function, functions


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
    judged, listed = fields.get("process_results"), fields.get("metric_list")
    if judged is None:
        common = measuring.measures(listed, kind, findings)
    else:
        common = measuring.of_whole_rows(judged, listed or [], kind, findings)
    if not common and "scorer" not in fields:
        common = BY_KIND[kind]
        for measure in common:
            measuring.check_metric(measure.name, kind, findings)
    entries = fields.get("filter_list")
    if not isinstance(entries, list) or not entries:
        return (Pipeline(metrics=common),) if common else ()
    return tuple(_pipeline(entry, common, fields, kind, findings) for entry in entries)


def looks_at_rows(fields: Fields) -> bool:
    """Whether judging may look at every column of a row."""
    return "process_results" in fields or bool(functions(fields.get("filter_list")))


def _pipeline(entry: Fields, common: tuple[Measure, ...], fields: Fields, kind: Kind, findings: Findings) -> Pipeline:
    steps = tuple(_step(one, fields, findings) for one in entry.get("filter") or [])
    metrics = measuring.measures(entry.get("metric_list"), kind, findings) or common
    if any(step.name == "regex_pos" for step in steps):
        metrics = tuple(_of_tags(measure) for measure in metrics)
    # What weighs options reads no text: the filters of such tasks only choose the one sample that there is.
    return Pipeline(name=str(entry.get("name", "none")), filters=steps if kind == "generate" else (), metrics=metrics)


def _of_tags(measure: Measure) -> Measure:
    """Where answers are lists of tags, so are the pairs' two sides."""
    return replace(measure, args={"listed": True}) if measure.name == harness.PAIRS else measure


def _step(given: Fields, fields: Fields, findings: Findings) -> Step:
    """A filter of ours, or Python of the author: a function or a class, named where it stands or registered."""
    name = given.get("function")
    args = {key: value for key, value in given.items() if key not in {"function", "kwargs"}}
    args |= given.get("kwargs") or {}
    place, own = ("filter_fn", args.pop("filter_fn", name)) if name == "custom" else ("its filter", name)
    if found := functions(args):
        findings.refuse(f"an argument of its filter is Python ({found[0]})")
    if isinstance(own, Function):
        return _own(place, own, args, findings)
    step = Step(name=str(own), args=args)
    if paths.is_path(step.name):  # not even looked at: to load it is to run it
        findings.trust(f"its filter '{own}'")
        return step
    try:
        filters.check(step)
    except UnknownName:
        registered = _registered(step.name, fields)
        if registered and findings.trusted:
            return _own(place, registered, args, findings)
        findings.refuse(f"its filter '{own}' is not known here")
    return step


def _own(place: str, function: Function, args: dict[str, Any], findings: Findings) -> Step:
    return Step(name="custom", args={**args, "filter_fn": findings.path(place, function)})


def _registered(name: str, fields: Fields) -> Function | None:
    """The filter of that name in the one module whose functions the task names; it is looked up once that is loaded."""
    modules = {(one.name.rpartition(".")[0], one.folder) for one in functions(fields)}
    if len(modules) != 1:
        return None
    ((module, folder),) = modules
    return Function(f"{module}.{name}", folder)
