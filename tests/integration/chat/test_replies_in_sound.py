"""Sounds and pictures in replies, in the forms in which servers send them, over real HTTP."""

import asyncio
import base64
import io
import json
import wave
from typing import Any

import pytest
from tests.pictures import png
from tests.servers.asking import ask, question
from tests.servers.http import Exchange, HttpServer
from tests.sounds import wav

from model_accuracy_eval.records import Choice, Problem, Reply, Request
from model_accuracy_eval.run.rounds import ask_in_turns

SOUND, PICTURE = wav(3), png(7)
ADDRESS = f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"


def coded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def message(**fields: Any) -> dict[str, Any]:
    return {"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": "stop"}


def answered(*events: dict[str, Any], stream: bool = True) -> Choice:
    """The choice that a service's events make, or its one object."""

    async def handle(exchange: Exchange) -> None:
        if not stream:
            exchange.reply(200, events[0])
            return
        text = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
        exchange.reply(200, f"{text}data: [DONE]\n\n".encode(), kind="text/event-stream")

    with HttpServer(handle) as server:
        (reply,) = ask(server.url, question())
    assert reply.fault is None, reply.fault
    return reply.choices[0]


def read(url: str) -> bytes:
    return base64.b64decode(url.partition(",")[2])


def frames(content: bytes) -> tuple[int, int, bytes]:
    with wave.open(io.BytesIO(content)) as sound:
        return sound.getframerate(), sound.getsampwidth(), sound.readframes(sound.getnframes())


def test_openai_streams_pcm_and_a_transcript_in_pieces() -> None:
    """The pieces make one sound with a header, and the transcript is the text."""
    choice = answered(
        delta(role="assistant", content=None, audio={"id": "audio_1"}),
        delta(audio={"transcript": "It is "}),
        delta(audio={"data": coded(b"\x01\x00\x02\x00")}),
        delta(audio={"data": coded(b"\x03\x00"), "transcript": "85."}),
        delta(audio={"expires_at": 1}, finish="stop"),
    )
    (media,) = choice.media
    assert (choice.text, media.kind, media.format, choice.finish_reason) == ("It is 85.", "audio", "wav", "stop")
    assert frames(read(media.url)) == (24_000, 2, b"\x01\x00\x02\x00\x03\x00")
    assert choice.timings.chunks > 0


def test_a_whole_message_has_its_sound_beside_the_text() -> None:
    """A text stays the answer; the sound is kept as it came."""
    sound = {"id": "audio_1", "data": coded(SOUND), "transcript": "eighty-five", "expires_at": 1}
    for content, text, spoken in (("85", "85", False), (None, "eighty-five", True)):
        choice = answered({"choices": [message(content=content, audio=sound)]}, stream=False)
        assert (choice.text, choice.spoken, [read(one.url) for one in choice.media]) == (text, spoken, [SOUND])


@pytest.mark.parametrize("transcript", ["eighty-five", ""])
def test_the_next_turn_goes_on_from_the_transcript(transcript: str) -> None:
    """And the sounds of all turns are kept; a sound that says nothing in words ends the conversation."""
    asked: list[Request] = []

    async def reply(request: Request) -> Reply:
        asked.append(request)
        sound = {"data": coded(wav(len(asked))), "transcript": transcript}
        choice = await asyncio.to_thread(answered, {"choices": [message(audio=sound)]}, stream=False)
        return Reply(id=str(len(asked)), choices=(choice,))

    problem = Problem(id=0, messages=question().messages, references=("85",), follow_ups=("And again?",))
    told = asyncio.run(ask_in_turns(reply, question(), problem))
    if transcript:
        (choice,) = told.choices
        assert [one.content for one in asked[1].messages[-2:]] == ["eighty-five", "And again?"]
        assert (choice.earlier[0].text, choice.earlier[0].spoken, choice.spoken) == ("eighty-five", True, True)
        assert [read(one.url) for one in choice.media] == [wav(1), wav(2)]
    else:
        assert (told.choices, len(asked)) == ((), 1)
        assert told.fault is not None
        assert told.fault.sentence.endswith("cannot go on from, in turn 1 of the conversation.")


def test_vllm_omni_answers_in_a_second_message_or_in_events_of_sound() -> None:
    """Two choices of one number, and pieces that are WAV files each."""
    two = [message(content="85"), message(content=None, audio={"id": "a", "data": coded(SOUND), "transcript": ""})]
    choice = answered({"choices": two}, stream=False)
    assert (choice.text, [read(one.url) for one in choice.media]) == ("85", [SOUND])
    events = [{**delta(content=coded(SOUND)), "modality": "audio"} for _ in range(2)]
    choice = answered({**delta(content="85"), "modality": "text"}, *events, delta(finish="stop"))
    rate, width, whole = frames(read(choice.media[0].url))
    assert (choice.text, len(choice.media), rate, width, whole) == ("85", 1, 8000, 1, 2 * frames(SOUND)[2])


@pytest.mark.parametrize(
    "fields",
    [
        {"content": [{"type": "image_url", "image_url": {"url": ADDRESS}}, {"type": "text", "text": "Here."}]},
        {"content": "Here.", "images": [{"type": "image_url", "image_url": {"url": ADDRESS}}]},
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_pictures_are_parts_of_the_content_or_beside_it(fields: dict[str, Any], stream: bool) -> None:
    event = delta(finish="stop", **fields) if stream else {"choices": [message(**fields)]}
    choice = answered(event, stream=stream)
    (media,) = choice.media
    assert (choice.text, media.kind, media.format, read(media.url)) == ("Here.", "image", "png", PICTURE)


def test_an_address_is_kept_and_not_fetched() -> None:
    """What is no Base64 is nothing."""
    parts = [
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1/cat.png"}},
        {"type": "output_audio", "output_audio": {"data": "no base64!", "transcript": "Meow."}},
    ]
    choice = answered({"choices": [message(content=parts)]}, stream=False)
    assert ([one.url for one in choice.media], choice.text) == (["http://127.0.0.1/cat.png"], "Meow.")
