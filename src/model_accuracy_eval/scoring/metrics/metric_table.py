"""The table of metrics: the name of each, what it reads, and what its figures mean."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from operator import itemgetter
from typing import Any

import msgspec

from model_accuracy_eval import extras
from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import (
    Attempt,
    Loglikelihood,
    MetricUse,
    Pipeline,
    Problem,
    Reading,
    RequestKind,
    RequestMethod,
    Step,
    SummaryRow,
    TaskSpec,
    Verdict,
)
from model_accuracy_eval.scoring.answers.letters import choice_letter
from model_accuracy_eval.scoring.figures.aggregations import TRANSLATION_METRICS
from model_accuracy_eval.scoring.filters import filters
from model_accuracy_eval.scoring.filters.filters import HASHES, strip_thoughts
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.asked_metrics import ASKED_METRICS, ask_for_grade, ask_judge
from model_accuracy_eval.scoring.metrics.exact import EXACT_METRICS
from model_accuracy_eval.scoring.metrics.exams import EXAM_METRICS
from model_accuracy_eval.scoring.metrics.ifeval_instructions import INSTRUCTION_METRICS
from model_accuracy_eval.scoring.metrics.likelihoods import LIKELIHOOD_METRICS
from model_accuracy_eval.scoring.metrics.metric_type import Metric, SampleValue
from model_accuracy_eval.scoring.metrics.texts import TEXT_METRICS
from model_accuracy_eval.scoring.metrics.user_functions import HUGGING_FACE, PAIR_METRICS, user_metric

__all__ = ["METRICS", "PARTS", "Metric", "SampleValue", "check", "metric"]

PARTS: tuple[dict[str, Metric], ...] = (
    EXACT_METRICS,
    TEXT_METRICS,
    TRANSLATION_METRICS,
    EXAM_METRICS,
    INSTRUCTION_METRICS,
    ASKED_METRICS,
    LIKELIHOOD_METRICS,
    PAIR_METRICS,
)
"""The metrics of each module, in the order in which they are shown."""
METRICS: dict[str, Metric] = {name: metric for part in PARTS for name, metric in part.items()}


def metric(name: str) -> Metric:
    """The metric with this name, or the one that a path leads to; an unknown name is refused with the nearest."""
    if user_functions.is_path(name):  # no name of the table is one
        return user_metric(name)
    try:
        return METRICS[name]
    except KeyError:
        raise UnknownName("metric", name, METRICS) from None


def check(use: MetricUse) -> None:
    """Refuses an unknown metric, unknown arguments, and a metric whose libraries are missing."""
    row = metric(use.name)
    user_functions.check_arguments("metric", use.name, row.asks or row.score, use.args)
    for library in row.needs:
        extras.load(library, needed_by=f"The metric '{use.name}'")


# Which filters and metrics a task has: its own, else its scorer's, else the defaults of its kind.
#
# A scorer is filters and metrics under one name. A pipeline with its own filters or metrics replaces them, never
# merges.


DEFAULT_METRICS: dict[RequestKind, tuple[MetricUse, ...]] = {
    "generate": (MetricUse(name="exact_match"),),
    "choice": (MetricUse(name="acc"), MetricUse(name="acc_norm")),
    "schema": (MetricUse(name="acc"),),
    "target": (MetricUse(name="perplexity"), MetricUse(name="acc")),
    "rolling": (
        MetricUse(name="word_perplexity"),
        MetricUse(name="byte_perplexity"),
        MetricUse(name="bits_per_byte"),
        MetricUse(name="perplexity"),
    ),
}

LOGLIKELIHOOD_NAMES = {"exact_match": "exact_match_mc"}
"""Metrics of texts whose name means another metric where options are compared by log-likelihood."""

_PLAIN_MATCH = (MetricUse(name="exact_match", args={"ignore_case": True, "ignore_punctuation": True}),)


def _plain_match(*filters: Step) -> Pipeline:
    return Pipeline(filters=filters, metrics=_PLAIN_MATCH)


def _regex(*, regex_pattern: str = HASHES, group_select: int = 0) -> Pipeline:
    return _plain_match(Step(name="regex", args={"regex_pattern": regex_pattern, "group_select": group_select}))


def _whole_reply(metric: str) -> Callable[..., Pipeline]:
    """A scorer that asks about the whole reply, unless the task's pipeline has its own filters."""

    def scorer(**args: Any) -> Pipeline:
        return Pipeline(filters=(Step(name="strip_thoughts"),), metrics=(MetricUse(name=metric, args=args),))

    return scorer


SCORERS: dict[str, Callable[..., Pipeline]] = {
    "generation": Pipeline,
    "loglikelihood": Pipeline,
    "choice_match": lambda: _plain_match(Step(name="choice_letter")),
    "first_token": lambda: _plain_match(Step(name="first_token")),
    "regex_extraction": _regex,
    "judge": _whole_reply("judge"),
    "judge_score": _whole_reply("judge_score"),
    "code": _whole_reply("code"),
}
CLASSES = {
    "GenScorer": "generation",
    "LLScorer": "loglikelihood",
    "ChoiceMatchScorer": "choice_match",
    "FirstTokenScorer": "first_token",
    "RegexExtractionScorer": "regex_extraction",
}
"""lm-eval's classes of scorers → their names here."""
SCORERS |= {"gen": SCORERS["generation"], "ll": SCORERS["loglikelihood"], "regex": SCORERS["regex_extraction"]}


