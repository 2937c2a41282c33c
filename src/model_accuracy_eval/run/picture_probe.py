"""Whether a service shows pictures to its model: questions about digits drawn here, with and without the picture.

Servers are known to answer a request with a picture as if it had none, or to hand the model the picture's bytes as
text; every score would then be one of guessing.
"""

import base64
import hashlib
import struct
import zlib
from collections.abc import Sequence

from msgspec import structs

from model_accuracy_eval.errors import AdapterFailed
from model_accuracy_eval.ports import Chat, Ports
from model_accuracy_eval.records import Fault, Media, Message, PreparedDataset, Record, Reply, Request, RunPlan, Service
from model_accuracy_eval.run.deploy import LiveService
from model_accuracy_eval.system.clock import run, run_checked

DIGITS = ("4", "7")
_LIT = {"4": "bcfg", "7": "abc"}
"""Which of the seven segments are dark."""
_SEGMENTS = {
    "a": (6, 4, 22, 7),
    "b": (19, 4, 22, 16),
    "c": (19, 16, 22, 28),
    "f": (6, 4, 9, 16),
    "g": (6, 14, 22, 17),
}
"""Left, top, right and bottom on a field of 28 by 32."""
_WIDTH, _HEIGHT, _SCALE = 28, 32, 8
_QUESTION = "Which digit is it? Answer with the digit alone."
_ANSWER_TOKENS = 16
_PLACEHOLDER_TOKENS = 4
"""A word in the picture's place takes fewer; no model is known that sees a picture in so few."""
_PADDING = 24_000
"""Bytes that no viewer shows; as text they are thousands of tokens."""


class PictureReading(Record, frozen=True, kw_only=True):
    """What became of pictures that were sent."""

    objection: str = ""
    """Why answers about pictures would say nothing; empty if they reach the model as far as can be seen."""
    tokens: int | None = None
    """By how many tokens a picture lengthens the prompt."""
    answers: tuple[str, ...] = ()
    """What the model said about the pictures of `DIGITS`."""


def check(plan: RunPlan, datasets: Sequence[PreparedDataset], live: LiveService, ports: Ports) -> None:
    """Refuses a service that would answer the questions without having seen their pictures."""
    shown = (
        media for each in datasets for problem in each.problems for turn in problem.messages for media in turn.media
    )
    if not any(media.kind == "image" for media in shown):
        return

    async def look(service: Service) -> PictureReading:
        chat = ports.connect(service, plan.client_limits, role="model")
        try:
            return await read_pictures(chat)
        finally:
            await chat.close()

    for replica in live.replicas:
        reading = run(run_checked(look(replica.service), live.check, ports.clock))
        if reading.objection:
            raise AdapterFailed(
                f"The datasets show pictures, but {reading.objection} Serve a model that reads pictures, or evaluate "
                "datasets of texts."
            )
        ports.progress.say(describe(reading))


def describe(reading: PictureReading) -> str:
    """What was seen, for readers."""
    lengthen = "of unknown length" if reading.tokens is None else f"of {reading.tokens:,} tokens"
    said = " and ".join(map(repr, reading.answers))
    ending = ", which is wrong." if misread(reading) else "."
    return f"Pictures {lengthen} reach the model; shown the digits {' and '.join(DIGITS)}, it says {said}{ending}"


def misread(reading: PictureReading) -> bool:
    """Whether an answer lacks its digit: small models err, but so does every model whose pictures arrive broken."""
    return not all(digit in answer for digit, answer in zip(DIGITS, reading.answers, strict=True))


async def read_pictures(chat: Chat) -> PictureReading:
    """Asks without a picture, with two different ones, and with one that has many bytes more but looks the same."""
    bare = await chat.ask(_request(None))
    first, second = [await chat.ask(_request(picture(digit))) for digit in DIGITS]
    padded = await chat.ask(_request(picture(DIGITS[0], _PADDING)))
    for reply in (bare, first, second, padded):
        if reply.fault is not None:
            return PictureReading(objection=_refused(reply.fault))
    answers = (_said(first), _said(second))
    lengths = [reply.usage.prompt_tokens if reply.usage else None for reply in (bare, first, padded)]
    without, with_picture, with_more = lengths
    tokens = None if with_picture is None or without is None else with_picture - without
    reading = PictureReading(tokens=tokens, answers=answers)
    if with_more is not None and with_picture is not None and with_more - with_picture > _PADDING // 24:
        return PictureReading(
            objection=f"the service reads their bytes as text: a picture with {_PADDING:,} bytes more, which look the "
            f"same, makes a prompt of {with_more:,} tokens instead of {with_picture:,}."
        )
    if tokens is not None and tokens >= _PLACEHOLDER_TOKENS:
        return reading
    if answers[0] != answers[1]:
        objection = _by_chance(answers[0], _said(padded))
    elif tokens is not None:
        objection = (
            f"the service drops them: the prompt has {with_picture:,} tokens with a picture and {without:,} "
            f"without it, and two different pictures get the same answer ({answers[0]!r})."
        )
    else:
        objection = _as_without(answers[0], _said(bare))
    return structs.replace(reading, objection=objection)


def _by_chance(answer: str, of_the_same: str) -> str:
    """Different answers to different pictures say something if the same one is answered alike."""
    if answer == of_the_same:
        return ""
    return (
        f"the service gives two pictures that look the same different answers ({answer!r} and {of_the_same!r}), and no "
        "count of tokens says that its model gets any."
    )


def _as_without(answer: str, of_none: str) -> str:
    if answer != of_none:
        return ""
    return f"the service says the same of two different pictures and of none ({answer!r}), and counts no tokens."


def _refused(fault: Fault) -> str:
    return f"the service does not answer a request with a small one: {fault.sentence}"


def _request(media: Media | None) -> Request:
    content = f"{media or ''}{_QUESTION}"
    message = Message(role="user", content=content, media=(media,) if media else ())
    return Request(messages=(message,), temperature=0.0, max_tokens=_ANSWER_TOKENS)


def _said(reply: Reply) -> str:
    return "".join(choice.reasoning + choice.text for choice in reply.choices[:1]).strip()


def picture(digit: str, padding: int = 0) -> Media:
    """A black digit of straight strokes on white."""
    rows = [[255] * (_WIDTH * _SCALE) for _ in range(_HEIGHT * _SCALE)]
    for left, top, right, bottom in (_SEGMENTS[segment] for segment in _LIT[digit]):
        for row in rows[top * _SCALE : bottom * _SCALE]:
            row[left * _SCALE : right * _SCALE] = [0] * ((right - left) * _SCALE)
    content = _png(rows, padding)
    data = base64.b64encode(content).decode("ascii")
    digest = hashlib.sha256(content).hexdigest()
    return Media(kind="image", format="png", sha256=digest, size=len(content), url=f"data:image/png;base64,{data}")


def _png(rows: Sequence[Sequence[int]], padding: int) -> bytes:
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    comment = [(b"tEXt", b"Comment\0" + b"evaluation " * (padding // 11))] if padding else []
    chunks = [(b"IHDR", head), *comment, (b"IDAT", pixels), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
