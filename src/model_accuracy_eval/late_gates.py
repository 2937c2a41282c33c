"""Gates that are given when a run has ended: decided on the figures in its folder, by the rules of `run`."""

import shlex
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from model_accuracy_eval import rerender
from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.ports import Archive, Store
from model_accuracy_eval.records import DatasetResult, Report, Settings, SummaryRow
from model_accuracy_eval.records.report import is_verdict
from model_accuracy_eval.run import outcome, previous_run, resolve
from model_accuracy_eval.run_folder import runfile, saved_plan
from model_accuracy_eval.run_folder.manifest import MANIFEST
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.verdicts import gate_lines, gates
from model_accuracy_eval.scoring.verdicts.gate_lines import Unit

_HINDSIGHT = {"gates": "given when the run had ended"}
"""Who chooses a line after having seen the figure has not been surprised by it: every report says so."""


def decide(kept: Report, values: Mapping[str, Any], open_archive: Callable[[str], Archive]) -> Report:
    """The report with the verdict of other gates; `values`: settings that are given now."""
    _check_figures(kept)
    rows = groups.all_rows(kept.plan.groups, kept.dataset_results)
    of_groups: dict[str, list[str]] = {}
    for row in rows:
        of_groups.setdefault(row.dataset, []).append(row.metric)
    units = {result.dataset: _units(result) for result in kept.dataset_results}
    settings = resolve.settings_with(kept.plan, values)
    _check_sizes(kept, settings)
    plan = resolve.gated(kept.plan, settings, units, of_groups)
    comparison = kept.comparison
    if "baseline" in values or any(gate.from_baseline for gate in plan.gates):
        versions = {result.dataset: result.version for result in kept.dataset_results}
        base = previous_run.baseline(plan, versions, open_archive)
        comparison = previous_run.against(base, plan, kept.service, kept.dataset_results) if base else None
    all_rows = [*(row for result in kept.dataset_results for row in result.rows), *rows]
    results = gates.results(plan, all_rows, comparison)
    return msgspec.structs.replace(
        kept,
        plan=plan,
        outcome=outcome.conclude(plan, None, results, kept.outcome.folder or "", kept.dataset_results),
        gates=results,
        comparison=comparison,
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


def _check_sizes(kept: Report, settings: Settings) -> None:
    """Refuses a pass@k or cons@k that the run has the samples for, but not the figure."""
    missing = sorted(gate_lines.sizes(gate.metric for gate in resolve.parsed(settings)) - set(kept.plan.k))
    if missing and missing[0] <= kept.plan.sampling.n:
        folder = kept.outcome.folder
        raise BadReuse(
            f"The run '{folder}' has no figures for k = {missing[0]}: have them computed and the gates decided by "
            f"run --mode eval --reuse {folder} --gate …."
        )


def _units(result: DatasetResult) -> dict[str, Unit]:
    counted = any(problem.c is not None for problem in result.problem_results)
    of_share: Unit = "verdict share" if counted else "share"
    return {row.metric: _unit(row, of_share) for row in result.rows}


def _unit(row: SummaryRow, of_share: Unit) -> Unit:
    is_share = row.share and not row.metric.startswith("centred ")
    if row.higher_is_better:
        return of_share if is_share else "number"
    return "falling share" if is_share else "falling number"


def write(report: Report, store: Store) -> list[str]:
    """Makes the verdict the run's own: its `run.json`, its plan and its pages; returns the names of the pages."""
    run = runfile.read(store.read(runfile.RUN_FILE), store.root)
    store.remove(MANIFEST)  # it comes back last: half of this is no whole run
    store.write(f"configs/{report.plan.stamp}_gated.py", saved_plan.dump(report.plan).encode())
    store.write(runfile.RUN_FILE, runfile.with_verdict(run, report))
    return rerender.rewrite(report, store)
