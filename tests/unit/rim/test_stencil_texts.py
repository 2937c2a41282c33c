"""Stencils of completions, whose text stands in the choice itself."""

import json

import pytest

from model_accuracy_eval.rim.service import wire
from model_accuracy_eval.rim.service.stencil import cut, decode_text


def event(text: str, **more: object) -> bytes:
    choice = {"index": 1, "text": text, "logprobs": None, "finish_reason": None} | more
    return json.dumps({"id": "cmpl-1", "object": "text_completion", "choices": [choice]}).encode()


def test_a_text_is_all_that_its_event_says() -> None:
    """What stands around it fits every event of its kind."""
    first, later = event(" dog"), event(' "é" \\ 中')
    stencil = cut(first, wire.decode_chunk(first))
    assert stencil is not None
    assert (stencil.choice, stencil.thought) == (1, False)
    assert later.startswith(stencil.before)
    assert later.endswith(stencil.behind)
    assert decode_text(later[len(stencil.before) : -len(stencil.behind)]) == ' "é" \\ 中'


@pytest.mark.parametrize(
    "odd",
    [event(""), event("x", finish_reason="stop"), event("x", message={"content": "y"}), event("x", usage={"a": 1})],
)
def test_an_event_that_says_more_is_no_model_for_others(odd: bytes) -> None:
    """An end, another text or a count would be repeated."""
    assert cut(odd, wire.decode_chunk(odd)) is None
