"""Finds what is wrong before anything is started: the data, the adapter's files, the port, the weights, the sandbox."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from model_accuracy_eval.errors import EvalError, MissingData, Refused, UnknownName
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.records import (
    DataFile,
    DataRow,
    Identity,
    MediaKind,
    PreparedDataset,
    RowsSource,
    RunPlan,
    TaskSpec,
    WeightsInfo,
)
from model_accuracy_eval.records.problem import NOUNS
from model_accuracy_eval.run import ask_store, gold_check
from model_accuracy_eval.run.shared_sandbox import check_sandbox
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.verdicts import gate_lines
from model_accuracy_eval.tasks import preparation, rows
from model_accuracy_eval.tasks.importers import own_verdicts

_TASK_TYPES: tuple[str, ...] = ("text-generation", "image-text-to-text", "any-to-any")
"""Models of each type also answer the requests of the types before it."""
_NEEDED: dict[MediaKind, int] = {"image": 1, "audio": 2, "video": 2}
"""Position of the first type whose models are asked about such."""

_PORTS_TRIED = 100


Preflight = tuple[tuple[PreparedDataset, ...], WeightsInfo | None]
"""The datasets, and the weights to deploy."""


def check(plan: RunPlan, ports: Ports, objections: Sequence[str] = ()) -> Preflight:
    """Returns the rendered datasets and the measured weights; raises one error with all findings.

    `objections` are findings that are known already.
    """
    with ports.clock.interruptible():
        datasets = tuple(gold_check.checked(prepared(task, plan, ports), plan, ports) for task in plan.tasks)
    for dataset in datasets:
        for sentence in own_verdicts.told(dataset):
            ports.progress.say(sentence)
    findings, weights_info, about = [*objections, *media_objections(plan, datasets)], None, None
    if plan.settings.adapter and plan.settings.mode != "eval":
        if objection := _adapter_files(plan, ports):
            findings.append(objection.sentence)
            about = objection.about
        findings += _port(plan, ports)
        try:
            weights_info = ports.weights_source.measure(plan.settings.model or "", plan.settings.max_weight_size)
            findings += _task_type(plan, weights_info)
        except Refused as refusal:
            findings.append(refusal.sentence)
    if findings:
        raise Refused(" ".join(findings), about=about)
    _check_parts(plan, datasets)
    _tell_texts(plan, datasets, ports)
    ask_store.check(plan, ports)
    check_sandbox(plan, datasets, ports)
    return datasets, weights_info


def identity(plan: RunPlan, weights_info: WeightsInfo | None, ports: Ports) -> Identity:
    """What the verdict is about, and with it what is deployed: a tag or a branch may move while the run goes on."""
    known = msgspec.structs.replace(plan.identity, label=plan.settings.label)
    if weights_info is None:
        return known
    image = ports.launcher.image() if plan.settings.engine == "local" else known.image
    return msgspec.structs.replace(known, weights=weights_info.name, image=image)


def _check_parts(plan: RunPlan, datasets: Sequence[PreparedDataset]) -> None:
    """Refuses gates on parts that the data does not have."""
    prepared = {each.task.name: each for each in datasets}
    for gate in plan.gates:
        if gate.dataset in prepared and (named := gate_lines.of_part(gate.metric)):
            task = prepared[gate.dataset].task
            parts = {groups.part(task, problem) for problem in prepared[gate.dataset].problems}
            parts |= {*(drawn.parts if (drawn := prepared[gate.dataset].draw) else ())}
            known = {*parts, *groups.areas(task, parts)}
            if task.grouping is not None and named[1] not in known:
                raise UnknownName(f"part of {gate.dataset}", named[1], known, where=f" in the gate '{gate}'")


def media_objections(plan: RunPlan, datasets: Sequence[PreparedDataset]) -> Iterator[str]:
    """Says which datasets show what models of the plan's type do not see; a text among pictures is only told."""
    for each in datasets:
        shown = {media.kind for problem in each.problems for turn in problem.messages for media in turn.media}
        needed = _TASK_TYPES[max((_NEEDED[kind] for kind in shown), default=0)]
        if _TASK_TYPES.index(needed) > _TASK_TYPES.index(plan.settings.task_type):
            nouns = " and ".join(f"{NOUNS[kind]}s" for kind in sorted(shown))
            yield (
                f"The questions of {each.task.name} show {nouns}, but the task-type is {plan.settings.task_type}; set "
                f"task-type to {needed} for a model that reads them, or leave the dataset out."
            )


