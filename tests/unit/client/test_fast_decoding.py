"""Fast decoding and full decoding give the same result for any events."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.client import stream_parser, wire_format
from model_accuracy_eval.client.sse import decode_text, fast_decoder
from model_accuracy_eval.client.stream_parser import StreamBroken, StreamParser
from model_accuracy_eval.records import Choice

JSON = dict[str, Any]

TEXTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        ["", '"', '","reasoning":"', '"content":"', "\\", "\n", "é😀", '"},"finish_reason":"stop"', "[DONE]", "}"]
    ),
)


def event(text: str, *, index: int = 0, field: str = "content", **more: Any) -> JSON:
    return {"id": '"content":"', "choices": [{"index": index, "delta": {field: text}, **more}], "model": "content"}


EVENTS = st.builds(
    event,
    TEXTS,
    index=st.integers(0, 2),
    field=st.sampled_from(["content", "content", "content", "reasoning", "reasoning_content"]),
    finish_reason=st.sampled_from([None, None, None, "stop", "length"]),
)


def parsed(bodies: list[bytes], trials: int) -> list[tuple[str, str, str | None, int]] | str:
    """The result of a stream, sent event by event, with so many trials of a fast decoder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_parser, "_FAST_DECODER_TRIALS", trials)
        parser = StreamParser()
        try:
            for number, body in enumerate(bodies):
                parser.feed(b"data: " + body + b"\n\n", float(number))
        except StreamBroken as broken:
            return broken.failure.sentence
    choices: list[Choice] = [
        parser._builders[index].build(index, 0.0, split_characters=False, streamed=True)
        for index in sorted(parser._builders)
    ]
    return [(one.text, one.reasoning, one.finish_reason, one.timings.chunks) for one in choices]


@given(st.lists(EVENTS, max_size=30), st.booleans(), st.booleans())
def test_fast_decoding_changes_nothing(events: list[JSON], ascii_only: bool, spaced: bool) -> None:
    """Texts, reasoning, finish reasons and chunk counts are those of full decoding."""
    separators = (", ", ": ") if spaced else (",", ":")
    bodies = [json.dumps(one, ensure_ascii=ascii_only, separators=separators).encode() for one in events]
    assert parsed(bodies, 24) == parsed(bodies, 0)


@given(st.binary(max_size=12))
def test_invalid_bytes_between_known_parts_are_decoded_in_full(middle: bytes) -> None:
    """Bytes that are no JSON string between the known parts are treated as full decoding treats them."""
    good = [json.dumps(event(text, finish_reason=None)).encode() for text in ("a", "b", "c")]
    before, _, behind = good[0].rpartition(b'"a"')
    bodies = [*good, before + middle + behind, good[1]]
    assert parsed(bodies, 24) == parsed(bodies, 0)


def test_a_plain_token_event_has_a_fast_decoder() -> None:
    """Its bytes are split around the text, and not around the same word in another place."""
    body = json.dumps(event("hello", finish_reason=None)).encode()
    decoder = fast_decoder(body, wire_format.decode_chunk(body))
    assert decoder is not None
    assert decoder.before + b'"hello"' + decoder.after == body


@pytest.mark.parametrize(
    "more",
    [{"finish_reason": "stop"}, {"usage": {"total_tokens": 3}}, {"message": {"content": "x"}}],
)
def test_events_with_more_than_a_text_have_none(more: JSON) -> None:
    """A finish reason, usage or a message beside the text is never skipped over."""
    body = json.dumps(event("hello", **more)).encode()
    assert fast_decoder(body, wire_format.decode_chunk(body)) is None


def completion(text: str, **more: object) -> bytes:
    choice = {"index": 1, "text": text, "logprobs": None, "finish_reason": None} | more
    return json.dumps({"id": "cmpl-1", "object": "text_completion", "choices": [choice]}).encode()


def test_events_of_a_completion_differ_in_their_text_only() -> None:
    """The bytes around it are those of every event of its kind."""
    first, later = completion(" dog"), completion(' "é" \\ 中')
    decoder = fast_decoder(first, wire_format.decode_chunk(first))
    assert decoder is not None
    assert (decoder.choice, decoder.is_reasoning) == (1, False)
    assert later.startswith(decoder.before)
    assert later.endswith(decoder.after)
    assert decode_text(later[len(decoder.before) : -len(decoder.after)]) == ' "é" \\ 中'
