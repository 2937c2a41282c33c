"""A conversation in which the model uses tools: it is asked, its calls are carried out, until it answers without one.

The result is one reply: the last text, with the rounds before it, and the tokens and times of all requests.
"""

from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from model_accuracy_eval.records import (
    Attempt,
    Choice,
    EarlierReply,
    Fault,
    Message,
    Problem,
    Reply,
    Request,
    RequestMethod,
    TaskSpec,
    Timings,
    ToolCall,
    ToolRound,
    ToolUse,
    Usage,
)
from model_accuracy_eval.records.base import filled
from model_accuracy_eval.scoring.answers import tools
from model_accuracy_eval.scoring.filters.filters import strip_thoughts

# Tokens and times of a sample that took several requests.


AskChat = Callable[[Request], Awaitable[Reply]]


def as_one(replies: Sequence[Reply], fault: Fault | None, **of_choice: object) -> Reply:
    """The last reply for all of a conversation; `of_choice`: what its choice is to say besides."""
    last, tries = replies[-1], sum(reply.tries for reply in replies)
    if not last.choices:
        return replace(last, id=replies[0].id, tries=tries, fault=fault)
    choices = [reply.choices[0] for reply in replies]
    choice = replace(
        choices[-1],
        # A reply that may have been cut makes all that follows doubtful.
        finish_reason=choices[-1].finish_reason if all(item.finish_reason for item in choices) else None,
        timings=total_timings(choices),
        **of_choice,
    )
    return replace(last, id=replies[0].id, tries=tries, choices=(choice,), usage=total_usage(replies))


def total_timings(choices: Sequence[Choice]) -> Timings:
    """Returns the first token's time of the first request and sums over all requests, without the time between them."""
    timings = [choice.timings for choice in choices]
    gaps = [(item.gap_mean, item.chunks - 1) for item in timings if item.gap_mean is not None]
    return Timings(
        ttft=timings[0].ttft,
        e2e=sum(item.e2e for item in timings),
        gap_mean=sum(mean * count for mean, count in gaps) / sum(count for _, count in gaps) if gaps else None,
        gap_max=max((item.gap_max for item in timings if item.gap_max is not None), default=None),
        chunks=sum(item.chunks for item in timings),
    )


def total_usage(replies: Sequence[Reply]) -> Usage | None:
    """Sums over all requests; a number that one of them lacks stays unknown."""
    usages = [reply.usage for reply in replies if reply.usage is not None]
    if len(usages) < len(replies):
        return None
    counts = {name: [getattr(usage, name) for usage in usages] for name in Usage.__struct_fields__}
    return Usage(**{name: None if None in numbers else sum(numbers) for name, numbers in counts.items()})


_PERHAPS_NO_TOOLS = frozenset({400, 404, 422, 500, 501})
"""Status codes of services that do not support tools, for a request that offers some."""


async def converse(ask: AskChat, request: Request, task: TaskSpec) -> Reply:
    """Returns the reply after at most `tool_rounds` rounds of calls."""
    replies = [await ask(request)]
    while calls := _calls(replies[-1]):
        if len(request.rounds) == task.tool_rounds:
            return _joined(replies, request.rounds, tools.UNFINISHED)
        choice = replies[-1].choices[0]
        uses = tuple(ToolUse(call=call, result=tools.use(call, task.tools)) for call in calls)
        rounds = (*request.rounds, ToolRound(text=choice.text, reasoning=choice.reasoning, uses=uses))
        request = replace(request, rounds=rounds)
        replies.append(await ask(request))
    return _joined(replies, request.rounds)


def with_calls_in_texts(reply: Reply) -> Reply:
    """Returns the reply with each choice's calls as part of its text, where they are the answer."""
    if reply.fault is not None:
        return replace(reply, fault=_explained(reply.fault, 0))
    choices = (replace(choice, text=tools.written(choice.text, choice.calls), calls=()) for choice in reply.choices)
    return replace(reply, choices=tuple(choices))


def _calls(reply: Reply) -> tuple[ToolCall, ...]:
    """Returns the calls of a reply; none of a reply that was cut, whose last call may be incomplete."""
    if not reply.choices or reply.choices[0].finish_reason == "length":
        return ()
    return reply.choices[0].calls


def _joined(replies: Sequence[Reply], rounds: tuple[ToolRound, ...], reason: str | None = None) -> Reply:
    fault = replies[-1].fault
    joined = as_one(replies, _explained(fault, len(rounds)) if fault else None, calls=(), rounds=rounds)
    if reason is None or not joined.choices:
        return joined
    return replace(joined, choices=(replace(joined.choices[0], finish_reason=reason),))


