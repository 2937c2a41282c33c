"""Answers of real servers, cut off at every byte: half an answer is never taken for a whole one."""

import httpx
import pytest
from tests.servers.replay import Capture, capture

from model_accuracy_eval.client.stream_parser import ParsedStream, StreamBroken, StreamParser
from model_accuracy_eval.records import Choice
from model_accuracy_eval.system.retry import Failure

STREAMED = [
    "vllm/stream",
    "vllm/stream_usage",
    "vllm/stream_usage_continuous",
    "vllm/stream_n3_usage",
    "vllm/stream_chinese_emoji",
    "vllm/stream_logprobs",
    "vllm/stream_stop",
    "vllm/stream_json_object",
    "vllm/stream_reasoning_parser_n2",
    "vllm/cmpl_stream_n3",
    "vllm-vl/image_stream",
    "llamacpp/stream",
    "llamacpp/stream_n3_usage",
    "llamacpp/stream_logprobs",
    "llamacpp/stream_stop",
    "llamacpp/stream_tool_forced",
    "transformers/stream_usage",
    "transformers/stream_n3_usage",
]
IN_ONE_PIECE = ["vllm/chat", "llamacpp/chat", "transformers/chat"]
HEADERS = {"chunked": {"transfer-encoding": "chunked"}, "length": {"content-length": "9"}, "close": {}}


def read(
    body: bytes, *, needs_finish_reason: bool, headers: dict[str, str] = HEADERS["chunked"]
) -> ParsedStream | Failure:
    """What comes of a body that ends cleanly here."""
    parser = StreamParser((), 3)
    try:
        parser.feed(body, 1.0)
    except StreamBroken as broken:
        return broken.failure
    response = httpx.Response(200, headers=headers, extensions={"sent": 0.0})
    return parser.result(response, needs_finish_reason=needs_finish_reason)


def contents(choice: Choice) -> tuple[object, ...]:
    return choice.text, choice.reasoning, choice.finish_reason, choice.calls


def whole(shown: Capture) -> dict[int, tuple[object, ...]]:
    answer = read(shown.body, needs_finish_reason=True)
    assert not isinstance(answer, Failure)
    return {choice.index: contents(choice) for choice in answer[0]}


@pytest.mark.parametrize("framing", HEADERS)
@pytest.mark.parametrize("name", [*STREAMED, *IN_ONE_PIECE])
def test_no_beginning_of_an_answer_counts_where_the_service_sends_finish_reasons(name: str, framing: str) -> None:
    """However many bytes of the body came: its choices are those of the whole body, or they are left out."""
    shown = capture(name)
    expected, headers = whole(shown), HEADERS[framing]
    for end in range(len(shown.body)):
        answer = read(shown.body[:end], needs_finish_reason=True, headers=headers)
        if isinstance(answer, Failure):
            assert (answer.kind, answer.transient) == ("failed", True)
        else:
            assert {choice.index: contents(choice) for choice in answer[0]}.items() <= expected.items()


@pytest.mark.parametrize("name", STREAMED)
def test_a_body_that_ends_inside_an_event_is_broken_whatever_is_known_of_the_service(name: str) -> None:
    """Without any finish_reason before, an answer may end after an event, and nowhere else."""
    shown = capture(name)
    expected = whole(shown)
    for end in range(len(shown.body)):
        answer = read(shown.body[:end], needs_finish_reason=False)
        if isinstance(answer, Failure):
            continue
        after_an_event = shown.body[:end].endswith(b"\n\n")
        for choice in answer[0]:
            assert choice.finish_reason is None or contents(choice) == expected[choice.index]
            assert choice.finish_reason is not None or after_an_event


def test_choices_keep_their_numbers_when_one_of_them_is_left_out() -> None:
    """Choice 1 of 3 was cut: the others are still the numbers 0 and 2, whose seeds they have."""
    event = b'data: {"choices": [{"index": %d, "text": "%b", "finish_reason": %b}]}\n\n'
    texts = event % (0, b"a", b'"stop"') + event % (1, b"b", b"null") + event % (2, b"c", b'"stop"')
    answer = read(texts, needs_finish_reason=True)
    assert not isinstance(answer, Failure)
    assert [(choice.index, choice.text) for choice in answer[0]] == [(0, "a"), (2, "c")]


def test_a_service_that_counts_from_one_is_understood() -> None:
    """Three choices with the numbers 1, 2 and 3 are the choices 0, 1 and 2."""
    event = b'data: {"choices": [{"index": %d, "text": "%b", "finish_reason": "stop"}]}\n\n'
    answer = read(
        b"".join(event % (place, b"abcd"[place : place + 1]) for place in (1, 2, 3)), needs_finish_reason=True
    )
    assert not isinstance(answer, Failure)
    assert [(choice.index, choice.text) for choice in answer[0]] == [(0, "b"), (1, "c"), (2, "d")]


@pytest.mark.parametrize("end", [b"data: [DONE]\n\n", b""])
@pytest.mark.parametrize("framing", HEADERS)
def test_a_service_without_any_finish_reason_is_believed_where_the_body_shows_its_end(end: bytes, framing: str) -> None:
    """By [DONE], chunks or a length; a body that ends with its connection may be half of one."""
    body = b'data: {"choices": [{"index": 0, "delta": {"content": "a"}}]}\n\n' + end
    answer = read(body, needs_finish_reason=False, headers=HEADERS[framing])
    if framing == "close" and not end:
        assert isinstance(answer, Failure)
        assert "not with a length of its own" in answer.sentence
    else:
        assert not isinstance(answer, Failure)
        assert [contents(choice) for choice in answer[0]] == [("a", "", None, ())]
