"""Pictures in a chat: seen as another implementation of the same model sees them, and counted in the usage."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.example_adapter.client import ADAPTER, Server, running

sys.path.insert(0, str(ADAPTER))
from training.digit_rows import as_data_uri, rows

QUESTION = "Which number?"
TEXT = {"type": "text", "text": QUESTION}
FRESH = 7
"""A seed of pictures that no other part of the project draws."""


def image(pixels: Any) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": as_data_uri(pixels)}}


def white(width: int, height: int) -> dict[str, Any]:
    return image(np.full((height, width), 255, np.uint8))


@pytest.fixture(scope="module")
def seeing() -> Iterator[Server]:
    yield from running("weights-digits")


def prompt_tokens(server: Server, *parts: dict[str, Any]) -> int:
    answer = server.chat([*parts], max_tokens=1)
    assert answer.status == 200, answer.body
    return int(answer.json["usage"]["prompt_tokens"])


UNSURE = {
    57: ("534", [-0.0031, -0.9694, -0.0034, -0.0010]),
    6: ("26", [-0.0005, -0.4100, -0.0005]),
}
"""What transformers 5.19 says of the same weights and pictures: the likeliest tokens, and their logprobs with the end's.
Pictures of which the model is not sure, because there a wrong computation shows."""


@pytest.mark.parametrize("number", UNSURE)
def test_what_is_seen_is_what_transformers_sees(seeing: Server, number: int) -> None:
    """Positions in both directions, marks after the rows, the projector: all of it, to three digits."""
    _, picture = list(rows(number + 1, FRESH))[-1]
    content = [image(picture), TEXT]
    (choice,) = seeing.chat(content, temperature=0, max_tokens=8, logprobs=True).json["choices"]
    text, logprobs = UNSURE[number]
    assert choice["message"]["content"] == text
    assert [entry["logprob"] for entry in choice["logprobs"]["content"]] == pytest.approx(logprobs, abs=0.001)


def test_usage_grows_with_the_picture(seeing: Server) -> None:
    """A token for each patch of 8 x 8 pixels, and one for each row of patches."""
    text = prompt_tokens(seeing, TEXT)
    assert text == len(QUESTION)
    assert prompt_tokens(seeing, white(48, 16), TEXT) == text + (6 + 1) * 2
    assert prompt_tokens(seeing, white(64, 24), TEXT) == text + (8 + 1) * 3
    assert prompt_tokens(seeing, white(48, 16), TEXT, white(64, 24)) == text + 7 * 2 + 9 * 3
