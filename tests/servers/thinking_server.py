"""A chat server whose model thinks before it answers, if the right field of a request asks it to.

    ThinkingServer(Habit(asked_by=("thinking", "type"), on="enabled"), answer=lambda request: "#### 4")

Characters are its tokens, and a reply ends at `max_tokens` of them, in the thought or behind it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.servers.fault_server import JSON, FaultServer, Style, chunk, deliver, encode
from tests.servers.http import Exchange

FORMS: dict[str, Callable[[str, str], tuple[JSON, ...]]] = {
    "reasoning": lambda thought, said: ({"reasoning": thought}, {"content": said}),
    "reasoning_content": lambda thought, said: ({"reasoning_content": thought}, {"content": said}),
    "<think>": lambda thought, said: ({"content": f"<think>{thought}</think>"}, {"content": said}),
    "</think>": lambda thought, said: ({"content": f"{thought}</think>"}, {"content": said}),
    "harmony": lambda thought, said: (
        {"content": f"<|channel|>analysis<|message|>{thought}<|end|>"},
        {"content": f"<|start|>assistant<|channel|>final<|message|>{said}"},
    ),
    "hidden": lambda thought, said: ({"content": said},),
}
"""Where the thought is."""


@dataclass(frozen=True, kw_only=True)
class Habit:
    asked_by: tuple[str, ...] = ("chat_template_kwargs", "enable_thinking")
    """The field that it reads; empty: none."""
    on: Any = True
    by_itself: bool = False
    """Whether it thinks where a request does not say."""
    form: str = "reasoning_content"
    budget: tuple[str, ...] = ()
    """The field with the most characters of a thought; empty: it knows none."""
    refuses: tuple[str, ...] = ()
    """Fields that it answers with 422."""
    counts: bool = True


def at(request: JSON, path: tuple[str, ...]) -> Any:
    """The value there; None if there is none."""
    found: Any = request
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if path else None


class ThinkingServer(FaultServer):
    def __init__(self, habit: Habit, answer: Callable[[JSON], str] = lambda _: "#### 4", thought: str = "Hm. " * 50):
        super().__init__(answer, plan=self._refusal)
        self.habit = habit
        self.thought = thought

    def __enter__(self) -> "ThinkingServer":
        super().__enter__()
        return self

    def _refusal(self, _number: int, request: JSON) -> str | None:
        return "status_422" if any(name in request for name in self.habit.refuses) else None

    def thinks(self, request: JSON) -> bool:
        value = at(request, self.habit.asked_by)
        return self.habit.by_itself if value is None else value == self.habit.on

    async def _chat(self, exchange: Exchange) -> None:
        request, habit = exchange.json, self.habit
        if self._refusal(0, request):
            await super()._chat(exchange)
            return
        said, thought = str(self.answer(request)), self.thought * self.thinks(request)
        thought = thought[: at(request, habit.budget)]
        room = request["max_tokens"] - len(thought)
        reason = "stop" if len(said) <= room else "length"
        deltas = FORMS[habit.form](thought, said[: max(0, room)]) if thought else ({"content": said[: max(0, room)]},)
        if room <= 0:
            deltas = ({name: text[: request["max_tokens"]] for name, text in deltas[0].items()},)
        events = [chunk([{"index": 0, "delta": delta}]) for delta in deltas]
        events.append(chunk([{"index": 0, "delta": {}, "finish_reason": reason}]))
        total = min(request["max_tokens"], len(thought) + len(said))
        details = {"reasoning_tokens": min(len(thought), total)} if habit.counts else {}
        usage = {"prompt_tokens": 7, "completion_tokens": total, "completion_tokens_details": details}
        await deliver(exchange, encode([*events, chunk([], usage=usage)], Style()), Style())
