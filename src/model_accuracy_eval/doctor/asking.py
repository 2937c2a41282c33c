"""The question that most findings are about, how it is asked again, and what is said of an answer."""

from dataclasses import dataclass
from typing import Any

from model_accuracy_eval.ports import Chat
from model_accuracy_eval.records import Fault, JSONObject, Message, Reply, Request
from model_accuracy_eval.records.doctor import Finding

SILENT = "The answer was empty, so there is nothing to tell; ask a model that answers in words."
COUNT, SUM = "Count from one to ten in words.", "17+25="


@dataclass(frozen=True, kw_only=True, slots=True)
class Talk:
    """A service, a question, and the greedy answer that it gave first."""

    chat: Chat
    text: str
    first: Reply

    async def again(self, **changed: Any) -> Reply:
        return await self.chat.ask(question(self.text, **changed))


async def start(chat: Chat) -> Talk:
    """By a question with a longer answer; a model that says nothing to it may be one that continues texts."""
    first = await chat.ask(question(COUNT))
    if first.fault is None and not said(first):
        return Talk(chat=chat, text=SUM, first=await chat.ask(question(SUM)))
    return Talk(chat=chat, text=COUNT, first=first)


def question(
    text: str,
    *,
    temperature: float = 0.0,
    seed: int | None = None,
    n: int = 1,
    max_tokens: int = 64,
    stop: tuple[str, ...] = (),
    extra: JSONObject | None = None,
) -> Request:
    return Request(
        messages=(Message(role="user", content=text),),
        temperature=temperature,
        seed=seed,
        n=n,
        max_tokens=max_tokens,
        stop=stop,
        extra=extra or {},
    )


def said(reply: Reply) -> str:
    """All words of the first choice, thoughts included."""
    return "".join(choice.reasoning + choice.text for choice in reply.choices[:1])


def either(name: str, good: bool, sentence: str) -> Finding:
    return Finding(name=name, state="PASS" if good else "WARN", sentence=sentence)


def unknown(name: str, sentence: str) -> Finding:
    return Finding(name=name, state="SKIP", sentence=sentence)


def refused(name: str, fault: Fault, cost: str) -> Finding:
    """The service does not do this; `cost`: what that means for a run."""
    return Finding(name=name, state="WARN", sentence=f"{fault.sentence} {cost}")
