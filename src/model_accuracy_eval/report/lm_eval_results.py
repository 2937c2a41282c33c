"""A run as lm-eval 0.4 writes it: `results_<stamp>.json`, and `samples_<task>_<stamp>.jsonl` with every reply."""

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import msgspec

from model_accuracy_eval.records import Attempt, DatasetResult, SummaryRow
from model_accuracy_eval.report.exports import (
    JSON,
    AskedProblem,
    ExportedRun,
    NamedFile,
    file_name,
    plain_metric,
    refuse_parts,
)
from model_accuracy_eval.run_folder import history_file

_FILTER = "none"
_DIGITS = 12


def files(run: ExportedRun) -> Iterator[NamedFile]:
    refuse_parts(run, "in lm-eval's results")
    folder = re.sub(r"[\"<>:/\|\\?\*\[\]]+", "__", run.model)
    results = [result for result in run.report.dataset_results if result.rows]
    content = msgspec.json.format(msgspec.json.encode(_results(run, results, folder)), indent=2)
    yield f"{folder}/results_{run.stamp}.json", content
    for result in results:
        lines = (
            msgspec.json.encode(_sample(run, asked, plain_metric(result.rows[0].metric))) + b"\n"
            for asked in run.asked(result)
        )
        yield f"{folder}/samples_{file_name(result.dataset)}_{run.stamp}.jsonl", b"".join(lines)


def _results(run: ExportedRun, results: list[DatasetResult], folder: str) -> JSON:
    report, sampling = run.report, run.report.plan.sampling
    tasks = {task.name: task for task in report.plan.tasks}
    limit = report.plan.settings.first or report.plan.settings.limit or None
    return {
        "results": {result.dataset: {"alias": result.dataset, **_figures(result.rows)} for result in results},
        "group_subtasks": {result.dataset: [] for result in results},
        "configs": {
            result.dataset: {
                "task": result.dataset,
                "output_type": _OUTPUT_TYPES.get(tasks[result.dataset].kind, "generate_until"),
                "repeats": sampling.of(tasks[result.dataset]).n,
                "metadata": {"version": result.version},
            }
            for result in results
            if result.dataset in tasks
        },
        "versions": {result.dataset: result.version for result in results},
        "n-shot": {result.dataset: _shots(run, result.dataset) for result in results},
        "higher_is_better": {
            result.dataset: {plain_metric(row.metric): row.higher_is_better for row in result.rows}
            for result in results
        },
        "n-samples": {
            result.dataset: {"original": len(result.problem_results), "effective": len(result.problem_results)}
            for result in results
        },
        "config": {
            "model": "local-chat-completions",
            "model_args": {"model": run.model, "base_url": report.service.base_url if report.service else None},
            "limit": limit,
            "gen_kwargs": _generation(run),
            "random_seed": sampling.seed,
        },
        "model_source": "model-accuracy-eval",
        "model_name": run.model,
        "model_name_sanitized": folder,
        "date": _seconds(report.finished),
        "start_time": _seconds(report.started),
        "end_time": _seconds(report.finished),
        "total_evaluation_time_seconds": str(round(sum(report.seconds.values()), 3)),
    } | ({"unverified": list(report.plan.unverified)} if report.plan.unverified else {})


_OUTPUT_TYPES = {"choice": "multiple_choice", "schema": "multiple_choice", "target": "loglikelihood",
                 "rolling": "loglikelihood_rolling"}  # fmt: skip


def _figures(rows: tuple[SummaryRow, ...]) -> JSON:
    """Shares are 0..1 there; every figure has its error, which may be unknown."""
    figures: dict[str, Any] = {}
    for row in rows:
        if row.value is not None:
            scale = 100 if row.share else 1
            metric, _, chosen = plain_metric(row.metric).partition(",")
            chosen = chosen or _FILTER
            figures[f"{metric},{chosen}"] = round(row.value / scale, _DIGITS)
            figures[f"{metric}_stderr,{chosen}"] = "N/A" if row.stderr is None else round(row.stderr / scale, _DIGITS)
    return figures


def _shots(run: ExportedRun, dataset: str) -> int:
    task = next((task for task in run.report.plan.tasks if task.name == dataset), None)
    return task.prompt.fewshot.count if task and task.prompt and task.prompt.fewshot else 0


def _generation(run: ExportedRun) -> JSON:
    sampling = run.report.plan.sampling
    fields = {"temperature": sampling.temperature, "top_p": sampling.top_p, "max_gen_toks": sampling.max_tokens}
    return {name: value for name, value in fields.items() if value is not None} | sampling.extra


def _seconds(moment: str) -> float | None:
    """None: somebody wrote a time that is none."""
    try:
        return history_file.instant(moment)
    except ValueError:
        return None


def _sample(run: ExportedRun, asked: AskedProblem, metric: str) -> JSON:
    result = asked.result
    values = {metric: sum(result.values) / result.n} if result.n else {}
    values |= {plain_metric(name): value / 100 for name, value in result.figures.items() if value is not None}
    attempt = next((reply for reply in asked.replies if reply is not None), None)
    resps, filtered = _responses(asked, attempt)
    return {
        "doc_id": result.problem,
        "doc": {"question": asked.prompt, "answer": asked.gold},
        "target": asked.gold,
        "arguments": {"gen_args_0": {"arg_0": asked.prompt, "arg_1": _generation(run)}},
        "resps": resps,
        "filtered_resps": filtered,
        "filter": _FILTER,
        "metrics": list(values),
        "doc_hash": _hash(f"{result.problem} {asked.prompt}"),
        "prompt_hash": _hash(asked.prompt),
        "target_hash": _hash(asked.gold),
        **values,
    }


def _responses(asked: AskedProblem, attempt: Attempt | None) -> tuple[list[Any], list[Any]]:
    """What was said about each option, or each sample's text; a sample without a reply is an empty one."""
    if attempt is not None and attempt.loglikelihoods:
        pairs = [[each.logprob, bool(each.greedy)] if each else None for each in attempt.loglikelihoods]
        return [[pair] for pair in pairs], pairs
    texts = [reply.text if reply else "" for reply in asked.replies]
    return [texts], [answer or "" for answer in asked.result.answers] or [""] * len(texts)


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()
