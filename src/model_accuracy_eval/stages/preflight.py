"""Everything that can be found wrong before anything is started: the data, the adapter's files, the port."""

from collections.abc import Sequence
from pathlib import Path

from model_accuracy_eval.errors import EvalError, Refused
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.records import Clearance, DataFile, Exam, RunPlan, Stock, TaskSpec
from model_accuracy_eval.stages import trial
from model_accuracy_eval.tasks import exam, rows, source

_TASK_TYPES: tuple[str, ...] = ("text-generation", "image-text-to-text", "any-to-any")
"""Each answers the requests of those before it, too."""


def clear(plan: RunPlan, ports: Ports, against: Sequence[str] = ()) -> Clearance:
    """What will be asked, fully rendered, and the weights, measured; raises with every finding at once.

    `against`: what stands against the run already.
    """
    exams = tuple(_exam(task, plan, ports) for task in plan.tasks)
    findings, stock, about = [*against], None, None
    if plan.adapter and plan.mode != "eval":
        if objection := _adapter_files(plan, ports):
            findings.append(objection.sentence)
            about = objection.about
        findings += _port(plan, ports)
        try:
            stock = ports.warehouse.measure(plan.model or "", plan.max_weight_size)
            findings += _task_type(plan, stock)
        except Refused as refusal:
            findings.append(refusal.sentence)
    if findings:
        raise Refused(" ".join(findings), about=about)
    trial.hold(plan, exams, ports)
    return Clearance(exams=exams, stock=stock)


def _task_type(plan: RunPlan, stock: Stock) -> list[str]:
    """What stands against asking these weights for that: each kind of model answers the requests of those before it."""
    known = [kind for kind in _TASK_TYPES if kind in stock.task_types]
    if not known or _TASK_TYPES.index(plan.task_type) <= _TASK_TYPES.index(known[-1]):
        return []
    finding = (
        f"The task-type is {plan.task_type}, but the hub says that {stock.reference} is made for {known[-1]}; "
        f"set task-type to {known[-1]}, or take other weights."
    )
    return [finding]


def _exam(task: TaskSpec, plan: RunPlan, ports: Ports) -> Exam:
    def read(file: DataFile, fields: tuple[str, ...]) -> list[rows.Row]:
        return source.read(file, fields, plan.data_dir, ports.hub, ports.make_rows)

    return exam.assemble(task, read, plan.limit, plan.shard)


def _adapter_files(plan: RunPlan, ports: Ports) -> EvalError | None:
    folder = Path(plan.adapter or "")
    if not folder.is_dir():
        return Refused(f"The adapter folder '{folder}' is not there.")
    if not (folder / "deploy.sh").is_file():
        return Refused(f"The adapter folder '{folder}' has no deploy.sh at its root, so there is nothing to start.")
    return ports.launcher.objection(str(folder))


def _port(plan: RunPlan, ports: Ports) -> list[str]:
    owner = ports.launcher.port_owner(plan.port)
    return [f"Port {plan.port} is already in use by {owner}, so the adapter could not serve on it."] if owner else []
