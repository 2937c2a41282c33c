"""The methods of measuring log-likelihoods, and which metrics each of them supports.

Log-likelihoods of given texts support every metric. Those of option letters show which option is chosen and how certain
that is, but nothing about the options' texts; a letter in a free answer shows only which option is chosen.
"""

from collections.abc import Iterator, Sequence
from math import inf

from model_accuracy_eval.records import Attempt, Loglikelihood, Problem, RequestMethod, TaskSpec
from model_accuracy_eval.scoring.answers.stated_letters import choice_letter
from model_accuracy_eval.scoring.filters.filters import strip_thoughts
from model_accuracy_eval.scoring.metrics.metric_table import METRICS, metric
from model_accuracy_eval.scoring.metrics.scorers import metric_uses

UNAVAILABLE = object()
"""In place of a value: the service cannot provide what this metric needs."""

_OF_CHOICE = frozenset({"acc", "f1", "mcc", "log_prob"})
_OF_PROBABILITY = _OF_CHOICE | {"brier_score", "choice_prob", "choice_logprob", "log_prob_mc2"}
_BY_LETTER: dict[RequestMethod, frozenset[str]] = {
    "top-logprobs": _OF_PROBABILITY,
    "constrained": _OF_CHOICE,
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
    if sample.method in ("constrained", "extracted"):
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
    "constrained": "Options have no log-likelihoods: the service was made to choose one of their letters.",
    "extracted": "Options have no log-likelihoods: a letter was read from each free answer.",
}


def notes(task: TaskSpec, method: RequestMethod, incomplete: int) -> Iterator[str]:
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
