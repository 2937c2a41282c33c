"""Answers of real servers, captured byte by byte, read through real HTTP in different chunkings."""

import json

import pytest
from tests.servers.asking import ask, models, question, said
from tests.servers.loops import LOOPS
from tests.servers.replay import Capture, ReplayServer, capture

from model_accuracy_eval.records import Fault, Reply, Usage
from model_accuracy_eval.records.exchange import DOES_NOT_FIT

CUTS = [1 << 30, 1000, 61, 7]


def replay(shown: Capture, *, cut: int = 1 << 30, n: int = 1, loop: str = "asyncio") -> Reply:
    with ReplayServer(shown, cut=cut) as server:
        (reply,) = ask(server.url, question(n=n), loop=loop)
    return reply


def fault_of(name: str) -> Fault:
    reply = replay(capture(name))
    assert reply.fault is not None
    return reply.fault


def by_hand(shown: Capture) -> list[tuple[str, str, str | None]]:
    """The capture read line by line with nothing but `json`: text, reasoning and finish reason by index."""
    found: dict[int, list[str | None]] = {}
    for line in shown.body.decode().splitlines():
        if not line.startswith("data: {"):
            continue
        for choice in json.loads(line[6:]).get("choices", []):
            entry = found.setdefault(choice["index"], ["", "", None])
            delta = choice.get("delta", {})
            entry[0] = f"{entry[0]}{delta.get('content') or ''}"
            entry[1] = f"{entry[1]}{delta.get('reasoning') or ''}"
            entry[2] = choice.get("finish_reason") or entry[2]
    return [(str(text), str(thought), reason) for _, (text, thought, reason) in sorted(found.items())]


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(
    ("name", "choices", "usage"),
    [
        ("vllm/stream", 1, None),
        ("vllm/stream_usage", 1, Usage(prompt_tokens=19, completion_tokens=8)),
        ("vllm/stream_usage_continuous", 1, Usage(prompt_tokens=19, completion_tokens=8)),
        ("vllm/stream_n3_usage", 3, Usage(prompt_tokens=19, completion_tokens=24)),
        ("vllm/stream_chinese_emoji", 1, None),
        ("vllm/stream_logprobs", 1, None),
        ("vllm/stream_stop", 1, None),
        ("vllm/stream_json_object", 1, None),
        ("vllm-vl/image_stream", 1, None),
        ("llamacpp/stream", 1, None),
        ("llamacpp/stream_n3_usage", 1, None),
        ("llamacpp/stream_logprobs", 1, None),
        ("transformers/stream_usage", 1, Usage(prompt_tokens=19, completion_tokens=8)),
        ("transformers/stream_n3_usage", 1, Usage(prompt_tokens=19, completion_tokens=8)),
    ],
)
def test_real_streams_are_read_as_they_were_sent(
    name: str, choices: int, usage: Usage | None, cut: int, loop: str
) -> None:
    """Text, reasoning, finish reasons, usage and the number of choices, whatever the chunking."""
    shown = capture(name)
    reply = replay(shown, cut=cut, n=5, loop=loop)
    assert said(reply) == by_hand(shown)
    assert len(reply.choices) == choices
    assert reply.tries == 1
    if usage is not None:
        assert reply.usage == usage


def test_reasoning_of_a_real_parser_is_kept_apart() -> None:
    """Everything this model said is in `reasoning`, and its tokens are counted."""
    shown = capture("vllm/stream_reasoning_parser_n2")
    reply = replay(shown, n=2)
    assert said(reply) == by_hand(shown)
    assert [choice.text for choice in reply.choices] == ["", ""]
    assert all(choice.reasoning for choice in reply.choices)
    assert reply.usage is not None
    assert reply.usage.reasoning_tokens is not None


def test_a_capture_with_a_gap_is_no_answer() -> None:
    """Bytes are missing in the middle of this one; that shows, and nothing of it is scored."""
    assert "an event that is no JSON object" in fault_of("vllm-vl/image_stream_n5").sentence


def test_a_real_tool_call_is_no_text() -> None:
    """llama-cpp-python sends `content: null`, `tool_calls` and the older `function_call`."""
    reply = replay(capture("llamacpp/stream_tool_forced"))
    (choice,) = reply.choices
    assert (choice.text, choice.finish_reason) == ("", "tool_calls")
    assert [(call.name, json.loads(call.arguments)) for call in choice.calls] == [("f", {"a": 1})]


@pytest.mark.parametrize("name", ["vllm/chat", "llamacpp/chat", "transformers/chat"])
def test_real_answers_that_were_not_streamed_are_answers(name: str) -> None:
    """A JSON body with a message is read like a stream of one event."""
    shown = capture(name)
    choice = json.loads(shown.body)["choices"][0]
    assert said(replay(shown)) == [(choice["message"]["content"], "", choice["finish_reason"])]


@pytest.mark.parametrize(
    ("name", "kind", "status", "words"),
    [
        ("vllm/err_model", "rejected", 404, "The model `no-such-model` does not exist"),
        ("vllm/err_context_stream", "rejected", 400, f"{DOES_NOT_FIT}: HTTP 400 Bad Request: This model's maximum"),
        ("vllm/err_messages_missing", "rejected", 400, "1 validation error"),
        ("vllm/err_image_on_text", "rejected", 400, "not a multimodal model"),
        ("vllm/chat_n5_greedy", "rejected", 400, "n must be 1 when using greedy sampling"),
        ("vllm/chat_get_405", "rejected", 405, "Method Not Allowed"),
        ("vllm/path_404", "rejected", 404, "Not Found"),
        ("vllm/stream_engine_killed", "failed", 500, "EngineCore encountered an issue"),
        ("vllm-vl/image_bad_base64", "rejected", 400, "base64"),
        ("llamacpp/err_context_stream", "failed", None, "HTTP 200 with an empty body"),
        ("llamacpp/err_json", "failed", 500, "HTTP 500"),
        ("llamacpp/err_context", "rejected", 400, f"{DOES_NOT_FIT}: HTTP 400"),
        ("transformers/err_model", "rejected", 400, "Server is pinned to"),
        ("transformers/stream_extra_fields", "rejected", 422, "Unexpected fields"),
        ("transformers/err_type", "failed", 500, "HTTP 500"),
    ],
)
def test_real_errors_become_faults_in_the_servers_words(name: str, kind: str, status: int | None, words: str) -> None:
    """Each server has its own shape of error; the sentence shows what it said."""
    fault = fault_of(name)
    assert (fault.kind, fault.status) == (kind, status)
    assert words in fault.sentence


@pytest.mark.parametrize(
    ("name", "ids"),
    [("vllm/models", ("models/llama",)), ("transformers/models", ())],
)
def test_real_lists_of_models(name: str, ids: tuple[str, ...]) -> None:
    """One server lists its model, another fails to."""
    with ReplayServer(capture(name)) as server:
        assert models(server.url) == ids
