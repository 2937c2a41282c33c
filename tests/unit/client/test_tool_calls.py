"""Calls of tools, however a server tells them and wherever its bytes are cut."""

import json
from itertools import zip_longest
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.servers.fault_server import Style, chunk, encode
from tests.servers.tool_server import HABITS, IN_TURNS, NO_IDS, Call, check

from model_accuracy_eval.client.stream_parser import StreamParser
from model_accuracy_eval.client.wire_format import assemble_calls, encode_request, tool_messages
from model_accuracy_eval.records import Message, Request, ToolCall, ToolRound, ToolUse
from model_accuracy_eval.system.media_files import MediaFiles

ARGUMENTS = st.dictionaries(st.text(max_size=6), st.text(max_size=12), max_size=2).map(
    lambda one: json.dumps(one, ensure_ascii=False)
)
CALLS = st.lists(st.tuples(st.sampled_from(["calculator", "look_up"]), ARGUMENTS), min_size=1, max_size=4).map(
    lambda pairs: [(f"id{at:07}", *pair) for at, pair in enumerate(pairs)]
)


def in_turns(fragment_lists: list[list[Any]]) -> list[Any]:
    return [one for row in zip_longest(*fragment_lists) for one in row if one is not None]


def read(body: bytes, cuts: list[int]) -> tuple[ToolCall, ...]:
    """What the client makes of a stream whose bytes come in such pieces."""
    parser, start = StreamParser(), 0
    for cut in [*cuts, len(body)]:
        if start < len(body):
            parser.feed(body[start : start + cut], 1.0)
            start += cut
    answer = parser.result(httpx.Response(200, extensions={"sent": 0.0}))
    assert isinstance(answer, tuple), answer
    return answer[0][0].calls


@pytest.mark.parametrize("habit", HABITS)
@given(data=st.data())
def test_n10_however_a_stream_is_cut_its_calls_are_the_same(habit: str, data: st.DataObject) -> None:
    """Fragments of any size, in turns where each says what it belongs to, in any events, and bytes cut anywhere."""
    calls: list[Call] = data.draw(CALLS)
    fragment_lists = [HABITS[habit](at, call, data.draw(st.integers(1, 9))) for at, call in enumerate(calls)]
    fragments = (
        in_turns(fragment_lists)
        if habit in IN_TURNS and data.draw(st.booleans())
        else [one for row in fragment_lists for one in row]
    )
    size = data.draw(st.integers(1, 3))
    events = [
        chunk([{"index": 0, "delta": {"tool_calls": fragments[start : start + size]}, "finish_reason": None}])
        for start in range(0, len(fragments), size)
    ]
    events.append(chunk([{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]))
    body = b"".join(encode(events, Style(ascii=data.draw(st.booleans()))))
    found = read(body, data.draw(st.lists(st.integers(1, 200), max_size=12)))
    assert [(one.name, json.loads(one.arguments)) for one in found] == [
        (name, json.loads(arguments)) for _, name, arguments in calls
    ]
    if habit in NO_IDS:
        assert len({one.id for one in found}) == len(calls)
    else:
        assert [one.id for one in found] == [identity for identity, _, _ in calls]


@pytest.mark.parametrize(
    "fragments",
    ['"no list"', "[1, null]", "{}", '[{"index": 0, "function": null}]', '[{"index": "x", "id": 7, "function": {}}]'],
)
def test_fragments_without_name_and_arguments_are_no_call(fragments: str) -> None:
    """Neither a name nor arguments: nothing to be done."""
    assert assemble_calls([msgspec.Raw(fragments.encode())]) == ()


@pytest.mark.parametrize("arguments", ["", '{"expression": '])
def test_another_id_begins_another_call_even_after_a_broken_one(arguments: str) -> None:
    """All under index 0, and the arguments of the first are no object that could show its end."""
    fragment_lists = [HABITS["whole, all under index 0"](0, (one, "calculator", arguments), 1) for one in ("a", "b")]
    calls = assemble_calls([msgspec.Raw(json.dumps(fragments).encode()) for fragments in fragment_lists])
    assert [(call.id, call.arguments) for call in calls] == [("a", arguments), ("b", arguments)]


def test_a_stop_in_the_text_takes_the_calls_along() -> None:
    """What stands behind a stop was never meant to be said, calls included."""
    call = {"content": "12 halt", "tool_calls": HABITS["whole"](0, ("a", "calculator", "{}"), 1)}
    (event,) = encode([chunk([{"index": 0, "delta": call, "finish_reason": "tool_calls"}])], Style(done=False))
    parser = StreamParser(["halt"])
    parser.feed(event, 1.0)
    answer = parser.result(httpx.Response(200, extensions={"sent": 0.0}))
    assert isinstance(answer, tuple)
    assert (answer[0][0].text, answer[0][0].finish_reason, answer[0][0].calls) == ("12 ", "stop", ())


def test_calls_have_their_times() -> None:
    """The first fragment of a call is the first that is heard of a reply without text."""
    fragments = HABITS["as defined"](0, ("a", "calculator", "{}"), 1)
    parser = StreamParser()
    for now, one in enumerate(fragments, 2):
        (event,) = encode([chunk([{"index": 0, "delta": {"tool_calls": [one]}}])], Style(done=False))
        parser.feed(event, float(now))
    (end,) = encode([chunk([{"index": 0, "delta": {}, "finish_reason": "tool_calls"}])], Style(done=False))
    parser.feed(end, 9.0)
    answer = parser.result(httpx.Response(200, extensions={"sent": 1.0}))
    assert isinstance(answer, tuple)
    timings = answer[0][0].timings
    assert (timings.ttft, timings.e2e, timings.chunks) == (1.0, 8.0, len(fragments))


@pytest.mark.parametrize("arguments", ['{"expression": "1+1"}', "", "1+1", '{"expression": ', "[]", "null"])
def test_calls_are_sent_back_in_a_form_that_servers_accept(arguments: str) -> None:
    """Servers read the arguments of earlier turns, and refuse what is no object; sound ones go back as they came."""
    call = ToolCall(id="call00000", name="calculator", arguments=arguments)
    rounds = (ToolRound(text="See.", uses=(ToolUse(call=call, result="2"), ToolUse(call=call, result="2"))),)
    request = Request(messages=(Message(role="user", content="1+1?"),), rounds=rounds, tools=({"type": "x"},))
    sent = json.loads(encode_request("m", request, MediaFiles().read))
    check({"messages": sent["messages"]})
    assert sent["tools"] == [{"type": "x"}]
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "tool", "tool"]
    sent_arguments = [call["function"]["arguments"] for call in next(tool_messages(rounds))["tool_calls"]]
    assert sent_arguments == [arguments if arguments.startswith('{"') and arguments.endswith("}") else "{}"] * 2
