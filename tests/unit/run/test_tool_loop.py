"""Conversations in which the model uses tools: what is asked next, and the one reply that they become."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from tests.fake_ports import MemoryStore, ScriptedChat, fake_ports

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import (
    Choice,
    ClientLimits,
    Fault,
    Message,
    PreparedDataset,
    Problem,
    Reply,
    Request,
    RunPlan,
    Sampling,
    Service,
    Timings,
    ToolCall,
    Usage,
)
from model_accuracy_eval.run import infer
from model_accuracy_eval.run.deploy import LiveService
from model_accuracy_eval.run.rounds import converse
from model_accuracy_eval.run_folder import journal
from model_accuracy_eval.scoring.answers.tools import UNFINISHED

TASK = find("gsm8k_tools")
REQUEST = Request(messages=(Message(role="user", content="How many?"),))
TIMES = Timings(ttft=0.5, e2e=2.0, gap_mean=0.25, gap_max=0.5, chunks=5)
USAGE = Usage(prompt_tokens=10, completion_tokens=4, reasoning_tokens=1)


def calls(*arguments: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(id=f"id{at}", name="calculator", arguments=one) for at, one in enumerate(arguments))


def sums(*expressions: str) -> tuple[ToolCall, ...]:
    return calls(*(json.dumps({"expression": one}) for one in expressions))


def said(text: str = "", **more: Any) -> Choice:
    reason = "tool_calls" if more.get("calls") else "stop"
    return Choice(text=text, **{"finish_reason": reason, "timings": TIMES, **more})


def talk(*turns: Choice | Fault, usage: Usage | None = USAGE, rounds: int = 8) -> tuple[Reply, list[Request]]:
    """What becomes of such turns of the service, and all that it was asked."""
    asked: list[Request] = []
    left: Iterator[Choice | Fault] = iter(turns)

    async def ask(request: Request) -> Reply:
        asked.append(request)
        turn = next(left)
        if isinstance(turn, Fault):
            return Reply(id=f"r{len(asked)}", tries=3, fault=turn)
        return Reply(id=f"r{len(asked)}", choices=(turn,), usage=usage)

    return asyncio.run(converse(ask, REQUEST, replace(TASK, tool_rounds=rounds))), asked


def test_an_answer_without_calls_is_the_reply_itself() -> None:
    """A service that ignores tools is asked once, and its answer stands as it came."""
    reply, asked = talk(said("#### 3"))
    assert reply == Reply(id="r1", choices=(said("#### 3"),), usage=USAGE)
    assert asked == [REQUEST]


def test_every_call_is_answered_and_told_back() -> None:
    """Calls at once and one after another: each has its result, in the order of the calls, beside what was said."""
    reply, asked = talk(said("So", reasoning="hm", calls=sums("1+1", "2*3")), said(calls=sums("6-2")), said("#### 4"))
    (choice,) = reply.choices
    assert [[use.result for use in one.uses] for one in choice.rounds] == [["2", "6"], ["4"]]
    assert [(one.text, one.reasoning) for one in choice.rounds] == [("So", "hm"), ("", "")]
    assert (choice.text, choice.reasoning, choice.finish_reason, choice.calls) == ("#### 4", "", "stop", ())
    assert [request.rounds for request in asked] == [(), choice.rounds[:1], choice.rounds]
    assert all(replace(request, rounds=()) == REQUEST for request in asked)


def test_what_is_wrong_with_a_call_is_said_to_the_model() -> None:
    """Half a JSON object, no sum, and an unknown tool are results like any other; the conversation goes on."""
    wrong = (*calls('{"expression": '), *sums("1/0"), ToolCall(id="x", name="python", arguments="{}"))
    reply, _ = talk(said(calls=wrong), said("#### 4"))
    (one,) = reply.choices[0].rounds
    begins = ["The arguments of calculator are", "'1/0' cannot be worked out", "There is no tool 'python'"]
    assert [use.result.startswith(begin) for use, begin in zip(one.uses, begins, strict=True)] == [True] * 3
    assert [use.call for use in one.uses] == [*wrong]


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_conversation_without_end_ends_and_says_so(rounds: int) -> None:
    """As many rounds as the task allows are answered; the call after them is the end, under a reason of its own."""
    reply, asked = talk(*(said("again", calls=sums("1+1")) for _ in range(rounds + 1)), rounds=rounds)
    assert len(asked) == rounds + 1
    assert (reply.choices[0].finish_reason, reply.choices[0].text) == (UNFINISHED, "again")
    assert len(reply.choices[0].rounds) == rounds


def test_a_call_that_was_cut_by_length_is_not_made() -> None:
    """Half an expression may be an expression; the reply counts as cut."""
    reply, asked = talk(said("So", calls=sums("12"), finish_reason="length"))
    assert (reply.choices[0].finish_reason, reply.choices[0].rounds, len(asked)) == ("length", (), 1)


def test_an_answer_after_a_reply_without_finish_reason_has_none_either() -> None:
    """That reply may have been cut, so the whole conversation is asked again once the service has sent a reason."""
    reply, _ = talk(said(calls=sums("1+2"), finish_reason=None), said("#### 3"))
    assert [(choice.text, choice.finish_reason) for choice in reply.choices] == [("#### 3", None)]


def test_tokens_and_times_are_those_of_all_requests() -> None:
    """Sums; the first text is that of the first request, and gaps lie within the replies."""
    later = Timings(ttft=9.0, e2e=3.0, gap_mean=1.0, gap_max=2.0, chunks=2)
    reply, _ = talk(said(calls=sums("1+1")), said("2", timings=later))
    assert reply.usage == Usage(prompt_tokens=20, completion_tokens=8, reasoning_tokens=2)
    assert reply.choices[0].timings == Timings(ttft=0.5, e2e=5.0, gap_mean=0.4, gap_max=2.0, chunks=7)
    assert (reply.id, reply.tries) == ("r1", 2)


@pytest.mark.parametrize(
    ("usage", "total"),
    [(None, None), (Usage(prompt_tokens=3), Usage(prompt_tokens=6))],
)
def test_what_a_service_does_not_count_stays_unknown(usage: Usage | None, total: Usage | None) -> None:
    """None, not the sum of what else there is."""
    reply, _ = talk(said(calls=sums("1+1")), said("2"), usage=usage)
    assert reply.usage == total


def test_a_fault_on_the_way_is_the_reply() -> None:
    """Half a conversation is no answer; the sentence says how far it had come."""
    reply, _ = talk(said(calls=sums("1+1")), Fault(kind="failed", sentence="HTTP 503 (3 tries, 1.0 s).", status=503))
    assert reply.fault is not None
    assert reply.fault.sentence == "HTTP 503 (3 tries, 1.0 s), after 1 round of tool calls."
    assert (reply.choices, reply.tries, reply.id) == ((), 4, "r1")


@pytest.mark.parametrize(("status", "told"), [(400, True), (500, True), (401, False), (503, False), (None, False)])
def test_a_service_that_may_know_no_tools_is_told_so(status: int | None, told: bool) -> None:
    """Where the request may have been refused for its tools, the sentence says what to do."""
    reply, _ = talk(Fault(kind="rejected", sentence="HTTP says no (1 try, 0.1 s).", status=status))
    assert reply.fault is not None
    assert reply.fault.sentence.startswith("HTTP says no (1 try, 0.1 s)")
    assert ("start it with tool calls enabled, or choose a dataset without tools." in reply.fault.sentence) is told


def prepared() -> PreparedDataset:
    problems = tuple(
        Problem(id=at, messages=(Message(role="user", content=f"{at}+1"),), references=("1",)) for at in range(3)
    )
    return PreparedDataset(task=TASK, problems=problems, version="abcdef", questions="q")


def service(request: Request, _: int) -> Choice:
    """Has the question worked out, and says the result with the seed that it was asked with."""
    if not request.rounds:
        return said(calls=sums(request.messages[0].content))
    return said(f"#### {request.rounds[-1].uses[0].result} / {request.seed}")


def collect(chat: ScriptedChat, store: MemoryStore) -> None:
    plan = RunPlan(
        run_id="r", stamp="s", tasks=(TASK,), sampling=Sampling(n=2), client_limits=ClientLimits(concurrency=2)
    )
    infer.collect(
        plan, (prepared(),), LiveService(Service(base_url="http://fake-service"), None), store, fake_ports(chat=chat)
    )


def test_a_run_goes_on_with_whole_conversations() -> None:
    """Samples that are kept are not asked again; one that had not come to its end begins anew with its own seed."""
    undisturbed = MemoryStore()
    collect(ScriptedChat(service), undisturbed)
    name = journal.file("vllm-api-stream-chat", "gsm8k_tools")
    lines = [*undisturbed.lines(name)]
    store = MemoryStore()
    store.files[name] = b"".join(lines[:4])
    chat = ScriptedChat(service)
    collect(chat, store)
    kept = sorted(map(journal.attempt, store.lines(name)), key=lambda one: (one.problem, one.index))
    assert [(one.text, len(one.rounds)) for one in kept] == [
        (f"#### {problem + 1} / {2 * problem + index}", 1) for problem in range(3) for index in range(2)
    ]
    assert len(chat.requests) == 4


def test_conversations_are_asked_one_by_one() -> None:
    """Several choices of one request would want different results."""
    chat = ScriptedChat(service)
    collect(chat, MemoryStore())
    assert {request.n for request in chat.requests} == {1}
    assert all(request.tools for request in chat.requests)
