"""What is counted of a dataset's replies besides their verdicts: how they ended, how long they took and more."""

from collections import Counter
from collections.abc import Collection

from model_accuracy_eval.records import Attempt, PreparedDataset, RequestMethod
from model_accuracy_eval.records.exchange import GENERATING_METHODS
from model_accuracy_eval.scoring import loglikelihood_methods, tools
from model_accuracy_eval.scoring.notes import cropped
from model_accuracy_eval.scoring.replica_statistics import PaceRecorder
from model_accuracy_eval.scoring.speed import Stopwatch

_MODES: dict[RequestMethod, str] = {"chat": "gen", "text": "gen"}
"""AISBench's word for figures of generated texts; figures of log-likelihoods name their method instead."""


class ReplyTally:
    """One pass over the replies."""

    def __init__(self, prepared: PreparedDataset) -> None:
        self._prepared = prepared
        self._methods: Counter[RequestMethod] = Counter()
        self._without_letter = 0
        self._cropped: Counter[int] = Counter()
        self._texts_differ = self._several_texts = False
        self._reasoning_only = self._used_tools = self._unfinished = 0
        self.endings: Counter[str | None] = Counter()
        """Finish reasons of generated answers, but for those that a stop string may have given here."""
        self.stopwatch = Stopwatch()
        self.pace = PaceRecorder()

    def add(self, attempt: Attempt) -> None:
        self._methods[attempt.method] += 1
        self._without_letter += any(attempt.loglikelihoods) and None in attempt.loglikelihoods
        self._cropped.update({item.cropped_to for item in attempt.loglikelihoods if item and item.cropped_to})
        self._reasoning_only += not attempt.text.strip() and bool(attempt.reasoning.strip())
        self._used_tools += bool(attempt.rounds)
        self._unfinished += attempt.finish_reason == tools.UNFINISHED
        if attempt.method in GENERATING_METHODS and not (attempt.finish_reason == "stop" and self._prepared.task.stop):
            self.endings[attempt.finish_reason] += 1
        self.stopwatch.add(attempt)
        self.pace.add(attempt.replica, attempt.timings.gap_mean if attempt.timings else None)

    def add_problem(self, answered: Collection[Attempt]) -> None:
        """All samples of a problem that have an answer."""
        self._several_texts |= len(answered) > 1
        self._texts_differ |= len({hash((sample.text, sample.reasoning)) for sample in answered}) > 1

    @property
    def all_equal(self) -> bool:
        """Whether all samples of every problem have the same text, which means that sampling had no effect."""
        return self._several_texts and not self._texts_differ

    @property
    def mode(self) -> str:
        """How most samples were taken, in the words of the summary."""
        method: RequestMethod = next((most for most, _ in self._methods.most_common(1)), "chat")
        return _MODES.get(method, method)

    def counts(self) -> dict[str, int]:
        """Fields of `Counts`."""
        return {
            "reasoning_only": self._reasoning_only,
            "cropped": self._cropped.total(),
            "used_tools": self._used_tools,
            "unfinished": self._unfinished,
        }

    def loglikelihood_notes(self) -> tuple[str, ...]:
        """What a reader has to know about figures of log-likelihoods."""
        methods = [method for method, _ in self._methods.most_common() if method not in _MODES]
        tasks = [task for task in self._prepared.tasks if task.kind != "generate"]
        method_notes = (
            note
            for method in methods
            for task in tasks
            for note in loglikelihood_methods.notes(task, method, self._without_letter)
        )
        return (*cropped(self._cropped), *dict.fromkeys(method_notes))
