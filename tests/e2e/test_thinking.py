"""A run of a model that thinks: how it is asked to, what becomes of long thoughts, and what a gate makes of it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command
from tests.servers.thinking_server import Habit, ThinkingServer


def right(request: dict[str, Any]) -> str:
    asked = re.search(r"How long is x*\?", request["messages"][-1]["content"])
    return f"#### {len(asked[0])}" if asked else "#### 4"


def evaluated(server: ThinkingServer, out: Path, *words: object) -> tuple[command.Done, dict[str, Any]]:
    questions = command.lengths(out / "lengths.jsonl", 4)
    done = command.run("run", "--endpoint", server.url, "--datasets", questions, "--out", out / "runs", "-n", 1, *words)
    return done, json.loads((command.only_run(out / "runs") / "run.json").read_bytes())


@pytest.mark.parametrize("form", ["reasoning", "</think>", "harmony"])
def test_thoughts_and_answers_are_counted_apart(form: str, tmp_path: Path) -> None:
    """Requests have room for both, the fields that were found beside those of the user, and what was counted is told."""
    extra = '{"chat_template_kwargs": {"lang": "en"}}'
    with ThinkingServer(Habit(form=form), right) as server:
        done, run = evaluated(server, tmp_path, "--thinking", "on", "--generation", extra)
        asked = [chat for chat in server.chats if "How long" in chat["messages"][-1]["content"]]
    assert done.code == 0, done.err
    assert {chat["max_tokens"] for chat in asked} == {16384}
    fields = {"lang": "en", "enable_thinking": True, "thinking": True}
    assert all(chat["chat_template_kwargs"] == fields for chat in asked)
    ((_, dataset),) = run["datasets"].items()
    assert dataset["metrics"]["accuracy"] == 100.0
    assert (dataset["counts"]["thought"], dataset["counts"]["reasoning_only"]) == (4, 0)
    assert (dataset["speed"]["thought"]["p50"], dataset["speed"]["answer"]["p50"]) == (200, 7)
    assert (
        "4 of 4 replies begin with a thought: 200 tokens of thought at p50 and 200 at p95, 7 and 7 of answer."
        in done.out
    )
    assert run["findings"][0]["probe"] == "thinking"
    assert "Thinking: Thinking is on by" in done.out + done.err


def test_those_that_were_cut_are_told_apart(tmp_path: Path) -> None:
    """One thought takes all the tokens: the strict figure counts it as wrong, and beside it stands that of the others."""

    class Wordy(ThinkingServer):
        def thinks(self, request: dict[str, Any]) -> bool:
            return "long is ?" in request["messages"][-1]["content"]

    with Wordy(Habit(form="<think>"), right) as server:
        done, run = evaluated(server, tmp_path, "--max-tokens", 100)
    ((_, dataset),) = run["datasets"].items()
    assert (dataset["metrics"]["accuracy"], dataset["finished"]["accuracy"], dataset["counts"]["reasoning_only"]) == (
        75.0,
        100.0,
        1,
    )
    assert (
        "1 of 4 replies (25 %) were cut by length (max_tokens 100); 1 replies hold a thought and nothing else."
        in done.out
    )
    assert "Without them the first figure is 100.00." in done.out
    assert "--thinking on gives thoughts and answers 16,384 tokens." in done.out


def test_a_gate_refuses_what_has_no_effect(tmp_path: Path) -> None:
    """Unless it is allowed; without a gate it leads the notes of the report."""
    gate = ("--thinking", "off", "--gate", "lengths: accuracy >= 50", "--gate-on", "point")
    with ThinkingServer(Habit(asked_by=(), by_itself=True), right) as server:
        refused, run = evaluated(server, tmp_path, *gate)
        assert run["datasets"]["lengths"]["counts"]["answered"] == 0
        (tmp_path / "b").mkdir()
        allowed, run = evaluated(server, tmp_path / "b", *gate, "--gate", "allow: thinking")
    assert (refused.code, allowed.code) == (4, 0)
    words = "--thinking off has no effect: asked with chat_template_kwargs, thinking, reasoning_effort, enable_thinking"
    assert words in refused.out + refused.err
    assert "'allow: thinking' among the gates" in refused.out + refused.err
    assert run["service_notes"][0].startswith(f"thinking: {words}")


def test_a_budget_that_is_not_kept_is_counted(tmp_path: Path) -> None:
    """The probe's thought was short, those about the questions are not; and a budget gives as many tokens more."""

    class Brief(ThinkingServer):
        async def _chat(self, exchange: Any) -> None:
            self.thought = "Hm. " * (50 if "How long" in exchange.json["messages"][-1]["content"] else 5)
            await super()._chat(exchange)

    with Brief(Habit(), right) as server:
        done, _ = evaluated(server, tmp_path, "--thinking", "budget=100")
        assert server.chats[-1]["max_tokens"] == 1024 + 100
    assert "of at most 100; whether longer ones end there was not seen" in done.out + done.err
    assert "4 thoughts are longer than the budget of 100 tokens, which the service did not keep." in done.out


@pytest.mark.parametrize(
    ("habit", "context", "state", "words"),
    [
        (Habit(by_itself=True), None, "WARN", "give --thinking on, which asks for 16,384. Thinking is off by"),
        (Habit(), 32768, "PASS", "It thinks if it is asked to."),
        (Habit(), 8192, "WARN", "Its context has 8,192: serve it with 20,480 or more, or give --max-tokens."),
        (Habit(asked_by=()), None, "SKIP", "It does not think"),
    ],
)
def test_doctor_says_what_to_raise(habit: Habit, context: int | None, state: str, words: str) -> None:
    with ThinkingServer(habit) as server:
        server.models["data"][0]["max_model_len"] = context
        done = command.run("doctor", "--endpoint", server.url)
    (line,) = [line for line in done.out.splitlines() if "  thinking " in f" {line}"]
    assert line.startswith(state), line
    assert words in line
