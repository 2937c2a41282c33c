"""What is counted of a dataset's replies besides their verdicts: how they ended, how long they took and more."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import fsum

from msgspec import UNSET

from model_accuracy_eval.records import Attempt, PreparedDataset, RequestMethod, Speed, Spread, Usage
from model_accuracy_eval.records.exchange import DOES_NOT_FIT, GENERATING_METHODS
from model_accuracy_eval.scoring.answers import tools
from model_accuracy_eval.scoring.figures import intervals
from model_accuracy_eval.scoring.figures.notes import cropped
from model_accuracy_eval.scoring.figures.replica_statistics import PaceRecorder
from model_accuracy_eval.scoring.metrics import loglikelihood_methods

# Speed as the evaluation's own requests show it: time to first token, whole answer, gap between chunks, tokens.


class Stopwatch:
    """Collects the timings of samples. Tokens of a request count once, however many samples share it."""

    def __init__(self) -> None:
        self._ttft: list[float] = []
        self._e2e: list[float] = []
        self._gaps: list[float] = []
        self._usages: dict[str, Usage] = {}
        """Of the first sample of each request."""
        self._uncounted: set[str] = set()

    def add(self, attempt: Attempt) -> None:
        if attempt.timings is not None:
            self._e2e.append(attempt.timings.e2e)
            if attempt.timings.ttft is not None:
                self._ttft.append(attempt.timings.ttft)
            if attempt.timings.gap_mean is not None:
                self._gaps.append(attempt.timings.gap_mean)
            if attempt.usage is None or attempt.usage.completion_tokens is None:
                self._uncounted.add(attempt.request)
        if attempt.usage is not None:
            self._usages.setdefault(attempt.request, attempt.usage)

    def speed(self) -> Speed:
        completion_tokens = _total(usage.completion_tokens for usage in self._usages.values())
        return Speed(
            ttft=_spread(self._ttft),
            e2e=_spread(self._e2e),
            gap=_spread(self._gaps),
            prompt_tokens=_total(usage.prompt_tokens for usage in self._usages.values()),
            completion_tokens=completion_tokens,
            uncounted=len(self._uncounted) if self._uncounted and completion_tokens is not None else UNSET,
        )


def _total(counts: Iterable[int | None]) -> int | None:
    """None: none is known."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _spread(values: Sequence[float]) -> Spread | None:
    if not values:
        return None
    in_order = sorted(values)
    return Spread(
        mean=fsum(values) / len(values),
        p50=intervals.quantile(in_order, 0.5),
        p90=intervals.quantile(in_order, 0.9),
        p99=intervals.quantile(in_order, 0.99),
        maximum=in_order[-1],
    )


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


# What the service rejected, and what to do about it.


_ADVICE = "serve the model with a longer context, lower --max-tokens, or take a task with fewer or shorter examples"


def next_step(sentence: str) -> str:
    """What to do about a rejection, as a sentence; empty if its own sentence is all that is known."""
    return f" To do: {_ADVICE}." if sentence.startswith(DOES_NOT_FIT) else ""


def failure_notes(sentences: Sequence[str]) -> Iterator[str]:
    """Why samples failed; `sentences` has one for each."""
    if sentences:
        yield f"The first of {len(sentences)} failures: {sentences[0]}"


def notes(sentences: Sequence[str]) -> Iterator[str]:
    """Why samples were rejected; `sentences` has one for each."""
    too_long = [sentence for sentence in sentences if sentence.startswith(DOES_NOT_FIT)]
    other = [sentence for sentence in sentences if not sentence.startswith(DOES_NOT_FIT)]
    if too_long:
        yield (
            f"{len(too_long)} of the {len(sentences)} rejected samples are longer than the model's context: {_ADVICE}. "
            f"The first: {too_long[0]}"
        )
    if other:
        yield f"The first of {len(other)} rejections: {other[0]}"
