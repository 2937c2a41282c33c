"""Settings + the table of tasks → RunPlan: every name resolved, every contradiction found before anything starts."""

from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec

from model_accuracy_eval.config.presets import asked_by
from model_accuracy_eval.config.settings import Settings
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import Gate, Patience, RunPlan, Sampling, Shard, TaskSpec
from model_accuracy_eval.scoring import gates, groups
from model_accuracy_eval.scoring.scorecard import names
from model_accuracy_eval.scoring.scorers import asks_judge, own_python
from model_accuracy_eval.tasks.library import Library


def resolve(settings: Settings, *, run_id: str, stamp: str, library: Library) -> RunPlan:
    """The plan of a run. `library` finds what the datasets' names stand for."""
    _check_target(settings)
    k = tuple(sorted(set(settings.k))) or (settings.num_return_sequences,)
    if k[-1] > settings.num_return_sequences:
        raise BadValue(
            f"k = {k[-1]} needs at least {k[-1]} samples of every problem, "
            f"but num-return-sequences is {settings.num_return_sequences}."
        )
    found = library.find_all(settings.datasets)
    specs = tuple(asked_by(settings.prompt_strategy, task) for task in found.tasks)
    _check_scoring(settings, specs)  # before anything looks into metrics: those of the user's own are run by looking
    # Settings and records call the same thing by the same name, but for these two.
    sampling = msgspec.convert(settings, Sampling, from_attributes=True)
    sampling = msgspec.structs.replace(sampling, n=settings.num_return_sequences, extra=settings.generation)
    parsed: tuple[Gate, ...] = tuple(gate for line in settings.gate for gate in gates.parse(line))
    told = {task.name: names(task, sampling.of(task).n, k) for task in specs}
    gates.check(parsed, told | groups.metrics(found.groups, told))
    if not settings.baseline and (hanging := [gate for gate in parsed if gate.from_baseline]):
        raise BadValue(f"The gate '{hanging[0]}' speaks of a baseline: name that run with --baseline.")
    return RunPlan(
        run_id=run_id,
        stamp=stamp,
        mode=settings.mode,
        label=settings.label,
        task_type=settings.task_type,
        adapter=settings.adapter,
        model=settings.model,
        endpoint=settings.endpoint.rstrip("/") if settings.endpoint else None,
        model_name=settings.model_name,
        port=settings.port,
        runtime=settings.runtime,
        adapter_image=settings.adapter_image,
        devices=settings.devices,
        max_weight_size=settings.max_weight_size,
        weights_dir=settings.weights_dir,
        tasks=specs,
        groups=found.groups,
        limit=settings.limit,
        shard=_shard(settings.shard),
        sampling=sampling,
        weigh=settings.weigh,
        k=k,
        score_reasoning=settings.score_reasoning,
        sandbox=settings.sandbox,
        sandbox_image=settings.sandbox_image,
        gates=() if settings.shard else parsed,  # a shard is no verdict: `merge` decides
        baseline=settings.baseline,
        max_failed_requests=settings.max_failed_requests,
        judge_endpoint=settings.judge_endpoint.rstrip("/") if settings.judge_endpoint else None,
        judge_model=settings.judge_model,
        patience=msgspec.convert(settings, Patience, from_attributes=True),
        data_dir=settings.data_dir,
        out=settings.out,
        debug=settings.debug,
    )


def _shard(written: str | None) -> Shard | None:
    """`r/W` as its two numbers."""
    if written is None:
        return None
    index, _, count = written.partition("/")
    if not (index.isdecimal() and count.isdecimal() and int(index) < int(count)):
        raise BadValue(f"The shard must be r/W with r from 0 up to below W, such as 0/4, but is '{written}'.")
    return Shard(index=int(index), count=int(count))


def _check_target(settings: Settings) -> None:
    if not settings.datasets:
        raise BadValue("No dataset was chosen: give --datasets, such as --datasets demo_gsm8k.")
    if settings.mode == "eval":
        if not settings.reuse:
            raise BadValue("--mode eval judges replies that are kept: name their run with --reuse.")
        return
    if settings.endpoint and settings.adapter:
        raise BadValue("Give an adapter folder or --endpoint, not both: one is deployed, the other already runs.")
    if not settings.endpoint and not settings.adapter:
        raise BadValue("Nothing to evaluate: give an adapter folder, or --endpoint URL of a service that runs.")
    if settings.adapter and not settings.model:
        raise BadValue("deploy.sh needs weights: give their path with --model.")
    if settings.runtime == "container" and settings.adapter and not settings.adapter_image:
        raise BadValue("The container runtime needs the image to run deploy.sh in: give --adapter-image.")
    if settings.endpoint and not _is_url(settings.endpoint):
        raise BadValue(f"The endpoint must be an http:// or https:// URL, but is '{settings.endpoint}'.")


def _check_scoring(settings: Settings, specs: Sequence[TaskSpec]) -> None:
    for task in specs:
        own = own_python(task)
        if own and not settings.trust_python:
            raise BadValue(f"{task.name} is judged by Python of its own ({own[0]}): allow it with --trust-python.")
        judged = asks_judge(task) and settings.mode != "infer"
        if judged and not (settings.judge_endpoint and settings.judge_model):
            raise BadValue(f"{task.name} is judged by a model: name it with --judge-endpoint and --judge-model.")
    if settings.judge_endpoint and not _is_url(settings.judge_endpoint):
        raise BadValue(f"The judge's endpoint must be an http:// or https:// URL, but is '{settings.judge_endpoint}'.")


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # a port that is none
        return False
