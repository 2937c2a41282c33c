"""Whether a model thinks as --thinking says: which fields ask it to, and whether they took effect, over real HTTP."""

import pytest
from tests.servers.asking import LIMITS, Naps
from tests.servers.loops import run
from tests.servers.thinking_server import FORMS, Habit, ThinkingServer

from model_accuracy_eval.client.chat import connect
from model_accuracy_eval.records import Service
from model_accuracy_eval.run.thinking_probe import Thinking, find_thinking

TEMPLATE = {"enable_thinking": True, "thinking": True}
SERVERS: dict[str, tuple[Habit, str, str, dict[str, object]]] = {
    # what it understands; the setting; the name of the program; what is sent
    "a template": (Habit(), "on", "", {"chat_template_kwargs": TEMPLATE}),
    "DeepSeek's template": (
        Habit(asked_by=("chat_template_kwargs", "thinking")), "on", "", {"chat_template_kwargs": TEMPLATE},
    ),
    "a template, off": (
        Habit(by_itself=True), "off", "", {"chat_template_kwargs": dict.fromkeys(TEMPLATE, False)},
    ),
    "DeepSeek's API": (Habit(asked_by=("thinking", "type"), on="enabled"), "on", "", {"thinking": {"type": "enabled"}}),
    "OpenAI": (
        Habit(asked_by=("reasoning_effort",), on="medium", by_itself=True, form="hidden"), "off", "",
        {"reasoning_effort": "none"},
    ),
    "Alibaba": (
        Habit(asked_by=("enable_thinking",), budget=("thinking_budget",)), "budget=30", "",
        {"enable_thinking": True, "thinking_budget": 30},
    ),
    "strict, by itself": (
        Habit(by_itself=True, refuses=("chat_template_kwargs", "thinking", "reasoning_effort", "enable_thinking")),
        "on", "", {},
    ),
    "vLLM": (
        Habit(budget=("thinking_token_budget",)), "budget=30", "vLLM",
        {"chat_template_kwargs": TEMPLATE, "thinking_token_budget": 30},
    ),
    "SGLang": (
        Habit(budget=("custom_params", "thinking_budget")), "budget=30", "SGLang",
        {"chat_template_kwargs": TEMPLATE, "custom_params": {"thinking_budget": 30}},
    ),
    "a template with a budget": (
        Habit(budget=("chat_template_kwargs", "thinking_budget"), refuses=("thinking_token_budget",)), "budget=30",
        "vLLM", {"chat_template_kwargs": {**TEMPLATE, "thinking_budget": 30}},
    ),
}  # fmt: skip


def find(server: ThinkingServer, thinking: str, program: str = "") -> Thinking:
    async def conversation() -> Thinking:
        chat = connect(Service(base_url=server.url, model="m"), LIMITS, sleep=Naps())
        try:
            return await find_thinking(chat, thinking, program)
        finally:
            await chat.close()

    return run(conversation())


@pytest.mark.parametrize("name", SERVERS)
def test_the_fields_that_take_effect_are_found(name: str) -> None:
    """Whatever a server ignores or refuses, requests get what it understands."""
    habit, thinking, program, fields = SERVERS[name]
    with ThinkingServer(habit) as server:
        found = find(server, thinking, program)
        asked = server.chats[-1]
    assert found.finding.state == "PASS", found.finding.sentence
    assert found.fields == fields
    assert {each: asked.get(each) for each in fields} == fields


def test_a_server_that_is_known_is_asked_once() -> None:
    """Its own fields come first."""
    habit, thinking, program, _ = SERVERS["SGLang"]
    with ThinkingServer(habit) as server:
        find(server, thinking, program)
        assert len(server.chats) == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("counts", [True, False])
def test_a_thought_is_seen_wherever_it_is(form: str, counts: bool) -> None:
    """In a field of its own, between marks, before one, in a channel, or only in the count of its tokens; a budget that
    is not kept is seen where the tokens are counted."""
    with ThinkingServer(Habit(by_itself=True, form=form, counts=counts)) as server:
        on, off, budget = (find(server, thinking) for thinking in ("on", "off", "budget=50"))
    if form == "hidden" and not counts:
        assert (on.finding.state, off.finding.state) == ("FAIL", "PASS")
        return
    assert (on.finding.state, off.finding.state, budget.finding.state) == ("PASS", "PASS", "FAIL")
    assert "--thinking budget=50 has no effect: asked with chat_template_kwargs, " in budget.finding.sentence
    assert "tokens of thought" in on.finding.sentence


@pytest.mark.parametrize(
    ("habit", "thinking", "words"),
    [
        (Habit(asked_by=(), by_itself=True), "off", "the service answers with 200 tokens of thought."),
        (Habit(asked_by=()), "on", "reasoning_effort, enable_thinking, the service answers with no thought."),
    ],
)
def test_what_nothing_changes_is_said(habit: Habit, thinking: str, words: str) -> None:
    """A model that always thinks, and one that never does."""
    with ThinkingServer(habit) as server:
        found = find(server, thinking)
    assert found.finding.state == "FAIL"
    assert found.finding.sentence.startswith(f"--thinking {thinking} has no effect: asked with chat_template_kwargs, ")
    assert found.finding.sentence.endswith(words)


def test_a_long_reply_without_a_mark_may_be_a_thought() -> None:
    """A template may open the thought in the prompt, and the mark that closes it may not have come."""
    with ThinkingServer(Habit(asked_by=()), answer=lambda _: "so " * 2000) as server:
        found = find(server, "on")
    assert found.finding.state == "SKIP"
    assert found.fields == {"chat_template_kwargs": TEMPLATE}
