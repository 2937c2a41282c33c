"""The job summary, which also lists what could not be published."""

from model_accuracy_eval.ports import Store
from model_accuracy_eval.ports.service import Published
from model_accuracy_eval.records import Outcome, Report
from model_accuracy_eval.report import comment
from model_accuracy_eval.sinks.sink_parts import NoInputs, SinkParts


class JobSummary:
    """Implements `ports.Sink`."""

    name = "summary"

    def __init__(self, parts: SinkParts, inputs: NoInputs) -> None:
        self.inputs = inputs
        self._parts = parts

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        page = comment.as_summary(
            result,
            commit=self._parts.context.commit,
            links=self._parts.links(published),
        )
        failures = "".join(f"\n- {failure.sentence}" for failure in published.failures)
        self._parts.step.summary(f"{page}\n\nNot published everywhere:{failures}" if failures else page)
        return published
