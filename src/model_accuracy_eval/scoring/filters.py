"""Replies → answers: a filter sees all replies of one problem at once, in their order, and gives answers.

Most read one reply at a time and stand in `extract`; those here choose among replies. None means "no answer found".
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import Problem, Step
from model_accuracy_eval.scoring import paths, patterns
from model_accuracy_eval.scoring.extract import EXTRACTORS

Answers = list[str | None]
Chooser = Callable[..., Answers]


def take_first(answers: Answers) -> Answers:
    """The first alone."""
    return answers[:1]


def take_first_k(answers: Answers, *, k: int) -> Answers:
    """The first k; fewer samples than that are refused."""
    if k > len(answers):
        raise BadValue(f"take_first_k takes {k} samples of every problem, but there are {len(answers)}.")
    return answers[:k]


def majority_vote(answers: Answers, *, skip_unread: bool = False) -> Answers:
    """The most frequent answer; of equally frequent ones the earliest. Unread replies vote too, unless told not to."""
    votes = [answer for answer in answers if answer is not None] if skip_unread else answers
    return [Counter(votes).most_common(1)[0][0]] if votes else [None]


CHOOSERS: dict[str, Chooser] = {
    "take_first": take_first,
    "take_first_k": take_first_k,
    "majority_vote": majority_vote,
}


def check(step: Step) -> None:
    """The name is in one of the tables, and has these arguments, or the run is refused before it starts."""
    name, args = _named(step)
    if paths.is_path(name):
        paths.load(name)
        return
    if name not in EXTRACTORS and name not in CHOOSERS:
        raise UnknownName("filter", name, [*EXTRACTORS, *CHOOSERS, "custom"])
    paths.check_arguments("filter", name, EXTRACTORS.get(name) or CHOOSERS[name], args)


def choose(steps: Sequence[Step]) -> bool:
    """Whether the number of answers may differ from the number of replies."""
    return any(step.name in CHOOSERS for step in steps)


def run(steps: Sequence[Step], replies: Answers, problem: Problem) -> Answers:
    """The answers after every step."""
    answers = replies
    for step in steps:
        name, args = _named(step)
        if name in CHOOSERS:
            answers = CHOOSERS[name](answers, **args)
        elif paths.is_path(name) and paths.takes(paths.load(name), ("resps", "docs")):
            answers = _list_wise(name, args, answers, problem)
        else:
            read = EXTRACTORS[name] if name in EXTRACTORS else paths.load(name)
            answers = [None if answer is None else read(answer, problem, **args) for answer in answers]
    return answers


def _named(step: Step) -> tuple[str, dict[str, Any]]:
    """`custom` says in `filter_fn` where its function stands."""
    if step.name != "custom":
        return step.name, step.args
    args = {name: value for name, value in step.args.items() if name != "filter_fn"}
    return str(step.args.get("filter_fn", "custom")), args


def _list_wise(name: str, args: dict[str, Any], answers: Answers, problem: Problem) -> Answers:
    """A function in lm-eval's form: replies of many problems → as many lists of answers. Where there is no reply it is
    not called."""
    if answers.count(None) == len(answers):
        return answers
    texts = ["" if answer is None else answer for answer in answers]
    (found,) = paths.load(name)(resps=[texts], docs=[problem.extras], **args)
    if len(found) != len(texts):
        raise BadValue(f"The filter '{name}' made {len(found)} answers of {len(texts)} replies; it may choose none.")
    return [None if answer in (None, patterns.INVALID) else str(answer) for answer in found]
