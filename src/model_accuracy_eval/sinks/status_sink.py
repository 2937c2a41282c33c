"""The status of the commit, by default only where a check cannot be opened."""

from typing import Annotated, Literal

from model_accuracy_eval.ports import Store
from model_accuracy_eval.ports.service import Published
from model_accuracy_eval.records import Outcome, Record, Report
from model_accuracy_eval.records.report import StatusState
from model_accuracy_eval.report.endings import CONCLUSIONS, outcome, title
from model_accuracy_eval.settings import about
from model_accuracy_eval.sinks.sink_parts import NAME, SinkParts


class StatusInputs(Record, frozen=True, kw_only=True):
    status: Annotated[
        Literal["auto", "true", "false"],
        about("Whether to set a commit status: `true`, `false` or `auto` (only if no check run could be created)."),
    ] = "auto"


class StatusSink:
    """Implements `ports.LiveSink`."""

    name = "status"

    def __init__(self, parts: SinkParts, inputs: StatusInputs) -> None:
        self._parts = parts
        self.inputs = inputs

    def begin(self, published: Published) -> Published:
        self._set("pending", "The evaluation is under way.", published)
        return published

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        self._set(CONCLUSIONS[outcome(result).conclusion].status, title(result, 140), published)
        return published

    def _set(self, state: StatusState, description: str, published: Published) -> None:
        context = self._parts.context
        no_check = any(failure.sink == "check" for failure in published.failures)
        if context.commit and (self.inputs.status == "true" or (self.inputs.status == "auto" and no_check)):
            self._parts.github.commit_status(
                context.repository,
                context.commit,
                state=state,
                context=f"{NAME} ({context.label})",
                description=description,
                target_url=context.run_url,
            )
