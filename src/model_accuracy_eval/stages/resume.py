"""The run folder, new or resumed: it never mixes in replies to other questions or of another model."""

from pathlib import Path

from msgspec.structs import replace

from model_accuracy_eval.errors import BadReuse, EvalError
from model_accuracy_eval.ports import Ports, Store
from model_accuracy_eval.records import PreparedDataset, RunPlan, Service
from model_accuracy_eval.reporting import journal, runfile
from model_accuracy_eval.reporting.manifest import MANIFEST
from model_accuracy_eval.reporting.runfile import RUN_FILE
from model_accuracy_eval.reporting.sampling_changes import sampling_change, sampling_facts

_FACTS = ("adapter", "deploy.sh", "weights")


def open_folder(plan: RunPlan, datasets: tuple[PreparedDataset, ...], ports: Ports) -> Store:
    """Opens the folder of the run; one that is there already must hold the same questions."""
    folder = Path(plan.settings.out) / plan.run_id
    store = ports.open_store(str(folder))
    try:
        _check(plan, datasets, store)
        store.remove(MANIFEST)
    except EvalError:
        store.close()
        raise
    return store


def _check(plan: RunPlan, datasets: tuple[PreparedDataset, ...], store: Store) -> None:
    run = runfile.read_if_complete(store.read(RUN_FILE), store.root)
    for prepared in datasets:
        entry = run.datasets.get(prepared.task.name) if run else None
        if entry is not None and entry.questions != prepared.questions:
            raise BadReuse(
                f"The questions of '{prepared.task.name}' are not those of the run {plan.run_id}: "
                f"hash {entry.questions[:6]} then, {prepared.questions[:6]} now. Its data or its prompt has changed."
            )
    if plan.settings.mode == "eval" and run is None:
        folder = Path(plan.settings.out) / plan.run_id
        raise BadReuse(f"{folder} holds no replies to judge: run it with --mode infer first.")


def note_service(
    plan: RunPlan, datasets: tuple[PreparedDataset, ...], service: Service, store: Store, began: str
) -> Service:
    """Writes into `run.json` which service answers, before the first answer; refuses another model than before.

    Returns the service with what its earlier replies have shown. A run without replies has nothing to be mixed with.
    """
    journals = (journal.file(plan.settings.label, prepared.task.name) for prepared in datasets)
    answered = any(True for name in journals for _ in store.lines(name))
    run = runfile.read_if_complete(store.read(RUN_FILE), store.root) if answered else None
    if run is not None and run.model not in {None, service.model}:
        raise BadReuse(
            f"The run {plan.run_id} asked the model '{run.model}', but the service now serves '{service.model}'; "
            "replies of two models are not mixed."
        )
    if run is not None and (change := sampling_change(run.sampling_facts, sampling_facts(plan, service))):
        raise BadReuse(f"The run {plan.run_id} cannot go on, because its samples would be drawn in two ways. {change}")
    if run is not None and run.sends_finish_reasons:
        service = replace(service, sends_finish_reasons=True)
    store.write(RUN_FILE, runfile.started(plan, datasets, service, began))
    return service


def kept_service(store: Store) -> Service | None:
    """Returns the service that gave the replies in the folder."""
    run = runfile.read_if_complete(store.read(RUN_FILE), store.root)
    return run.service if run else None


def kept_facts(plan: RunPlan, store: Store) -> dict[str, str]:
    """What replies that are judged again are of: asking is over, so nobody else knows it any more."""
    run = runfile.read_if_complete(store.read(RUN_FILE), store.root) if plan.settings.mode == "eval" else None
    return {name: run.environment[name] for name in _FACTS if name in run.environment} if run else {}
