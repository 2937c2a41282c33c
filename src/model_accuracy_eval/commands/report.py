"""`report`: the pages of a run that has ended, its verdict by other gates, and its files for other programs."""

import contextlib
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from model_accuracy_eval.commands.options import (
    GATE_SETTINGS,
    given_settings,
    setting_options,
    told,
    unverified_option,
    write,
)
from model_accuracy_eval.diagnosis import odd_replies
from model_accuracy_eval.errors import BadReuse, BadValue, UsageError
from model_accuracy_eval.ports import Archive, Store
from model_accuracy_eval.records import DatasetResult, Report
from model_accuracy_eval.records.report import is_verdict
from model_accuracy_eval.report import comparison, exports, lm_eval_results, model_card, terminal
from model_accuracy_eval.report.exports import ExportedRun, NamedFile, exported_run
from model_accuracy_eval.report.model_card import HubDataset
from model_accuracy_eval.run import outcome, previous_run, resolve, setting_values
from model_accuracy_eval.run_folder import journal, kept_run, runfile, saved_plan
from model_accuracy_eval.run_folder.kept_run import KeptRun
from model_accuracy_eval.run_folder.manifest import MANIFEST
from model_accuracy_eval.run_folder.run_archive import open_archive
from model_accuracy_eval.run_folder.run_folder import reopened
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.verdicts import gate_lines, gates
from model_accuracy_eval.scoring.verdicts.gate_lines import Unit
from model_accuracy_eval.sinks import run_files

FORMS: Mapping[str, Callable[[ExportedRun, Mapping[str, HubDataset]], Iterable[NamedFile]]] = {
    "junit": lambda run, _: exports.junit(run),
    "model-card": model_card.model_card,
    "lm-eval": lambda run, _: lm_eval_results.files(run),
    "benchmark-action": lambda run, _: exports.benchmark_entries(run),
}


@click.command()
@click.argument("run")
@click.option(
    "--as", "forms", multiple=True, type=click.Choice(list(FORMS)), help="Write these files instead; can be repeated."
)
@click.option("--into", metavar="FOLDER", default=".", show_default=True, help="Where files of --as are written.")
@click.option(
    "--hub-dataset",
    "hub_datasets",
    multiple=True,
    metavar="NAME=OWNER/DATASET[:TASK]",
    help="For model-card: where a dataset's leaderboard is on Hugging Face, if its rows did not come from there.",
)
@unverified_option
@setting_options((*GATE_SETTINGS, "baseline"))
def report(
    run: str, forms: tuple[str, ...], into: str, hub_datasets: tuple[str, ...], *, unverified: bool, **values: Any
) -> None:
    """Render a run's summary and page again from what its folder holds; nobody is asked, no reply is judged.

    With --gate, the figures are held against these gates: the verdict is the run's from then on, and the exit code.

    With --as, a run, which may be a zip of one, is written as other programs write or read it. junit: what CI servers
    show as tests. model-card: figures for Hugging Face. lm-eval: its results and samples. benchmark-action: entries of
    github-action-benchmark's chart.
    """
    given = given_settings(values)
    if forms:
        if given:
            raise UsageError("--as writes a run as it is: decide about its gates first, with a report of its own.")
        kept = told(kept_run.opened(open_archive(run), unverified=unverified))
        for path in _exported(kept, forms, into, hub_datasets):
            click.echo(str(path))
        return
    with contextlib.closing(reopened(run)) as store:
        whole = odd_replies.report_looked_at(told(kept_run.opened(store, unverified=unverified)).report(), store.lines)
        verdict = with_gates(whole, given, open_archive, unverified=unverified) if given else None
        if verdict is not None and (understood := resolve.understood(verdict.plan)):
            click.echo(understood, err=True)
        names = write_verdict(verdict, store) if verdict else render(whole, store, store.read(MANIFEST))
        click.echo("\n".join(f"{store.root}/{name}" for name in names))
    if verdict is not None:
        remarks = comparison.run_remarks(verdict.comparison) if verdict.comparison else ()
        click.echo("\n".join([*remarks, *terminal.verdict(verdict)]))
        sys.exit(verdict.outcome.exit_code)


def render(kept: Report, store: Store, stated: bytes | None, written: Iterable[str] = ()) -> list[str]:
    """Writes the summary and the page into the folder that the report was read from; returns their names.

    They are the same, byte by byte, with one exception: where a task was asked as one text with solved examples, the
    page shows all of that text as the question, since the journal has nothing else.
    """
    label = kept.plan.settings.label
    questions = {
        result.dataset: journal.questions(store.lines, label, result.dataset) for result in kept.dataset_results
    }
    return run_files.rewrite(kept, questions, store, stated, written)