def pipelines(task: TaskSpec) -> tuple[Pipeline, ...]:
    """All pipelines of the task, and of its parts, with their filters and metrics filled in; each once."""
    if task.parts:
        several = [pipeline for part in task.parts for pipeline in pipelines(part)]
        return tuple(pipeline for place, pipeline in enumerate(several) if pipeline not in several[:place])
    default = _pipeline_of_scorer(task.scorer)
    return tuple(
        Pipeline(
            name=own.name,
            turn=own.turn,
            filters=own.filters or default.filters,
            metrics=tuple(_for_kind(use, task.kind) for use in own.metrics or default.metrics)
            or DEFAULT_METRICS[task.kind],
            spoken=task.spoken,
        )
        for own in task.pipelines or (default,)
    )


def _for_kind(use: MetricUse, kind: RequestKind) -> MetricUse:
    name = LOGLIKELIHOOD_NAMES.get(use.name)
    if kind == "generate" or name is None:
        return use
    return msgspec.structs.replace(use, name=name, label=use.label or use.name)


def _pipeline_of_scorer(scorer: Step | None) -> Pipeline:
    if scorer is None:
        return Pipeline()
    if scorer.name in CLASSES:
        raise BadValue(f"The scorer {scorer.name} is called '{CLASSES[scorer.name]}' here.")
    if scorer.name not in SCORERS:
        raise UnknownName("scorer", scorer.name, SCORERS)
    make = SCORERS[scorer.name]
    if make is not Pipeline:
        user_functions.check_arguments("scorer", scorer.name, make, scorer.args)
    return make(**scorer.args)


def metric_uses(task: TaskSpec) -> Sequence[MetricUse]:
    """All metrics of all pipelines."""
    return [use for pipeline in pipelines(task) for use in pipeline.metrics]


def user_function_paths(task: TaskSpec) -> list[str]:
    """Paths of the task author's functions that judging would run."""
    names = [
        name
        for pipeline in pipelines(task)
        for name in (
            *(str(step.args.get("filter_fn", step.name)) for step in pipeline.filters),
            *(name for use in pipeline.metrics for name in (use.name, use.reduction, use.aggregation)),
        )
        if name
    ]
    return [name for name in names if user_functions.is_path(name) and not name.startswith(HUGGING_FACE)]


def needs_judge(task: TaskSpec) -> bool:
    """Whether a judge model has to be asked about the answers."""
    return any(metric(use.name).asks in {ask_judge, ask_for_grade} for use in metric_uses(task))


# What a task's other pipelines read in the same replies, compared with the first one.
#
# A score depends on how answers are read. Where a stricter or a looser reading is as defensible, a task has a pipeline
# for each, as lm-eval's tasks do (`strict-match`, `flexible-extract`), and a report says how often they differ.


class ReadingCounter(msgspec.Struct):
    """Counts the replies of one dataset that one of its other pipelines reads otherwise."""

    pipeline: str
    metric: str
    answers: int = 0
    more: int = 0
    fewer: int = 0
    different: int = 0
    examples: list[tuple[int, str]] = []
    """With their problems, by which they are chosen: in which order replies come changes no report."""

    def add(self, first: Sequence[Verdict], other: Sequence[Verdict], problem: Problem) -> None:
        for one, two in zip(first, other, strict=True):
            is_full = len(self.examples) == _EXAMPLES and self.examples[-1][0] <= problem.id
            if (one.value or 0.0) != (two.value or 0.0) and not is_full:
                name = "/".join(problem.key) or str(problem.id)
                said = f"problem {name} as {_quoted(one.answer)} or {_quoted(two.answer)}"
                self.examples = sorted([*self.examples, (problem.id, said)], key=itemgetter(0))[:_EXAMPLES]
            self.answers += one.answer is not None
            self.more += one.answer is None and two.answer is not None
            self.fewer += one.answer is not None and two.answer is None
            self.different += None not in {one.answer, two.answer} and one.answer != two.answer

    def reading(self) -> Reading:
        return Reading(**msgspec.structs.asdict(self) | {"examples": tuple(said for _, said in self.examples)})


def reads_otherwise(first: Pipeline, other: Pipeline) -> bool:
    """Whether the filters that read single replies differ; filters that choose among samples read nothing, and other
    turns are other replies."""
    reading = [[step for step in pipeline.filters if not filters.choose([step])] for pipeline in (first, other)]
    return first.turn == other.turn and reading[0] != reading[1]


