"""Opens a run, and its data where a form needs them, for `export`, and writes the files."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from model_accuracy_eval import sample_export, wiring
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.ports import Ports, Store
from model_accuracy_eval.records import RunPlan, TableFile, TaskSpec
from model_accuracy_eval.reporting import journal, runfile
from model_accuracy_eval.reporting.exports import benchmark_entries, details, junit, lm_eval_results, model_card
from model_accuracy_eval.reporting.exports.exported_run import ExportedRun, NamedFile, exported_run
from model_accuracy_eval.reporting.exports.model_card import HubDataset
from model_accuracy_eval.reporting.runfile import RUN_FILE
from model_accuracy_eval.rerender import kept_report
from model_accuracy_eval.stages.ask_store import AskStore
from model_accuracy_eval.stages.preflight import prepared
from model_accuracy_eval.table_files.write_parquet import as_parquet
from model_accuracy_eval.wiring import plan_parts

FORMS: dict[str, Callable[[ExportedRun, Mapping[str, HubDataset]], Iterable[NamedFile]]] = {
    "junit": lambda run, _: junit.files(run),
    "model-card": model_card.files,
    "lm-eval": lambda run, _: lm_eval_results.files(run),
    "details": lambda run, _: ((table.name, as_parquet(table.rows)) for table in details.tables(run)),
    "github-action-benchmark": lambda run, _: benchmark_entries.files(run),
}
"""Forms that the run's own files are enough for."""


def exported(
    form: str,
    run: str,
    folder: str,
    environment: Mapping[str, str],
    *,
    data_dir: str | None = None,
    hub_datasets: Iterable[str] = (),
) -> Iterator[Path]:
    """Writes a run's files in this form; yields their paths."""
    if form not in FORMS:
        yield from _programs(form, run, folder, environment, data_dir)
        return
    hubs = model_card.parse(hub_datasets)
    archive = wiring.run_archive(run)
    for name, content in FORMS[form](exported_run(kept_report(archive), archive), hubs):
        yield _written(folder, name, content)


def _written(folder: str, name: str, content: bytes) -> Path:
    """A name may hold folders, made of names of models and datasets; none of them leads out of the folder."""
    path = Path(folder, *(part for part in name.split("/") if part.strip(".")))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise BadValue(f"{path} cannot be written: {error.strerror or error}.") from error
    return path


def _programs(form: str, run: str, folder: str, environment: Mapping[str, str], data_dir: str | None) -> Iterator[Path]:
    """The files of each dataset of the run that a code benchmark's own program has a place for."""
    store = wiring.run_folder(run)
    try:
        plan = plan_parts.saved(run)
        # The folder may be anybody's, so it does not say what may run.
        own = replace(plan.settings, trust_python=False, data_dir=data_dir or plan.settings.data_dir)
        plan = replace(plan, settings=own)
        tasks = [task for task in plan.tasks if sample_export.fits(form, task.name)]
        if not tasks:
            taken, has = ", ".join(sample_export.FORMS[form].datasets), ", ".join(task.name for task in plan.tasks)
            raise BadValue(f"{form} has files for {taken}, and the run has {has}.")
        ports = wiring.ports(plan, environment, wiring.signal_clock())
        for task in tasks:
            for name, text in _of_dataset(form, task, plan, store, ports):
                yield _written(folder, name, text.encode())
    finally:
        store.close()


def _of_dataset(form: str, task: TaskSpec, plan: RunPlan, store: Store, ports: Ports) -> Iterator[tuple[str, str]]:
    """The names and texts of its files."""
    dataset = prepared(task, plan, ports)
    attempts = map(journal.attempt, store.lines(journal.file(plan.settings.label, task.name)))
    samples = sample_export.judged_samples(
        dataset, attempts, plan.sampling.of(task).n, AskStore(plan, dataset, store).look_up,
        score_reasoning=plan.settings.score_reasoning,
    )  # fmt: skip
    data = ports.hub.read(task.data, plan.settings.data_dir).content
    data = Path(data.path).read_bytes() if isinstance(data, TableFile) else data
    finished = runfile.read(store.read(RUN_FILE), store.root).finished or ""
    facts = sample_export.RunFacts(finished[:16].replace("T", " "), hashlib.md5(data).hexdigest())  # noqa: S324 - its form
    return sample_export.files(form, dataset, samples, facts)
