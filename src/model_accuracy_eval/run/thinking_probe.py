"""Whether a model thinks before it answers as --thinking says: one question, with the fields that may ask it to, one
form after the other, until one shows its effect."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.ports import Chat, Ports
from model_accuracy_eval.records import JSONObject, Message, Reply, Request, RunPlan, ServiceFinding
from model_accuracy_eval.records.plan import thinking_budget, thinking_fields
from model_accuracy_eval.run.deploy import LiveService
from model_accuracy_eval.scoring.answers import cleaning
from model_accuracy_eval.scoring.figures.run_speed import tokens_by_length
from model_accuracy_eval.system.clock import run, run_checked

PROBE = "thinking"
QUESTION = "How many whole numbers from 1 to 300 are divisible by 3 or by 7, but not by both?"
"""Models that think where it is worth it think about this."""
_ROOM = 2048
"""Tokens for the thought and for the answer."""


class Thought(NamedTuple):
    """What a reply shows."""

    seen: bool | None
    """Whether there is one; None: a reply that was cut may be one without a mark."""
    tokens: int | None = None
    """None: not counted."""

    def is_as(self, thinking: str) -> bool:
        budget = thinking_budget(thinking)
        kept = budget is None or self.tokens is None or self.tokens <= budget
        return self.seen is not None and self.seen == (thinking != "off") and kept

    def __str__(self) -> str:
        if not self.seen:
            return "no thought"
        return "a thought" if self.tokens is None else f"{self.tokens:,} tokens of thought"


class Thinking(NamedTuple):
    """What every request gets, and what was seen of its effect."""

    fields: JSONObject
    finding: ServiceFinding


def settled(plan: RunPlan, live: LiveService, ports: Ports) -> tuple[RunPlan, LiveService]:
    """The plan with the fields that ask for it, and the service with what was found."""
    thinking = plan.sampling.thinking
    if thinking == "server" or not any(task.mode == "chat" for each in plan.tasks for task in (each, *each.parts)):
        return plan, live
    samplers = live.service.samplers

    async def look() -> Thinking:
        chat = ports.connect(live.service, plan.client_limits, role="model")
        try:
            return await find_thinking(chat, thinking, samplers.server if samplers else "")
        finally:
            await chat.close()

    found = run(run_checked(look(), live.check, ports.clock))
    service = replace(live.service, findings=(*live.service.findings, found.finding))
    sampling = replace(plan.sampling, thinking_fields=found.fields)
    return replace(plan, sampling=sampling), live.answering_as(service)


async def find_thinking(chat: Chat, thinking: str, server: str = "") -> Thinking:
    """`server`: the name of the program, whose own fields are tried first."""
    tried: list[tuple[JSONObject, Thought]] = []
    refusals: list[str] = []
    for fields in thinking_fields(thinking, server):
        reply = await ask(chat, fields, thinking_budget(thinking) or 0)
        if reply.fault is not None:
            refusals.append(reply.fault.sentence)
            continue
        tried.append((fields, thought_in(reply)))
        if tried[-1][1].is_as(thinking):
            break
    if not tried:
        sentence = f"Asked for --thinking {thinking}, the service answers nothing: {refusals[0]}"
        return Thinking({}, ServiceFinding(PROBE, "FAIL", sentence))
    fields, thought = tried[-1]
    if thought.is_as(thinking):
        return Thinking(fields, ServiceFinding(PROBE, "PASS", _told(thinking, fields, thought)))
    return _without_effect(thinking, tried)


async def ask(chat: Chat, fields: JSONObject, budget: int = 0) -> Reply:
    message = Message(role="user", content=QUESTION)
    return await chat.ask(Request(messages=(message,), max_tokens=_ROOM + budget, extra=fields))


def thought_in(reply: Reply) -> Thought:
    if not reply.choices:
        return Thought(None)
    (choice, *_), usage = reply.choices, reply.usage
    length = cleaning.lengths(choice.text, choice.reasoning)
    tokens = [round(each) for each, _ in tokens_by_length(usage, [length])] if usage else []
    counted = tokens[0] if tokens else None
    if length[0] or counted:
        return Thought(seen=True, tokens=counted)
    return Thought(None if choice.finish_reason == "length" else False)


def _told(thinking: str, fields: JSONObject, thought: Thought) -> str:
    sent = msgspec.json.encode(fields).decode()
    by = f" by {sent}" if fields else " without a field that asks for it"
    budget = thinking_budget(thinking)
    if budget is None:
        return f"Thinking is {thinking}{by}: one question got {thought}."
    shorter = "; whether longer ones end there was not seen" if (thought.tokens or 0) < 0.9 * budget else ""
    return f"Thinking is on{by}: one question got {thought} of at most {budget:,}{shorter}."


def _without_effect(thinking: str, tried: Sequence[tuple[JSONObject, Thought]]) -> Thinking:
    fields, unknown = next(((fields, thought) for fields, thought in tried if thought.seen is None), tried[0])
    if unknown.seen is None:
        sentence = f"Whether --thinking {thinking} took effect cannot be seen: a reply of {_ROOM:,} tokens has no mark."
        return Thinking(fields, ServiceFinding(PROBE, "SKIP", sentence))
    names = ", ".join(dict.fromkeys(name for each, _ in tried for name in each)) or "nothing"
    sentence = f"--thinking {thinking} has no effect: asked with {names}, the service answers with {unknown}."
    return Thinking(fields, ServiceFinding(PROBE, "FAIL", sentence))
