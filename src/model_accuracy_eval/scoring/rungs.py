"""What each way of weighing tells, and so which metrics can be had of it.

Log-probabilities of given texts serve every metric. Those of letters say which option is chosen and how sure that is,
but nothing about the options' texts; an answer that is a letter says which option is chosen and no more.
"""

from collections.abc import Iterator, Sequence
from math import inf

from model_accuracy_eval.records import Attempt, Likelihood, Problem, Rung, TaskSpec
from model_accuracy_eval.scoring.extract import choice_letter, strip_thoughts
from model_accuracy_eval.scoring.metrics import metric
from model_accuracy_eval.scoring.scorers import measures

UNTOLD = object()
"""In place of a value: the service cannot tell what this metric is about, whatever it answers."""

_CHOSEN = frozenset({"acc", "f1", "mcc", "log_prob"})
_SURE = _CHOSEN | {"brier_score", "choice_prob", "choice_logprob", "log_prob_mc2"}
_BY_LETTER: dict[Rung, frozenset[str]] = {"top-logprobs": _SURE, "constrained": _CHOSEN, "extracted": _CHOSEN}
_LETTERS = 26


def tells(rung: Rung, name: str) -> bool:
    """Whether a metric of likelihoods can be had of what was weighed in this way."""
    return rung not in _BY_LETTER or name in _BY_LETTER[rung]


def untold(task: TaskSpec, rung: Rung) -> tuple[str, ...]:
    """The metrics of a task that cannot be had."""
    if rung not in _BY_LETTER:
        return ()
    lettered = task.kind == "choice" and task.boundary == "context"
    names = [measure.name for measure in measures(task) if metric(measure.name).reads == "likelihoods"]
    return tuple(dict.fromkeys(name for name in names if not lettered or not tells(rung, name)))


def too_many(problem: Problem, rung: Rung) -> bool:
    """Whether there are more options than letters."""
    return rung in _BY_LETTER and len(problem.choices) > _LETTERS


def weighed(sample: Attempt, problem: Problem) -> tuple[Likelihood, ...] | None:
    """What is known about every option; None where nothing is known of any.

    A letter that is not among the likeliest tokens is the least likely one; where one was chosen, all others are.
    """
    if sample.rung in ("constrained", "extracted"):
        answer = strip_thoughts(sample.text, problem)
        letter = choice_letter(answer, problem) if answer else None
        places = range(len(problem.choices))
        logprobs = [0.0 if letter == chr(ord("A") + place) else -inf for place in places]
        return tuple(Likelihood(logprob=logprob) for logprob in logprobs) if letter else None
    if not any(sample.weighed):
        return None
    return tuple(one or Likelihood(logprob=-inf) for one in sample.weighed)


_TOLD: dict[Rung, str] = {
    "top-logprobs": "Options were weighed by their letters as first tokens of an answer, not by their texts.",
    "constrained": "Options were not weighed: the service was left their letters to choose one of.",
    "extracted": "Options were not weighed: a letter was read out of each free answer.",
}


def notes(task: TaskSpec, rung: Rung, unseen: int) -> Iterator[str]:
    """What a reader of figures has to know. `unseen`: samples in which some letter was not among the likeliest."""
    if rung in _TOLD:
        yield _TOLD[rung]
    if missing := untold(task, rung):
        yield lacking(missing)
    if unseen:
        samples = "sample" if unseen == 1 else "samples"
        yield f"In {unseen} {samples} a letter is not among the likeliest tokens told; it counts as the least likely."


def lacking(names: Sequence[str]) -> str:
    """Why these metrics are not to be had."""
    verb, pronoun = ("is", "it needs") if len(names) == 1 else ("are", "they need")
    needs = f"{pronoun} log-probabilities of given texts, which the service does not tell"
    return f"{', '.join(names)} {verb} unknown: {needs}."
