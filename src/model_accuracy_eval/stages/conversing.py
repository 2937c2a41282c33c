"""A conversation in which the model uses tools: asked, used, asked again, until there is an answer.

To everybody else it is one reply: the last text, with the rounds before it, and the tokens and times of all requests.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence

from msgspec.structs import replace

from model_accuracy_eval.records import (
    Choice,
    Fault,
    Reply,
    Request,
    TaskSpec,
    Timings,
    ToolCall,
    ToolRound,
    ToolUse,
    Usage,
)
from model_accuracy_eval.scoring import tools

Ask = Callable[[Request], Awaitable[Reply]]

_PERHAPS_NO_TOOLS = frozenset({400, 404, 422, 500, 501})
"""What services that know no tools say to a request with some."""


async def converse(ask: Ask, request: Request, task: TaskSpec) -> Reply:
    """The reply at the end of at most `tool_rounds` rounds of calls."""
    replies = [await ask(request)]
    while calls := _calls(replies[-1]):
        if len(request.rounds) == task.tool_rounds:
            return _told(replies, request.rounds, tools.UNFINISHED)
        said = replies[-1].choices[0]
        uses = tuple(ToolUse(call=call, result=tools.use(call, task.tools)) for call in calls)
        rounds = (*request.rounds, ToolRound(text=said.text, reasoning=said.reasoning, uses=uses))
        request = replace(request, rounds=rounds)
        replies.append(await ask(request))
    return _told(replies, request.rounds)


def _calls(reply: Reply) -> tuple[ToolCall, ...]:
    """What is to be done before there is an answer; the last call of a reply that was cut may be half of one."""
    if reply.fault is not None or not reply.choices or reply.choices[0].finish_reason == "length":
        return ()
    return reply.choices[0].calls


def _told(replies: Sequence[Reply], rounds: tuple[ToolRound, ...], reason: str | None = None) -> Reply:
    last, tries = replies[-1], sum(reply.tries for reply in replies)
    if last.fault is not None:
        return replace(last, id=replies[0].id, tries=tries, fault=_explained(last.fault, len(rounds)))
    said = [reply.choices[0] for reply in replies]
    choice = replace(
        said[-1],
        calls=(),
        rounds=rounds,
        finish_reason=reason or said[-1].finish_reason,
        timings=_timings(said),
    )
    return replace(last, id=replies[0].id, tries=tries, choices=(choice,), usage=_usage(replies))


def _explained(fault: Fault, rounds: int) -> Fault:
    sentence = fault.sentence.rstrip(".")
    if rounds:
        sentence = f"{sentence}, after {rounds} {'round' if rounds == 1 else 'rounds'} of tool calls"
    elif fault.status in _PERHAPS_NO_TOOLS:
        sentence += (
            "; the task offers tools, so if it is these that the service does not take, start it with tool calls "
            "enabled, or choose a dataset without tools"
        )
    return replace(fault, sentence=f"{sentence}.")


def _timings(said: Sequence[Choice]) -> Timings:
    """First text of the first request, and the time of all requests, without what lay between them."""
    every = [choice.timings for choice in said]
    gaps = [(one.gap_mean, one.chunks - 1) for one in every if one.gap_mean is not None]
    return Timings(
        ttft=every[0].ttft,
        e2e=sum(one.e2e for one in every),
        gap_mean=sum(mean * count for mean, count in gaps) / sum(count for _, count in gaps) if gaps else None,
        gap_max=max((one.gap_max for one in every if one.gap_max is not None), default=None),
        chunks=sum(one.chunks for one in every),
    )


def _usage(replies: Sequence[Reply]) -> Usage | None:
    """The sum over all requests; a number that one of them leaves out stays unknown."""
    told = [reply.usage for reply in replies if reply.usage is not None]
    if len(told) < len(replies):
        return None
    return Usage(
        prompt_tokens=_sum(one.prompt_tokens for one in told),
        completion_tokens=_sum(one.completion_tokens for one in told),
        reasoning_tokens=_sum(one.reasoning_tokens for one in told),
    )


def _sum(numbers: Iterable[int | None]) -> int | None:
    told = list(numbers)
    known = [number for number in told if number is not None]
    return sum(known) if len(known) == len(told) else None