def _explained(fault: Fault, rounds: int) -> Fault:
    sentence = fault.sentence.rstrip(".")
    if rounds:
        sentence = f"{sentence}, after {rounds} {'round' if rounds == 1 else 'rounds'} of tool calls"
    elif fault.status in _PERHAPS_NO_TOOLS:
        sentence += (
            "; the task offers tools, so if the service does not accept them, start it with tool calls "
            "enabled, or choose a dataset without tools"
        )
    return replace(fault, sentence=f"{sentence}.")


# A conversation of several turns: what is asked next follows the model's own reply, as in a chat.
#
# The result is one reply: the last text, with the replies before it, and the tokens and times of all requests.


async def ask_in_turns(ask: AskChat, request: Request, problem: Problem) -> Reply:
    """Returns the reply to the last turn; a fault of any turn is one of the whole sample."""
    replies = [await ask(request)]
    earlier: list[EarlierReply] = []
    for follow_up in problem.follow_ups:
        if not replies[-1].choices:
            break
        choice = replies[-1].choices[0]
        earlier.append(filled(EarlierReply, choice, next=follow_up))
        if choice.media and not choice.text.strip():
            sentence = "The reply is a sound or picture without a text, which the next turn cannot go on from."
            replies[-1] = replace(
                replies[-1], choices=(), fault=Fault(kind="rejected", sentence=sentence, lasting=True)
            )
            break
        # Chat templates leave thoughts of earlier turns out, too.
        said = Message(role="assistant", content=strip_thoughts(choice.text, problem) or "")
        request = replace(request, messages=(*request.messages, said, Message(role="user", content=follow_up)))
        replies.append(await ask(request))
    fault = replies[-1].fault
    if fault is not None:
        sentence = fault.sentence.rstrip(".")
        fault = replace(fault, sentence=f"{sentence}, in turn {len(replies)} of the conversation.")
    media = (one for reply in replies for choice in reply.choices for one in choice.media)
    return as_one(replies, fault, earlier=tuple(earlier), media=tuple(media))


# The samples of a reply, as they are journaled and judged.


def reply_samples(
    problem: Problem, indexes: Sequence[int], seed: int | None, reply: Reply, method: RequestMethod
) -> list[Attempt]:
    """`indexes` and `seed`: the samples that the request asked for, and the seed of the first."""
    if reply.loglikelihoods:
        return [_likeliest(problem, indexes[0], reply, method)]
    return [
        Attempt(
            problem=problem.id,
            index=indexes[choice.index],
            text=choice.text,
            reasoning=choice.reasoning,
            finish_reason=choice.finish_reason,
            rounds=choice.rounds,
            earlier=choice.earlier,
            media=choice.media,
            spoken=choice.spoken,
            tokens=choice.tokens,
            method=method,
            timings=choice.timings,
            usage=reply.usage,
            request=reply.id,
            replica=reply.replica,
            seed=None if seed is None else seed + choice.index,
            tries=reply.tries,
        )
        for choice in reply.choices
    ]


def _likeliest(problem: Problem, index: int, reply: Reply, method: RequestMethod) -> Attempt:
    """The text is the option that the service finds likeliest, for people to read."""
    choices = problem.choices
    likelihoods = enumerate(reply.loglikelihoods[: len(choices)])
    ranking = [(likelihood.logprob, -place) for place, likelihood in likelihoods if likelihood is not None]
    return Attempt(
        problem=problem.id,
        index=index,
        text=choices[-max(ranking)[1]] if ranking else "",
        method=method,
        loglikelihoods=reply.loglikelihoods,
        request=reply.id,
        replica=reply.replica,
        tries=reply.tries,
    )


def without_partial_count(reply: Reply) -> Reply:
    """Some services count the tokens of one choice alone: nobody knows how many the others have, so it is left out.

    Each chunk with text holds one token or more; one more in each choice may have come in two chunks.
    """
    usage, chunks = reply.usage, [choice.timings.chunks for choice in reply.choices]
    if usage is None or usage.completion_tokens is None or len(chunks) < 2:
        return reply
    if not max(chunks) <= usage.completion_tokens < sum(chunks) - len(chunks):
        return reply
    return replace(reply, usage=replace(usage, completion_tokens=None, reasoning_tokens=None))
