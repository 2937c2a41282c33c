"""Conversations of several turns: each turn as a problem with one reply, so that it is judged like any other.

A turn's problem has the conversation up to it, its own right answer, the columns `turn_2_…` of the row under
their names without this prefix, and for judges what was said so far: `question_1`, `answer_1`, …, and all before the
turn as `earlier`.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.records import Attempt, EarlierReply, Message, Pipeline, Problem, TaskSpec
from model_accuracy_eval.scoring.filters import filters
from model_accuracy_eval.scoring.filters.filters import strip_thoughts


def check(task: TaskSpec, pipelines: Sequence[Pipeline]) -> None:
    """Refuses turns where they cannot be asked or judged."""
    if task.prompt.follow_ups is None:
        if turned := next((pipeline for pipeline in pipelines if pipeline.turn is not None), None):
            raise BadValue(f"{task.name}: the pipeline '{turned.name}' judges a turn, but there are no follow_ups.")
        return
    if task.kind != "generate" or task.mode != "chat" or task.tools or task.functions:
        raise BadValue(f"{task.name}: follow_ups are asked in chats that generate texts without tools.")
    if chooser := next((pipeline for pipeline in pipelines if filters.choose(pipeline.filters)), None):
        raise BadValue(
            f"{task.name}: the filters of the pipeline '{chooser.name}' choose among samples, and replies of several "
            "turns cannot be chosen apart from their conversations."
        )


def constant_sample(problem: Problem, text: str) -> Attempt:
    """A sample that says the same in every turn, to try how a task is judged."""
    earlier = tuple(EarlierReply(text=text, next=follow_up) for follow_up in problem.follow_ups)
    return Attempt(problem=problem.id, index=0, text=text, earlier=earlier)


def has(problem: Problem, pipeline: Pipeline) -> bool:
    """Whether the conversation is long enough for the turn that the pipeline judges."""
    return not isinstance(pipeline.turn, int) or pipeline.turn <= len(problem.follow_ups) + 1


def unanswered(problem: Problem, pipeline: Pipeline) -> Problem:
    """The turn that a pipeline judges, or the last one, of a conversation that nobody answered."""
    last = len(problem.follow_ups) + 1
    number = pipeline.turn if isinstance(pipeline.turn, int) else last
    extras = {**problem.extras, **_of_turn(problem, number)}
    return replace(problem, follow_ups=(), turn_references=(), extras=extras)


def to_judge(problem: Problem, sample: Attempt, pipeline: Pipeline) -> list[tuple[Problem, Attempt]]:
    """The turns that a pipeline judges."""
    count = len(problem.follow_ups) + 1
    if len(sample.earlier) != count - 1:
        raise BadData(
            f"Problem {problem.id} has {count} turns, but its reply {sample.index} has {len(sample.earlier) + 1}."
        )
    if pipeline.turn == "each":
        return [_turn(problem, sample, number) for number in range(1, count + 1)]
    if pipeline.turn is not None and not 1 <= pipeline.turn <= count:
        raise BadValue(
            f"The pipeline '{pipeline.name}' judges turn {pipeline.turn}, but problem {problem.id} has {count} turns."
        )
    return [_turn(problem, sample, pipeline.turn or count)]


def _turn(problem: Problem, sample: Attempt, number: int) -> tuple[Problem, Attempt]:
    questions = [problem.messages[-1].content, *problem.follow_ups]
    replies: list[Attempt | EarlierReply] = [*sample.earlier, sample]
    messages = list(problem.messages)
    extras = {**problem.extras, "earlier": ""}
    for place in range(number):
        said = strip_thoughts(replies[place].text, problem) or ""
        extras |= {f"question_{place + 1}": questions[place], f"answer_{place + 1}": said}
        if place + 1 < number:
            extras["earlier"] += f"User: {questions[place]}\n\nAssistant: {said}\n\n"
            messages += [
                Message(role="assistant", content=said),
                Message(role="user", content=questions[place + 1]),
            ]
    extras |= _of_turn(problem, number)
    extras |= {f"reference_{place}": text for place, text in enumerate(problem.turn_references, start=1)}
    reply = replies[number - 1]
    return (
        replace(
            problem,
            messages=tuple(messages),
            follow_ups=(),
            references=problem.turn_references[number - 1 : number] or problem.references,
            turn_references=(),
            extras=extras,
        ),
        replace(sample, text=reply.text, reasoning=reply.reasoning, finish_reason=reply.finish_reason, earlier=()),
    )


def _of_turn(problem: Problem, number: int) -> dict[str, Any]:
    """Its own columns of the row, without the prefix."""
    prefix = f"turn_{number}_"
    return {name.removeprefix(prefix): value for name, value in problem.extras.items() if name.startswith(prefix)}
