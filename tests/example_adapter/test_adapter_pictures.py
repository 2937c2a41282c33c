"""Pictures in a chat: read, counted in the usage, refused with a sentence, and left out only when told to."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.example_adapter.client import ADAPTER, Server, running
from tests.example_adapter.png_files import png, uri

sys.path.insert(0, str(ADAPTER))
from training.digit_rows import as_data_uri, rows

QUESTION = "Which number?"
TEXT = {"type": "text", "text": QUESTION}
FRESH = 7
"""A seed of pictures that no other part of the project draws."""


def image(url: object) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def white(width: int, height: int) -> dict[str, Any]:
    return image(uri(png([[255] * width] * height)))


@pytest.fixture(scope="module")
def seeing() -> Iterator[Server]:
    yield from running("weights-digits")


@pytest.fixture(scope="module")
def blind() -> Iterator[Server]:
    """It has the same weights, but leaves pictures out without a word."""
    yield from running("weights-digits", "--drop-pictures")


def prompt_tokens(server: Server, *parts: dict[str, Any]) -> int:
    answer = server.chat([*parts], max_tokens=1)
    assert answer.status == 200, answer.body
    return int(answer.json["usage"]["prompt_tokens"])


def test_numbers_are_read_from_fresh_pictures(seeing: Server) -> None:
    """At temperature 0 more than four in five numbers are read, yet not all."""

    def right(row: tuple[str, Any]) -> bool:
        number, picture = row
        return seeing.texts([image(as_data_uri(picture)), TEXT], temperature=0, max_tokens=8) == [number]

    with ThreadPoolExecutor(4) as pool:
        share = sum(pool.map(right, rows(200, FRESH))) / 200
    assert 0.8 < share < 1


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
    content = [image(as_data_uri(picture)), TEXT]
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


def test_a_server_told_to_drop_pictures_answers_the_text(seeing: Server, blind: Server) -> None:
    """Nothing shows it but the usage, and answers that have nothing to do with the pictures."""
    contents = [[image(as_data_uri(picture)), TEXT] for _, picture in rows(20, FRESH)]
    assert {prompt_tokens(blind, *content) for content in contents} == {len(QUESTION)}
    guessed = {blind.texts(content, temperature=0)[0] for content in contents}
    assert guessed == set(seeing.texts(QUESTION, temperature=0))


REFUSED: dict[str, tuple[object, str]] = {
    "an address on the web": (image("https://example.com/cat.png"), "fetches nothing"),
    "a bare text": ({"type": "image_url", "image_url": "data:,"}, "an object image_url with a text url"),
    "not base64": (image("data:image/png,abc"), "must be written as data:image/png;base64,"),
    "wrong base64": (image("data:image/png;base64,%%%"), "is not valid base64"),
    "a JPEG": (image(uri(b"\xff\xd8\xff\xe0", "image/jpeg")), "is no PNG"),
    "a cut PNG": (image(uri(png([[1, 2]])[:40])), "is cut off after 40 bytes"),
    "sound": ({"type": "input_audio", "input_audio": {}}, "reads text and image_url, not a part of the type 'input_audio'"),
    "a mark of a patch": ({"type": "text", "text": "[IMG]"}, "holds [IMG]"),
}  # fmt: skip


@pytest.mark.parametrize(("part", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_is_a_400(seeing: Server, part: object, sentence: str) -> None:
    """One sentence, streamed or not, and the server goes on."""
    for stream in (False, True):
        answer = seeing.chat([part, TEXT], stream=stream)
        assert answer.status == 400
        assert answer.error["param"] == "messages"
        assert sentence in answer.error["message"]
        assert answer.error["message"].endswith(".")


def test_a_model_of_text_refuses_pictures(server: Server) -> None:
    """The model that adds says that it reads text only, whatever the picture is."""
    answer = server.chat([white(48, 16), {"type": "text", "text": "1+1="}])
    assert answer.status == 400
    assert "This model reads text only, not 'image_url'" in answer.error["message"]
