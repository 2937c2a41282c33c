"""Reading by stencil and reading in full are the same, whatever the events are."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.records import Choice
from model_accuracy_eval.rim.service import gathering, wire
from model_accuracy_eval.rim.service.gathering import Gathering, StreamBroken
from model_accuracy_eval.rim.service.stencil import cut

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


def gathered(bodies: list[bytes], lessons: int) -> list[tuple[str, str, str | None, int]] | str:
    """What comes out of a stream, event by event, with so many looks for stencils."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gathering, "_LESSONS", lessons)
        whole = Gathering()
        try:
            for number, body in enumerate(bodies):
                whole.take(b"data: " + body + b"\n\n", float(number))
        except StreamBroken as broken:
            return broken.trouble.sentence
    choices: list[Choice] = [
        whole._answers[index].choice(0.0, mend=False, streamed=True) for index in sorted(whole._answers)
    ]
    return [(one.text, one.reasoning, one.finish_reason, one.timings.chunks) for one in choices]


@given(st.lists(EVENTS, max_size=30), st.booleans(), st.booleans())
def test_a_stencil_changes_nothing(events: list[JSON], ascii_only: bool, spaced: bool) -> None:
    """Texts, reasoning, finish reasons and chunk counts are those of full decoding."""
    separators = (", ", ": ") if spaced else (",", ":")
    bodies = [json.dumps(one, ensure_ascii=ascii_only, separators=separators).encode() for one in events]
    assert gathered(bodies, 24) == gathered(bodies, 0)


@given(st.binary(max_size=12))
def test_a_broken_middle_is_broken(middle: bytes) -> None:
    """Bytes that are no JSON string between the known parts are treated as full decoding treats them."""
    good = [json.dumps(event(text, finish_reason=None)).encode() for text in ("a", "b", "c")]
    before, _, behind = good[0].rpartition(b'"a"')
    bodies = [*good, before + middle + behind, good[1]]
    assert gathered(bodies, 24) == gathered(bodies, 0)


def test_the_usual_event_has_a_stencil() -> None:
    """A plain token event is cut around its text, and not around the same word in another place."""
    body = json.dumps(event("hello", finish_reason=None)).encode()
    stencil = cut(body, wire.decode_chunk(body))
    assert stencil is not None
    assert stencil.before + b'"hello"' + stencil.behind == body


@pytest.mark.parametrize(
    "more",
    [{"finish_reason": "stop"}, {"usage": {"total_tokens": 3}}, {"message": {"content": "x"}}],
)
def test_events_that_say_more_have_none(more: JSON) -> None:
    """A finish reason, usage or a message beside the text is never skipped over."""
    body = json.dumps(event("hello", **more)).encode()
    assert cut(body, wire.decode_chunk(body)) is None
