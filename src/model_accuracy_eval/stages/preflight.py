"""Everything that can be found wrong before anything is started: the data, the adapter's files, the port."""

from collections.abc import Sequence
from pathlib import Path

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.records import Clearance, DataFile, Exam, RunPlan, TaskSpec
from model_accuracy_eval.tasks import exam, rows


def clear(plan: RunPlan, ports: Ports, against: Sequence[str] = ()) -> Clearance:
    """What will be asked, fully rendered, and the weights, measured; raises with every finding at once.

    `against`: what stands against the run already.
    """
    exams = tuple(_exam(task, plan, ports) for task in plan.tasks)
    findings, stock = [*against], None
    if plan.adapter and plan.mode != "eval":
        findings += _findings(plan, ports)
        try:
            stock = ports.warehouse.measure(plan.model or "", plan.max_weight_size)
        except Refused as refusal:
            findings.append(refusal.sentence)
    if findings:
        raise Refused(" ".join(findings))
    return Clearance(exams=exams, stock=stock)


def _exam(task: TaskSpec, plan: RunPlan, ports: Ports) -> Exam:
    questions = _rows(task.data, task.fields, plan, ports)
    fewshot = task.prompt.fewshot
    shots = _rows(fewshot.data, task.fields, plan, ports) if fewshot else []
    return exam.build(task, questions, shots, plan.limit)


def _rows(file: DataFile, fields: tuple[str, ...], plan: RunPlan, ports: Ports) -> list[rows.Row]:
    found, data = ports.hub.read(file, plan.data_dir)
    return rows.parse(found, data, fields)


def _findings(plan: RunPlan, ports: Ports) -> list[str]:
    findings = []
    folder = Path(plan.adapter or "")
    if not folder.is_dir():
        findings.append(f"The adapter folder '{folder}' is not there.")
    elif not (folder / "deploy.sh").is_file():
        findings.append(f"The adapter folder '{folder}' has no deploy.sh at its root, so there is nothing to start.")
    elif objection := ports.launcher.objection(str(folder)):
        findings.append(objection)
    owner = ports.launcher.port_owner(plan.port)
    if owner:
        findings.append(f"Port {plan.port} is already in use by {owner}, so the adapter could not serve on it.")
    return findings
