"""Figures for a model's page on Hugging Face: `.eval_results/*.yaml`, and `model-index` for the card itself.

A page shows a figure as that of the whole benchmark. So a part of one (a limit, a shard, lost samples) is refused.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import yaml

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import DatasetResult, SummaryRow, TaskSpec
from model_accuracy_eval.records.report import is_verdict
from model_accuracy_eval.report import figures
from model_accuracy_eval.report.exports import JSON, ExportedRun, NamedFile, file_name, plain_metric, refuse_parts

_TASKS = {"text-generation": "Text Generation", "image-text-to-text": "Image-Text-to-Text", "any-to-any": "Any-to-Any"}


class HubDataset(NamedTuple):
    """A benchmark on Hugging Face, and which of its tasks was evaluated."""

    id: str
    task: str = "default"
    revision: str = ""


def parse_hub_datasets(texts: Iterable[str]) -> dict[str, HubDataset]:
    """`gsm8k=openai/gsm8k:main` of the command line: dataset → where its leaderboard is."""
    found = {}
    for text in texts:
        name, _, place = text.partition("=")
        owner, _, task = place.partition(":")
        if not name or owner.count("/") != 1 or not all(owner.split("/")):
            raise BadValue(f"'{text}' is not NAME=OWNER/DATASET[:TASK], such as gsm8k=openai/gsm8k:main.")
        found[name] = HubDataset(owner, task or "default")
    return found


def model_card(run: ExportedRun, given: Mapping[str, HubDataset]) -> Iterator[NamedFile]:
    """A dataset whose benchmark is not known stands in the card alone."""
    refuse_parts(run, "on a model's page")
    _check(run)
    tasks = {task.name: task for task in run.report.plan.tasks}
    hubs = {name: hub for name, task in tasks.items() if (hub := given.get(name) or _hub(task))}
    results = [result for result in run.report.dataset_results if result.rows]
    for result in results:
        if hub := hubs.get(result.dataset):
            yield f".eval_results/{file_name(result.dataset)}.yaml", _yaml([_entry(run, result, hub)])
    index = [{"name": run.model.rstrip("/").rpartition("/")[2], "results": [
        _index_result(run, result, hubs.get(result.dataset)) for result in results]}]  # fmt: skip
    yield "model-index.yaml", _yaml({"model-index": index})


def _check(run: ExportedRun) -> None:
    report, settings = run.report, run.report.plan.settings
    reason = ""
    if not is_verdict(report.outcome.conclusion):
        reason = f"the run was {report.outcome.conclusion}: {report.outcome.sentence}"
    elif parts := [
        f"--{name} {value}"
        for name, value in (("limit", settings.limit), ("first", settings.first), ("shard", report.plan.shard))
        if value
    ]:
        reason = f"it asked a part of each dataset ({parts[0]})"
    elif report.plan.unverified:
        reason = f"they are unverified: {'; '.join(report.plan.unverified)}"
    for result in report.dataset_results:
        if lost := next((row.bounds for row in result.rows if row.bounds), None):
            reason = reason or f"{lost.samples} samples of {result.dataset} have no verdict"
        if of := next((row.of for row in result.rows if row.of), None):
            reason = reason or f"{result.dataset} is a sample of {of:,} problems"
    if reason:
        raise BadValue(
            f"The figures of this run cannot stand on a model's page: {reason}. Run the whole benchmark, or go on with "
            "this run where samples are missing.",
            next_step=run.next_step,
        )


def _hub(task: TaskSpec) -> HubDataset | None:
    sources = (file.source for file in (task.data, *task.data.instead))
    split = next((source for source in sources if source and source.hf), None)
    return HubDataset(split.hf, split.config or "default", split.revision) if split else None


def _entry(run: ExportedRun, result: DatasetResult, hub: HubDataset) -> JSON:
    row = result.rows[0]
    dataset = {"id": hub.id, "task_id": hub.task} | ({"revision": hub.revision} if hub.revision else {})
    return {"dataset": dataset, "value": _value(row), "date": run.report.finished[:10], "notes": _notes(run, row)}


def _value(row: SummaryRow) -> float | None:
    return None if row.value is None else round(row.value, 4)


def _notes(run: ExportedRun, row: SummaryRow) -> str:
    sampling = run.report.plan.sampling
    drawn = [f"n={sampling.n}", *(f"{name}={value}" for name, value in _asked_for(run).items())]
    interval = f", 95 % interval {figures.span(row.interval)}" if row.interval else ""
    program = run.report.environment.get("model-accuracy-eval", "")
    return f"{row.metric}, {', '.join(drawn)}{interval}, version {row.version}, model-accuracy-eval {program}".rstrip()


def _asked_for(run: ExportedRun) -> dict[str, float]:
    sampling = run.report.plan.sampling
    values = {"temperature": sampling.temperature, "top_p": sampling.top_p, "max_tokens": sampling.max_tokens}
    return {name: value for name, value in values.items() if value is not None}


def _index_result(run: ExportedRun, result: DatasetResult, hub: HubDataset | None) -> JSON:
    kind = run.report.plan.settings.task_type
    dataset: JSON = {"name": result.dataset, "type": hub.id if hub else result.dataset}
    if hub and hub.task != "default":
        dataset["config"] = hub.task
    metrics = [
        {"type": plain_metric(row.metric), "name": row.metric, "value": _value(row), "verified": False}
        for row in result.rows
        if row.value is not None
    ]
    return {"task": {"type": kind, "name": _TASKS[kind]}, "dataset": dataset, "metrics": metrics}


def _yaml(content: object) -> bytes:
    return str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=10_000)).encode()
