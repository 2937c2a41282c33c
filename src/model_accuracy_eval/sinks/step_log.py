"""The figures in the step's log, or why there are none."""

from model_accuracy_eval.ports import Store
from model_accuracy_eval.ports.service import Published
from model_accuracy_eval.records import Outcome, Report
from model_accuracy_eval.report import terminal
from model_accuracy_eval.run_folder import manifest
from model_accuracy_eval.sinks.sink_parts import NoInputs, SinkParts, manifest_digest


class StepLog:
    """Implements `ports.Sink`."""

    name = "log"

    def __init__(self, parts: SinkParts, inputs: NoInputs) -> None:
        self.inputs = inputs
        self._step = parts.step

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        if isinstance(result, Report):
            self._step.say(terminal.as_text(result))
            if result.outcome.conclusion == "broken":
                self._step.error(result.outcome.sentence, title="No verdict")
            if digest := manifest_digest(folder):
                self._step.say(f"SHA-256 of {manifest.MANIFEST}: {digest}")
        else:
            self._step.error(result.sentence, title="No evaluation")
        return published