def _exported(kept: KeptRun, forms: Iterable[str], folder: str, hub_datasets: Iterable[str]) -> Iterator[Path]:
    """Writes a run's files in these forms; yields their paths."""
    hubs = model_card.parse_hub_datasets(hub_datasets)
    exported = exported_run(kept.report(), kept.archive)
    for name, content in (file for form in forms for file in FORMS[form](exported, hubs)):
        # A name may hold folders, made of names of models and datasets; none of them leads out of the folder.
        path = Path(folder, *(part for part in name.split("/") if part.strip(".")))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadValue(f"{path} cannot be written: {error.strerror or error}.") from error
        write(path, content)
        yield path


# Gates that are given when a run has ended: decided on the figures in its folder, by the rules of `run`.


_HINDSIGHT = {"gates": "given when the run had ended"}
"""Who chooses a line after having seen the figure has not been surprised by it: every report says so."""


def with_gates(
    kept: Report,
    values: Mapping[str, Any],
    open_archive: Callable[[str], Archive],
    *,
    unverified: bool | None = None,
) -> Report:
    """The report with the verdict of other gates; `values`: settings that are given now."""
    _check_figures(kept)
    rows = groups.all_rows(kept.plan.groups, kept.dataset_results)
    of_groups: dict[str, list[str]] = {}
    for row in rows:
        of_groups.setdefault(row.dataset, []).append(row.metric)
    units = {result.dataset: _units(result) for result in kept.dataset_results}
    settings = kept.plan.with_settings(**setting_values.read(values, "the arguments")).settings
    missing = sorted(gate_lines.sizes(gate.metric for gate in resolve.parsed(settings)) - set(kept.plan.k))
    if missing and missing[0] <= kept.plan.sampling.n:
        folder = kept.outcome.folder
        raise BadReuse(
            f"The run '{folder}' has no figures for k = {missing[0]}: have them computed and the gates decided by "
            f"run --mode eval --reuse {folder} --gate …."
        )
    plan = resolve.gated(kept.plan, settings, units, of_groups)
    compared = kept.comparison
    if "baseline" in values or any(gate.from_baseline for gate in plan.gates):
        versions = {result.dataset: result.version for result in kept.dataset_results}
        base = previous_run.baseline(plan, versions, open_archive, unverified=unverified)
        compared = None
        if base is not None:
            compared = previous_run.against(base, plan, kept.service, kept.dataset_results, speed=kept.speed)
    results = kept.dataset_results
    all_rows = [*(row for result in results for row in result.rows), *rows, *gates.of_counts(results)]
    decided = gates.results(plan, all_rows, compared, speed=kept.speed)
    return msgspec.structs.replace(
        kept,
        plan=plan,
        outcome=outcome.conclude(
            plan, None, decided, kept.outcome.folder or "", results, compared=compared, service=kept.service
        ),
        gates=decided,
        comparison=compared,
        environment={**kept.environment, **_HINDSIGHT},
    )


def _check_figures(kept: Report) -> None:
    folder, ending = kept.outcome.folder, kept.outcome
    early = next((result for result in kept.dataset_results if result.part and result.part.estimated), None)
    if early is not None and early.part is not None:
        raise BadReuse(
            f"The gates of '{folder}' were decided after {early.part.share} of the requests for {early.dataset}, so it "
            f"has no figures that another gate could be decided on: run --reuse {folder} asks for the rest.",
            next_step=shlex.join(["model-accuracy-eval", "run", "--reuse", str(folder)]),
        )
    if kept.plan.shard is not None:
        raise BadReuse(f"'{folder}' is the shard {kept.plan.shard}: its gates are decided by `merge … --gate …`.")
    if not is_verdict(ending.conclusion) or not kept.dataset_results:
        raise BadReuse(
            f"The run '{folder}' ended as {ending.conclusion} and has no figures that a gate could be decided on "
            f"(exit code {ending.exit_code}): go on with it by --reuse {folder}.",
            next_step=shlex.join(["model-accuracy-eval", "run", "--reuse", str(folder)]),
        )


def _units(result: DatasetResult) -> dict[str, Unit]:
    counted = any(problem.c is not None for problem in result.problem_results)
    units: dict[str, Unit] = {}
    for row in result.rows:
        if row.share and not row.metric.startswith("centred "):
            units[row.metric] = "falling share" if not row.higher_is_better else "verdict share" if counted else "share"
        else:
            units[row.metric] = "number" if row.higher_is_better else "falling number"
    return units


def write_verdict(report: Report, store: Store) -> list[str]:
    """Makes the verdict the run's own: its `run.json`, its plan and its pages; returns the names of the pages."""
    run = runfile.read(store.read(runfile.RUN_FILE), store.root)
    stated, config = store.read(MANIFEST), f"configs/{report.plan.stamp}_gated.py"
    store.remove(MANIFEST)  # it comes back last: half of this is no whole run
    store.write(config, saved_plan.dump(report.plan).encode())
    store.write(runfile.RUN_FILE, runfile.with_verdict(run, report))
    return render(report, store, stated, [config, runfile.RUN_FILE])
