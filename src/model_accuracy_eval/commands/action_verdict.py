"""One verdict about all models that accuracy.yaml names, from the runs that their jobs have left."""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path

from model_accuracy_eval.errors import BadReuse, NoHonestScore
from model_accuracy_eval.records import Outcome
from model_accuracy_eval.records.report import ActionContext, ModelVerdict
from model_accuracy_eval.report import figures
from model_accuracy_eval.report.comment_sections import WORST_FIRST
from model_accuracy_eval.report.endings import CONCLUSIONS
from model_accuracy_eval.report.languages import say, with_gates
from model_accuracy_eval.run.accuracy_file import FILE
from model_accuracy_eval.run_folder import kept_run
from model_accuracy_eval.run_folder.run_archive import FolderArchive
from model_accuracy_eval.run_folder.runfile import RUN_FILE, RunFile
from model_accuracy_eval.sinks.publisher import manifest_digest

_FIGURES_SHOWN = 6


def label(evaluations: str) -> str:
    """What check and comment are called: of a part of what the file asks for, after the part."""
    first, *_ = json.loads(evaluations)
    return FILE + str(json.loads(first["settings"])["label"]).removeprefix(first["name"])


def judge(evaluations: str, folder: str, context: ActionContext) -> Outcome:
    """`evaluations`: what was to be evaluated, as the job that admitted has put it out. `folder`: of the artifacts."""
    runs = _runs(Path(folder), context)
    rows = []
    for each in json.loads(evaluations):
        run, manifest = runs.get(json.loads(each["settings"])["label"], (None, ""))
        if run is None or run.status == "running":  # which a run that was killed says
            sentence = "It has left no run that came to its end: its job says why."
            rows.append(ModelVerdict(each["name"], each["tier"], "broken", NoHonestScore.exit_code, "-", sentence))
        else:
            how = run.status, run.exit_code, _figures(run), with_gates(run.sentence, run.gates)
            rows.append(ModelVerdict(each["name"], each["tier"], *how, manifest))
    required = [row for row in rows if row.tier == "required"]
    worst = min(required, key=lambda row: WORST_FIRST.index(row.conclusion), default=None)
    ends = [(row, say(CONCLUSIONS[row.conclusion].words).lower()) for row in rows]
    told = (
        f"{row.name}: {say('{model} (advisory)', model=how) if row.tier == 'advisory' else how}" for row, how in ends
    )
    return Outcome(
        conclusion=worst.conclusion if worst else "complete",
        exit_code=worst.exit_code if worst else 0,
        stage="publish",
        sentence=f"{', '.join(told)}.",
        models=tuple(rows),
    )


def _runs(folder: Path, context: ActionContext) -> Mapping[str, tuple[RunFile, str]]:
    """The newest run of each label that is about this commit, if it is as it was left, with the hash of its manifest; a
    job that was run again leaves several."""
    found: dict[str, tuple[RunFile, str]] = {}
    for path in sorted(folder.rglob(RUN_FILE)):
        with contextlib.suppress(BadReuse):
            archive = FolderArchive(str(path.parent))
            run = kept_run.opened(archive).run()
            known = found.get(run.label)
            if run.identity.commit == context.adapter_commit and (known is None or known[0].started <= run.started):
                found[run.label] = run, manifest_digest(archive)
    return found


def _figures(run: RunFile) -> str:
    """The first one of each dataset."""
    told = []
    for name, dataset in run.datasets.items():
        for metric, value in [*(dataset.metrics or {}).items()][:1]:
            told.append(f"{name}: {metric} {'-' if value is None else figures.number(value)}")
    more = [f"{len(told) - _FIGURES_SHOWN} more"] if len(told) > _FIGURES_SHOWN else []
    return ", ".join([*told[:_FIGURES_SHOWN], *more]) or "-"
