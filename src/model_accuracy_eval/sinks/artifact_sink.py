"""The run folder as an artifact of the workflow run."""

import math
from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Meta

from model_accuracy_eval.ports import Published, Store
from model_accuracy_eval.records import Outcome, Record, Report
from model_accuracy_eval.report.endings import outcome
from model_accuracy_eval.settings import about
from model_accuracy_eval.sinks.publisher import ActionSink

_UPLOAD_AFTER_STOP, _LAST_SECOND = 4.0, 9.0
"""Seconds for the artifact, and for everything: the runner kills the step ten seconds after the stop."""


_NAME = r'^[^":<>|*?\r\n\\/]*\Z'
"""What GitHub takes."""


class ArtifactInputs(Record, frozen=True, kw_only=True):
    artifact_name: Annotated[
        Annotated[str, Meta(pattern=_NAME)],
        about("Name of the artifact that contains the run's folder; empty uploads nothing."),
    ] = "model-accuracy-eval"
    retention_days: Annotated[
        Annotated[int, Meta(ge=1, le=400)] | None,
        about("Days to keep the artifact; default: the repository's setting."),
    ] = None


class ArtifactSink(ActionSink[ArtifactInputs]):
    """Implements `ports.Sink`, for runs that were not stopped: comment and check show the artifact's link."""

    name = "artifact"
    _of_stopped_runs = False

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        name, ending, step = self.inputs.artifact_name, outcome(result), self._parts.step
        stopped = ending.conclusion == "stopped"
        if not name or ending.folder is None or stopped != self._of_stopped_runs:
            return published
        if self._parts.artifacts is None:
            sentence = "This runner names no artifact service, so the report stays in the run's folder on this machine."
            step.notice(sentence, title="Artifact")
            return published
        artifact = self._parts.artifacts.upload(
            name, ending.folder, retention_days=self.inputs.retention_days, left=self._seconds_left(stopped)
        )
        for note in artifact.notes:
            step.notice(note, title="Artifact")
        return msgspec.structs.replace(published.with_link(self.name, artifact.url), artifact=artifact)

    def _seconds_left(self, stopped: bool) -> Callable[[], float]:
        """Counts from the stop, which can still come while the upload is under way."""
        since_stop = self._parts.since_stop
        end = min(since_stop() + _UPLOAD_AFTER_STOP, _LAST_SECOND) if stopped else _UPLOAD_AFTER_STOP

        def left() -> float:
            seconds = since_stop()
            return end - seconds if seconds else math.inf

        return left


class LateArtifactSink(ArtifactSink):
    """The same for runs that were stopped: an upload may take longer than they have left, so it comes after comment
    and check."""

    _of_stopped_runs = True
