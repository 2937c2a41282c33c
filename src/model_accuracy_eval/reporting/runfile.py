"""`run.json`: what other programs read. Also written at the start, so that a killed run says what it was."""

from typing import Any

import msgspec

from model_accuracy_eval.records import Exam, Report, RunPlan, Service
from model_accuracy_eval.scoring import groups

SCHEMA = 1


def started(plan: RunPlan, exams: tuple[Exam, ...], service: Service | None, began: str) -> bytes:
    """The file of a run that is under way."""
    return _encode(
        {
            "schema": SCHEMA,
            "status": "running",
            "run_id": plan.run_id,
            "label": plan.label,
            "model": service.model if service else None,
            "endpoint": service.base_url if service else None,
            "started": began,
            "datasets": {
                exam.task.name: {"version": exam.version, "questions": exam.questions, "problems": len(exam.problems)}
                for exam in exams
            },
        }
    )


def finished(report: Report, exams: tuple[Exam, ...]) -> bytes:
    """The file of a run that has ended, however it ended."""
    whole = msgspec.json.decode(started(report.plan, exams, report.service, report.started))
    outcome = report.outcome
    whole |= {
        "status": outcome.conclusion,
        "exit_code": outcome.exit_code,
        "stage": outcome.stage,
        "sentence": outcome.sentence,
        "detail": outcome.detail,
        "finished": report.finished,
        "seconds": report.seconds,
        "n": report.plan.sampling.n,
        "k": report.plan.k,
        "gates": [msgspec.to_builtins(result) | {"gate": str(result.gate)} for result in report.gates],
        "comparison": msgspec.to_builtins(report.comparison),
        "environment": report.environment,
    }
    for sheet in report.sheets:
        whole["datasets"][sheet.dataset] |= {
            "metrics": {row.metric: row.value for row in sheet.rows},
            "intervals": {row.metric: msgspec.to_builtins(row.interval) for row in sheet.rows},
            "counts": msgspec.to_builtins(sheet.counts),
            "notes": sheet.notes,
            "speed": msgspec.to_builtins(sheet.speed),
        }
        if sheet.ran:
            whole["datasets"][sheet.dataset]["ran"] = msgspec.to_builtins(sheet.ran)
    for row in groups.all_rows(report.plan.groups, report.sheets):
        told = whole.setdefault("groups", {}).setdefault(row.dataset, {"version": row.version, "metrics": {}})
        told["metrics"][row.metric] = {"value": row.value, "stderr": row.stderr}
    return _encode(whole)


def _encode(whole: dict[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n"


def kept(source: bytes) -> dict[str, Any]:
    """What an earlier `run.json` says; empty when it cannot be read, because a crash may have been first."""
    try:
        whole = msgspec.json.decode(source)
    except msgspec.DecodeError:
        return {}
    return whole if isinstance(whole, dict) else {}
