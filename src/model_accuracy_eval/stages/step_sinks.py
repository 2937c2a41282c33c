"""The sinks of the workflow's own step: its log, the artifact, the job summary, and the outputs for later steps."""

import math
from collections.abc import Callable
from pathlib import PurePath

import msgspec

from model_accuracy_eval.ports import Store
from model_accuracy_eval.ports.action_ports import ActionContext, ArtifactStore, RunnerStep
from model_accuracy_eval.ports.service import Published
from model_accuracy_eval.records import Outcome, Report
from model_accuracy_eval.report import comment, comment_figures, terminal
from model_accuracy_eval.report.endings import outcome
from model_accuracy_eval.run_folder import manifest
from model_accuracy_eval.run_folder.results import bounds_of, estimates_of
from model_accuracy_eval.scoring.verdicts.comparison_statistics import whole_figures
from model_accuracy_eval.stages.github_sinks import page_links

_UPLOAD_AFTER_STOP, _LAST_SECOND = 4.0, 9.0
"""Seconds for the artifact, and for everything: the runner kills the step ten seconds after the stop."""


class LogSink:
    """Implements `ports.sink.Sink`: the figures in the step's log, or why there are none."""

    name = "log"

    def __init__(self, step: RunnerStep) -> None:
        self._step = step

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        if isinstance(result, Report):
            self._step.say(terminal.as_text(result))
            if result.outcome.conclusion == "broken":
                self._step.error(result.outcome.sentence, title="No verdict")
            if digest := _manifest_digest(folder):
                self._step.say(f"SHA-256 of {manifest.MANIFEST}: {digest}")
        else:
            self._step.error(result.sentence, title="No evaluation")
        return published


class ArtifactSink:
    """Implements `ports.sink.Sink`: the run folder as an artifact of the workflow run.

    An upload may take longer than a stopped run has left. So the list of sinks has two of these: one early, for runs
    that were not stopped, whose link the comment and the check show, and one after those, for runs that were.
    """

    name = "artifact"

    def __init__(
        self,
        context: ActionContext,
        artifacts: ArtifactStore | None,
        step: RunnerStep,
        since_stop: Callable[[], float],
        *,
        of_stopped_runs: bool,
    ) -> None:
        self._context = context
        self._artifacts = artifacts
        self._step = step
        self._since_stop = since_stop
        self._of_stopped_runs = of_stopped_runs

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        context, ending = self._context, outcome(result)
        if not context.artifact_name or ending.folder is None:
            return published
        if self._of_stopped_runs != (ending.conclusion == "stopped"):
            return published
        if self._artifacts is None:
            sentence = "This runner names no artifact service, so the report stays in the run's folder on this machine."
            self._step.notice(sentence, title="Artifact")
            return published
        artifact = self._artifacts.upload(
            context.artifact_name,
            ending.folder,
            retention_days=context.retention_days,
            left=self._seconds_left(ending.conclusion == "stopped"),
        )
        for note in artifact.notes:
            self._step.notice(note, title="Artifact")
        return msgspec.structs.replace(published.with_link(self.name, artifact.url), artifact=artifact)

    def _seconds_left(self, stopped: bool) -> Callable[[], float]:
        """Counts from the stop, which can still come while the upload is under way."""
        end = min(self._since_stop() + _UPLOAD_AFTER_STOP, _LAST_SECOND) if stopped else _UPLOAD_AFTER_STOP

        def left() -> float:
            seconds = self._since_stop()
            return end - seconds if seconds else math.inf

        return left


class SummarySink:
    """Implements `ports.sink.Sink`: the job summary, which also lists what could not be published."""

    name = "summary"

    def __init__(self, context: ActionContext, step: RunnerStep) -> None:
        self._context = context
        self._step = step

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        page = comment.as_summary(
            result,
            commit=self._context.commit,
            links=page_links(self._context, published),
            before=comment_figures.read(published.previous_comment),
        )
        failures = "".join(f"\n- {failure.sentence}" for failure in published.failures)
        self._step.summary(f"{page}\n\nNot published everywhere:{failures}" if failures else page)
        return published


class OutputsSink:
    """Implements `ports.sink.Sink`: the outputs of the step, and the run folder in the hands of later steps."""

    name = "outputs"

    def __init__(self, context: ActionContext, step: RunnerStep) -> None:
        self._context = context
        self._step = step

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        ending, artifact, links = outcome(result), published.artifact, published.links
        values = {
            "conclusion": ending.conclusion,
            "exit-code": str(ending.exit_code),
            "commit": self._context.adapter_commit or self._context.commit,
            "report-path": self._from_workspace(ending.folder or ""),
            "summary-json": _summary_json(result),
            "artifact-id": (artifact.id if artifact else None) or "",
            "artifact-url": artifact.url if artifact else "",
            "artifact-digest": (artifact.digest if artifact else None) or "",
            "manifest-digest": _manifest_digest(folder),
            "check-url": links.get("check", ""),
            "comment-url": links.get("comment", ""),
        }
        try:
            for name, value in values.items():
                self._step.output(name, value)
        finally:
            if ending.folder:
                self._step.give_back(ending.folder)
        return published

    def _from_workspace(self, folder: str) -> str:
        path, workspace = PurePath(folder), self._context.workspace
        return str(path.relative_to(workspace)) if workspace and path.is_relative_to(workspace) else folder


def _manifest_digest(folder: Store | None) -> str:
    """What stands for every file of the run; empty if the run left no manifest."""
    stated = folder.read(manifest.MANIFEST) if folder is not None else None
    return "" if stated is None else manifest.digest(stated)


def _summary_json(result: Report | Outcome) -> str:
    """The figures in one line: dataset → metric → value, and `bounds` → metric → limits where samples are lost.

    Figures of a part of a dataset, which was asked no further than its gates needed, are `estimates`.
    """
    dataset_results = result.dataset_results if isinstance(result, Report) else ()
    values: dict[str, dict[str, object]] = {}
    for one in dataset_results:
        values[one.dataset] = {**whole_figures(one.rows)}
        if estimates := estimates_of(one.rows):
            values[one.dataset]["estimates"] = estimates
        if bounds := bounds_of(one.rows):
            values[one.dataset]["bounds"] = bounds
    return msgspec.json.encode(values).decode()
