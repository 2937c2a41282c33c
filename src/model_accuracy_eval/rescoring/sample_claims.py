"""What a file says of each of its samples, and where that differs from our verdicts."""

from array import array
from collections.abc import Mapping, Sequence

from model_accuracy_eval.records import DatasetResult, Pipeline
from model_accuracy_eval.rescoring.disagreements import Disagreements, ProblemTitle
from model_accuracy_eval.rescoring.saved_replies import SavedReply

_ACCURACY = "correct"
"""The name of a value in files that have only one."""


class SampleClaims:
    """The values of all samples. The first metric's are kept one by one, to compare them with ours."""

    def __init__(self, pipelines: Sequence[Pipeline], n: int) -> None:
        self._first = pipelines[0]
        self._n = n
        self._values: dict[str, array[float]] = {}
        self.of_samples: dict[tuple[int, int], float] = {}
        self._titles: dict[int, ProblemTitle] = {}

    def add(self, reply: SavedReply, problem: int, index: int) -> None:
        for metric, value in reply.claimed.items():
            self._values.setdefault(self._row_name(metric, reply.filter), array("d")).append(value)
        if reply.filter in ("none", self._first.name):
            of_first = reply.claimed.get(self._first.metrics[0].name, reply.claimed.get(_ACCURACY))
            if of_first is not None:
                self.of_samples[problem, index] = of_first
                self._titles[problem] = ProblemTitle(reply.problem, " / ".join(reply.gold))

    def figures(self, others: Mapping[str, float], filter_name: str) -> dict[str, float]:
        """Their means. `others`: claimed figures of metrics that have no value for a sample."""
        means = {metric: 100 * sum(values) / len(values) for metric, values in self._values.items()}
        return {**{self._row_name(metric, filter_name): value for metric, value in others.items()}, **means}

    def disagreements(self, file: str, result: DatasetResult) -> Disagreements:
        """Where the first metric's values differ from ours."""
        return Disagreements(file, self._first.metrics[0].name, result, self.of_samples, self._titles)

    def _row_name(self, metric: str, filter_name: str) -> str:
        """The metric's name in our rows, or lm-eval's if no reading of ours has the name of its filter. Files that only
        say "correct" mean accuracy."""
        first = self._first.metrics[0]
        headline = first.label or first.name
        name = headline if metric in {_ACCURACY, first.name} else metric
        pipeline = self._first.name if filter_name == "none" else filter_name
        row_name = name if pipeline == "none" else f"{name},{pipeline}"
        return f"{row_name} ({self._n} runs average)" if self._n > 1 and name == headline else row_name
