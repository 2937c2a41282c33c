"""Replies → answers: a filter sees all replies of one problem at once, in their order, and gives answers.

Most read one reply at a time and stand in `extract`; those here choose among replies. None means "no answer found".
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import Problem, Step
from model_accuracy_eval.scoring.extract import EXTRACTORS

Answers = list[str | None]
Chooser = Callable[..., Answers]


def take_first(answers: Answers) -> Answers:
    """The first alone."""
    return answers[:1]


def take_first_k(answers: Answers, *, k: int) -> Answers:
    """The first k."""
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
    """The name is in one of the tables, or the run is refused before it starts."""
    if step.name not in EXTRACTORS and step.name not in CHOOSERS:
        raise UnknownName("filter", step.name, [*EXTRACTORS, *CHOOSERS])


def choose(steps: Sequence[Step]) -> bool:
    """Whether the number of answers may differ from the number of replies."""
    return any(step.name in CHOOSERS for step in steps)


def run(steps: Sequence[Step], replies: Answers, problem: Problem) -> Answers:
    """The answers after every step."""
    answers = replies
    for step in steps:
        if step.name in CHOOSERS:
            answers = CHOOSERS[step.name](answers, **step.args)
        else:
            read = partial(EXTRACTORS[step.name], problem=problem, **step.args)
            answers = [None if answer is None else read(answer) for answer in answers]
    return answers
