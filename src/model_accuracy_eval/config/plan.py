"""Settings + the table of tasks → RunPlan: every name resolved, every contradiction found before anything starts."""

from collections.abc import Callable
from urllib.parse import urlsplit

import msgspec

from model_accuracy_eval import tasks
from model_accuracy_eval.config.settings import Settings
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import Gate, Patience, RunPlan, Sampling, TaskSpec
from model_accuracy_eval.scoring import gates
from model_accuracy_eval.scoring.scorecard import names
from model_accuracy_eval.tasks import custom

ReadFile = Callable[[str], bytes]


def resolve(settings: Settings, *, run_id: str, stamp: str, read_file: ReadFile) -> RunPlan:
    """The plan of a run. `read_file` brings the bytes of a user's own data file, to see which shape it has."""
    _check_target(settings)
    k = tuple(sorted(set(settings.k))) or (settings.num_return_sequences,)
    if k[-1] > settings.num_return_sequences:
        raise BadValue(
            f"k = {k[-1]} needs at least {k[-1]} samples of every problem, "
            f"but num-return-sequences is {settings.num_return_sequences}."
        )
    specs = _tasks(settings.datasets, read_file)
    # Settings and records call the same thing by the same name, but for these two.
    sampling = msgspec.convert(settings, Sampling, from_attributes=True)
    sampling = msgspec.structs.replace(sampling, n=settings.num_return_sequences, extra=settings.generation)
    parsed: tuple[Gate, ...] = tuple(gate for line in settings.gate for gate in gates.parse(line))
    gates.check(parsed, {task.name: names(task, sampling.of(task).n, k) for task in specs})
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
        limit=settings.limit,
        sampling=sampling,
        weigh=settings.weigh,
        k=k,
        score_reasoning=settings.score_reasoning,
        gates=parsed,
        baseline=settings.baseline,
        max_failed_requests=settings.max_failed_requests,
        patience=msgspec.convert(settings, Patience, from_attributes=True),
        data_dir=settings.data_dir,
        out=settings.out,
        debug=settings.debug,
    )


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


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # a port that is none
        return False


def _tasks(names: tuple[str, ...], read_file: ReadFile) -> tuple[TaskSpec, ...]:
    specs = tuple(
        custom.from_file(name, read_file(name)) if custom.looks_like_file(name) else tasks.find(name)
        for name in dict.fromkeys(names)
    )
    found = [spec.name for spec in specs]
    for name in found:
        if found.count(name) > 1:
            raise BadValue(f"Two of the datasets are called '{name}', and their reports would overwrite each other.")
    return specs
