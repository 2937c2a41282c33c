"""The run folder, new or gone on with: replies to other questions, or of another model, are never mixed in."""

from pathlib import Path

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.ports import Ports, Store
from model_accuracy_eval.records import Exam, RunPlan, Service
from model_accuracy_eval.reporting import runfile
from model_accuracy_eval.stages.publish import MANIFEST, RUN_FILE


def open_folder(plan: RunPlan, exams: tuple[Exam, ...], ports: Ports) -> Store:
    """The folder of the run; one that is there already must hold the same questions."""
    folder = Path(plan.out) / plan.run_id
    store = ports.open_store(str(folder))
    kept = runfile.kept(store.read(RUN_FILE) or b"{}")
    for exam in exams:
        before = kept.get("datasets", {}).get(exam.task.name, {}).get("questions", exam.questions)
        if before != exam.questions:
            raise BadReuse(
                f"The questions of '{exam.task.name}' are not those of the run {plan.run_id}: "
                f"hash {before[:6]} then, {exam.questions[:6]} now. Its data or its prompt has changed."
            )
    if plan.mode == "eval" and not kept:
        raise BadReuse(f"{folder} holds no replies to judge: run it with --mode infer first.")
    store.remove(MANIFEST)
    return store


def note_service(plan: RunPlan, exams: tuple[Exam, ...], service: Service, store: Store, began: str) -> None:
    """Writes down who answers, before the first answer; another model than before is refused."""
    kept = runfile.kept(store.read(RUN_FILE) or b"{}")
    before = kept.get("model", service.model)
    if before != service.model:
        raise BadReuse(
            f"The run {plan.run_id} asked the model '{before}', but the service now serves '{service.model}'; "
            "replies of two models are not mixed."
        )
    store.write(RUN_FILE, runfile.started(plan, exams, service, began))


def kept_service(store: Store) -> Service | None:
    """Who answered the replies that are kept."""
    kept = runfile.kept(store.read(RUN_FILE) or b"{}")
    return Service(base_url=kept["endpoint"], model=kept.get("model")) if kept.get("endpoint") else None
