"""The report of a run that has ended, from the files in its folder; nobody is asked, no reply is judged."""

import shlex

import msgspec

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import Outcome, Report
from model_accuracy_eval.run_folder import manifest, results, runfile, saved_plan
from model_accuracy_eval.run_folder.runfile import RUN_FILE, RunFile


def read(store: Archive) -> Report:
    """Refuses files that are not as the run left them."""
    run = runfile.read(store.read(RUN_FILE), store.root)
    _check_untouched(store)
    return Report(
        plan=saved_plan.newest(store),
        outcome=_outcome(run, store.root),
        dataset_results=tuple(results.dataset_result(store, run.label, name) for name in run.judged),
        gates=tuple(entry.result() for entry in run.gates),
        comparison=run.comparison,
        service=run.service,
        seconds=run.seconds,
        tail_seconds=None if run.tail_seconds is msgspec.UNSET else run.tail_seconds,
        answered_before=run.answered_before or 0,
        started=run.started,
        finished=run.finished,
        environment=run.environment,
        replicas=run.replicas or (),
    )


def _check_untouched(store: Archive) -> None:
    """Refuses a folder whose figures may no longer belong to the replies beside them."""
    stated = store.read(manifest.MANIFEST)
    if stated is None:
        raise BadReuse(
            f"The run '{store.root}' did not come to its end: go on with it by --reuse {store.root}.",
            next_step=shlex.join(["model-accuracy-eval", "run", "--reuse", store.root]),
        )
    found = manifest.differences(manifest.parse(stated), store.names(), store.parts)
    for name in sorted(found.changed + found.missing):
        if name.startswith(("predictions/", "results/", "configs/")) or name == RUN_FILE:
            raise BadReuse(
                f"{name} is not what the run '{store.root}' left, so its figures cannot be shown again; "
                f"judge the replies again with --mode eval --reuse {store.root}.",
                next_step=shlex.join(["model-accuracy-eval", "run", "--mode", "eval", "--reuse", store.root]),
            )


def _outcome(run: RunFile, folder: str) -> Outcome:
    if run.status == "running":
        raise BadReuse(f"The run '{folder}' is still running, so there is no report of it.")
    return Outcome(
        conclusion=run.status,
        exit_code=run.exit_code,
        stage=run.stage,
        sentence=run.sentence,
        detail=run.detail,
        folder=folder,
    )
