"""What a step shows and hands on: the figures in its log, the job summary, and its outputs."""

from pathlib import PurePath

import msgspec

from model_accuracy_eval.ports import Published, Store
from model_accuracy_eval.records import Outcome, Report
from model_accuracy_eval.report import comment, terminal
from model_accuracy_eval.report.endings import outcome
from model_accuracy_eval.run_folder import manifest
from model_accuracy_eval.run_folder.results import told
from model_accuracy_eval.scoring.verdicts.comparison_statistics import whole_figures
from model_accuracy_eval.sinks.publisher import ActionSink, NoInputs, manifest_digest


class StepLog(ActionSink[NoInputs]):
    """Implements `ports.Sink`."""

    name = "log"

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        if isinstance(result, Report):
            self._parts.step.say(terminal.as_text(result))
            if result.outcome.conclusion == "broken":
                self._parts.step.error(result.outcome.sentence, title="No verdict")
            if digest := manifest_digest(folder):
                self._parts.step.say(f"SHA-256 of {manifest.MANIFEST}: {digest}")
        elif result.models:
            self._parts.step.say("\n".join(f"{row.name}: {row.sentence}" for row in result.models))
        else:
            self._parts.step.error(result.sentence, title="No evaluation")
        return published


# The job summary, which also lists what could not be published.


class JobSummary(ActionSink[NoInputs]):
    """Implements `ports.Sink`."""

    name = "summary"

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        page = comment.as_summary(
            result,
            identity=self._parts.identity(result),
            links=self._parts.links(published),
        )
        failures = "".join(f"\n- {failure.sentence}" for failure in published.failures)
        self._parts.step.summary(f"{page}\n\nNot published everywhere:{failures}" if failures else page)
        return published


# The outputs of the step, and the run folder in the hands of later steps.


class StepOutputs(ActionSink[NoInputs]):
    """Implements `ports.Sink`."""

    name = "outputs"

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        ending, artifact, links = outcome(result), published.artifact, published.links
        values = {
            "conclusion": ending.conclusion,
            "exit-code": str(ending.exit_code),
            "commit": self._parts.context.adapter_commit or self._parts.context.commit,
            "report-path": self._from_workspace(ending.folder or ""),
            "summary-json": _summary_json(result),
            "artifact-id": (artifact.id if artifact else None) or "",
            "artifact-url": artifact.url if artifact else "",
            "artifact-digest": (artifact.digest if artifact else None) or "",
            "manifest-digest": manifest_digest(folder),
            "check-url": links.get("check", ""),
            "comment-url": links.get("comment", ""),
        }
        try:
            for name, value in values.items():
                self._parts.step.output(name, value)
        finally:
            if ending.folder:
                self._parts.step.give_back(ending.folder)
        return published

    def _from_workspace(self, folder: str) -> str:
        path, workspace = PurePath(folder), self._parts.context.workspace
        return str(path.relative_to(workspace)) if workspace and path.is_relative_to(workspace) else folder


def _summary_json(result: Report | Outcome) -> str:
    """The figures in one line: dataset → metric → value, and `bounds` → metric → limits where samples are lost.

    Figures of a part of a dataset, which was asked no further than its gates needed, are `estimates`. Of several
    models: what is known of each.
    """
    if isinstance(result, Outcome) and result.models:
        return msgspec.json.encode({row.name: row._asdict() for row in result.models}).decode()
    dataset_results = result.dataset_results if isinstance(result, Report) else ()
    values: dict[str, dict[str, object]] = {}
    for one in dataset_results:
        values[one.dataset] = {**whole_figures(one.rows)}
        if estimates := told((row for row in one.rows if row.estimated), "value"):
            values[one.dataset]["estimates"] = estimates
        if bounds := told(one.rows, "bounds"):
            values[one.dataset]["bounds"] = bounds
    return msgspec.json.encode(values).decode()