def _tell_texts(plan: RunPlan, datasets: Sequence[PreparedDataset], ports: Ports) -> None:
    """A score of texts alone is none of the task type that was named."""
    texts = [
        each.task.name for each in datasets if not any(turn.media for one in each.problems for turn in one.messages)
    ]
    if texts and plan.settings.task_type != "text-generation":
        ports.progress.say(
            f"The task-type is {plan.settings.task_type}, but there are texts alone in {', '.join(texts)}: figures of "
            "these say nothing about how the model reads pictures."
        )


def _task_type(plan: RunPlan, weights_info: WeightsInfo) -> list[str]:
    """Says why models with these weights cannot answer requests of the plan's type."""
    known = [kind for kind in _TASK_TYPES if kind in weights_info.task_types]
    if not known or _TASK_TYPES.index(plan.settings.task_type) <= _TASK_TYPES.index(known[-1]):
        return []
    finding = (
        f"The task-type is {plan.settings.task_type}, but the hub says that {weights_info.reference} is made for "
        f"{known[-1]}; set task-type to {known[-1]}, or take other weights."
    )
    return [finding]


def prepared(task: TaskSpec, plan: RunPlan, ports: Ports) -> PreparedDataset:
    """Reads and renders a dataset as the plan's settings say."""

    def read(file: DataFile, fields: tuple[str, ...]) -> Sequence[DataRow]:
        return rows.read(file, fields, plan.settings.data_dir, ports.hub, ports.make_rows, note=sources.append)

    sources: list[RowsSource] = []
    try:
        dataset = preparation.assemble(task, read, plan.settings.limit, plan.shard, first=plan.settings.first)
    except MissingData as missing:
        if any(file.source for file in (task.data, *task.data.instead)):
            missing.next_step = f"model-accuracy-eval tasks prepare {task.name}"
        raise
    return msgspec.structs.replace(dataset, sources=tuple(sources))


def _adapter_files(plan: RunPlan, ports: Ports) -> EvalError | None:
    folder = Path(plan.settings.adapter or "")
    if not folder.is_dir():
        return Refused(f"The adapter folder '{folder}' is not there.")
    if not (folder / "deploy.sh").is_file():
        return Refused(f"The adapter folder '{folder}' has no deploy.sh at its root, so there is nothing to start.")
    if plan.settings.replicas > 1 and not _reads(folder, "PORT"):
        return Refused(
            f"{plan.settings.replicas} replicas need a port each, and nothing in '{folder}' reads PORT: let "
            "deploy.sh serve on ${PORT:-8000}, or run without --replicas.",
            about=("deploy.sh", 1),
        )
    if plan.settings.nodes_per_replica > 1 and not _reads(folder, "NODE_RANK"):
        return Refused(
            f"A replica spans {plan.settings.nodes_per_replica} nodes, and nothing in '{folder}' reads NODE_RANK, so "
            "each would serve alone: let deploy.sh hand on NNODES, NODE_RANK, MASTER_ADDR and MASTER_PORT, or run "
            "without nodes= in --resources.",
            about=("deploy.sh", 1),
        )
    return ports.launcher.objection(str(folder))


def _reads(folder: Path, variable: str) -> bool:
    """Whether a script of the adapter names the variable at all."""
    name = re.compile(rf"\b{variable}\b".encode())
    scripts = (path for kind in ("sh", "py", "yaml", "yml") for path in folder.rglob(f"*.{kind}"))
    return any(name.search(path.read_bytes()) for path in scripts if path.is_file())


def _port(plan: RunPlan, ports: Ports) -> list[str]:
    if plan.settings.engine != "local":
        return []
    first, count = plan.settings.port, plan.settings.replicas
    owner = ports.launcher.port_owner
    findings = [
        f"Port {port} is already in use by {who}, so the adapter could not serve on it."
        for port in range(first, first + count)
        if (who := owner(port))
    ]
    candidates = range(first + 1, min(65537 - count, first + 1 + _PORTS_TRIED)) if findings else ()
    free = next((start for start in candidates if not any(map(owner, range(start, start + count)))), None)
    if free:
        rest = "which is free" if count == 1 else f"from which on {count} ports are free"
        findings.append(f"Give --port {free}, {rest}.")
    return findings