def reading_notes(readings: Sequence[Reading], rows: Sequence[SummaryRow]) -> Iterator[str]:
    """One sentence for each reading that differs, with the figure that it gives; and examples, where these are far
    apart."""
    values = {row.metric: row.value for row in rows}
    for reading in readings:
        if reading.more or reading.fewer or reading.different:
            yield (
                f"The first reading finds an answer in {reading.answers:,} replies; '{reading.pipeline}' finds one in "
                f"{reading.more:,} more and {reading.fewer:,} fewer, and a different one in {reading.different:,}: "
                f"{_figure(rows[0].metric, values)}, {_figure(reading.metric, values)}."
                f"{_far_apart(rows[0].metric, reading, values)}"
            )


_EXAMPLES = 3
_POINTS = 2.0
"""Two readings that differ by more want a look at the replies."""
_QUOTED = 40


def _far_apart(metric: str, reading: Reading, values: Mapping[str, float | None]) -> str:
    one, other = values.get(metric), values.get(reading.metric)
    if one is None or other is None or abs(one - other) <= _POINTS or not reading.examples:
        return ""
    return f" That is {abs(one - other):.2f} points; they read {'; '.join(reading.examples)}."


def _quoted(answer: str | None) -> str:
    return "nothing" if answer is None else f"'{' '.join(answer.split())[:_QUOTED]}'"


def _figure(metric: str, values: Mapping[str, float | None]) -> str:
    value = values.get(metric)
    return f"{metric} is unknown" if value is None else f"{metric} is {value:.2f}"


# The methods of measuring log-likelihoods, and which metrics each of them supports.
#
# Log-likelihoods of given texts support every metric. Those of option letters show which option is chosen and how
# certain that is, but nothing about the options' texts; a letter in a free answer shows only which option is chosen.


UNAVAILABLE = object()
"""In place of a value: the service cannot provide what this metric needs."""

_OF_CHOICE = frozenset({"acc", "f1", "mcc", "log_prob"})
_OF_PROBABILITY = _OF_CHOICE | {"brier_score", "choice_prob", "choice_logprob", "log_prob_mc2"}
_BY_LETTER: dict[RequestMethod, frozenset[str]] = {
    "top-logprobs": _OF_PROBABILITY,
    "extracted": _OF_CHOICE,
}
_LETTERS = 26


def supports(method: RequestMethod, name: str) -> bool:
    """Whether the method provides what a metric of log-likelihoods needs."""
    return method not in _BY_LETTER or name in _BY_LETTER[method]


def unsupported_metrics(method: RequestMethod) -> tuple[str, ...]:
    """All metrics of log-likelihoods that the method does not support."""
    return tuple(name for name, each in METRICS.items() if each.reads == "likelihoods" and not supports(method, name))


def unavailable_metrics(task: TaskSpec, method: RequestMethod) -> tuple[str, ...]:
    """The metrics of a task that the method does not support."""
    if method not in _BY_LETTER:
        return ()
    has_letters = task.kind == "choice" and task.boundary == "context"
    names = [use.name for use in metric_uses(task) if metric(use.name).reads == "likelihoods"]
    return tuple(dict.fromkeys(name for name in names if not has_letters or not supports(method, name)))


def too_many_options(problem: Problem, method: RequestMethod) -> bool:
    """Whether there are more options than letters."""
    return method in _BY_LETTER and len(problem.choices) > _LETTERS


def option_loglikelihoods(sample: Attempt, problem: Problem) -> tuple[Loglikelihood, ...] | None:
    """The log-likelihood of every option; None if nothing is known of any.

    A letter that is not among the top tokens is the least likely; if one letter was chosen, all others are.
    """
    if sample.method == "extracted":
        answer = strip_thoughts(sample.text, problem)
        letter = choice_letter(answer, problem) if answer else None
        places = range(len(problem.choices))
        logprobs = [0.0 if letter == chr(ord("A") + place) else -inf for place in places]
        return tuple(Loglikelihood(logprob=logprob) for logprob in logprobs) if letter else None
    if not any(sample.loglikelihoods):
        return None
    return tuple(option or Loglikelihood(logprob=-inf) for option in sample.loglikelihoods)


_METHOD_NOTES: dict[RequestMethod, str] = {
    "top-logprobs": "Options were compared by their letters as first tokens of an answer, not by their texts.",
    "extracted": "Options have no log-likelihoods: a letter was read from each free answer.",
}


def method_notes(task: TaskSpec, method: RequestMethod, incomplete: int) -> Iterator[str]:
    """What a reader of the figures must know. `incomplete`: samples where a letter was not among the top tokens."""
    if method in _METHOD_NOTES:
        yield _METHOD_NOTES[method]
    if missing := unavailable_metrics(task, method):
        yield unavailable_note(missing)
    if incomplete:
        samples = "sample" if incomplete == 1 else "samples"
        yield f"In {incomplete} {samples} a letter is not among the top tokens; it counts as the least likely."


def unavailable_note(names: Sequence[str]) -> str:
    """Why these metrics are unknown."""
    verb, pronoun = ("is", "it needs") if len(names) == 1 else ("are", "they need")
    return (
        f"{', '.join(names)} {verb} unknown: {pronoun} log-likelihoods of given texts, which the service does not give."
    )
