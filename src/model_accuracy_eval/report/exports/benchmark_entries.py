"""What github-action-benchmark reads: `customBiggerIsBetter`, and `customSmallerIsBetter` for what should be low."""

from collections.abc import Iterable, Iterator

import msgspec

from model_accuracy_eval.records import SummaryRow
from model_accuracy_eval.report import figures
from model_accuracy_eval.report.exports.exported_run import JSON, ExportedRun, NamedFile, refuse_parts
from model_accuracy_eval.scoring.figures import intervals


def files(run: ExportedRun) -> Iterator[NamedFile]:
    """That action fails on an empty list, so a file without entries is not written."""
    refuse_parts(run, "in a chart beside those of whole runs")
    rows = [row for row in figures.all_rows(run.report) if row.value is not None]
    for name, chosen in {
        "custom-bigger-is-better.json": [row for row in rows if row.higher_is_better],
        "custom-smaller-is-better.json": [row for row in rows if not row.higher_is_better],
    }.items():
        if chosen:
            yield name, msgspec.json.format(msgspec.json.encode(list(_entries(chosen, run))), indent=2) + b"\n"


def _entries(rows: Iterable[SummaryRow], run: ExportedRun) -> Iterator[JSON]:
    """The label belongs to the name, so that two models are two lines of the chart; a version begins a new one."""
    for row in rows:
        entry: JSON = {
            "name": f"{row.dataset} {row.metric} [{run.report.plan.settings.label}, {row.version}]",
            "unit": "%" if row.share else row.metric,
            "value": row.value,
        }
        if row.certainty and row.value is not None:
            limits = intervals.limits(row.certainty, "reruns", 0.975)
            entry["range"] = f"± {max(row.value - limits.low, limits.high - row.value):.2f}"
        remarks = [f"model {run.model}", f"run {run.report.plan.run_id}", run.report.outcome.sentence]
        if row.bounds:
            remarks.append(f"{row.bounds.samples} samples have no verdict: {figures.range_of(row.bounds)}")
        yield entry | {"extra": "\n".join(remarks)}
