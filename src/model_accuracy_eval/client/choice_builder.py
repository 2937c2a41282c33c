"""One choice of an answer while its events arrive: its text, where it stops, and the times of its chunks."""

import base64
import binascii
import hashlib
import io
import json
import wave
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from model_accuracy_eval.client import wire_format
from model_accuracy_eval.client.dialects import FAILED_FINISH_REASONS, ChunkChoice, Delta, reasoning_texts
from model_accuracy_eval.records import Choice, Timings, ToldToken
from model_accuracy_eval.records.problem import HEAD_BYTES, Media, MediaKind, media_format


class ChoiceBuilder:
    """One choice of an answer while its events arrive: its text, where it stops, and the times of its chunks."""

    __slots__ = (
        "begun",
        "calls",
        "chunks",
        "end",
        "first",
        "gap_max",
        "last",
        "parts",
        "reason",
        "reasoning",
        "sound",
        "stopped",
        "texts",
        "tokens",
    )

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.reasoning: list[str] = []
        self.calls: list[msgspec.Raw] = []
        """Fragments of tool calls, not yet decoded."""
        self.parts: list[object] = []
        """Of contents that are lists."""
        self.sound: list[str | msgspec.Raw] = []
        """Base64, and `audio` fields, not yet decoded."""
        self.tokens: list[ToldToken] = []
        self.reason: str | None = None
        """The finish_reason that the service sent."""
        self.stopped = False
        """Whether the text was cut here, at a stop string."""
        self.first: float | None = None
        self.last = self.end = self.gap_max = 0.0
        self.chunks = 0
        self.begun = False

    def add(self, part: ChunkChoice, now: float) -> None:
        """Adds the choice's part of one decoded event."""
        delta = part.delta
        # Some servers repeat the message after its deltas; others have one of text and one of sound.
        if delta is None and (not (self.texts or self.reasoning) or (part.message and part.message.audio)):
            delta = part.message
        if delta is None:
            if part.text:
                self.texts.append(part.text)
        else:
            text, reasoning = delta.content, next(filter(None, reasoning_texts(delta)), None)
            if text:
                self.texts.append(text if isinstance(text, str) else wire_format.join_parts(text))
                self.parts += text if isinstance(text, list) else ()
            if reasoning:
                self.reasoning.append(reasoning)
            if delta.audio or delta.images:
                self._add_media(delta)
            if delta.tool_calls and wire_format.has_content(delta.tool_calls):
                self.calls.append(delta.tool_calls)
                self.texts.append("")  # counts as a chunk, so that a call is timed as a text is
            elif not (text or reasoning) and wire_format.has_content(delta.function_call):
                self.begun = True
        reason = part.finish_reason
        # Some servers send two reasons. One that means failure replaces any earlier one.
        if reason and (self.reason is None or reason in FAILED_FINISH_REASONS):
            self.reason, self.end, self.begun = reason, now, True

    def add_sound(self, part: ChunkChoice) -> None:
        """Takes the part's content as sound in place of text."""
        if part.delta is not None and isinstance(part.delta.content, str) and part.delta.content:
            self.sound.append(part.delta.content)
            self.texts.append("")
            part.delta.content = None

    def _add_media(self, delta: Delta) -> None:
        self.texts.append("")  # counts as a chunk
        self.parts += delta.images or ()
        if wire_format.has_content(delta.audio):
            self.sound.append(delta.audio)

    def end_read(self, now: float) -> None:
        """Called after each read from the socket: all its chunks arrived at this time."""
        chunks = len(self.texts) + len(self.reasoning)
        if chunks == self.chunks:
            return
        self.chunks = chunks
        if self.first is None:
            self.first, self.begun = now, True
        elif now - self.last > self.gap_max:
            self.gap_max = now - self.last
        self.last = now

    def cut_at(self, stops: Sequence[str]) -> None:
        """Ends the choice before the first stop string; calls and a finish reason from behind it do not count."""
        text = cut("".join(self.texts), stops)
        if text is not None:
            self.texts, self.calls, self.stopped = [text], [], True

    @property
    def finish_reason(self) -> str | None:
        return "stop" if self.stopped else self.reason

    def build(self, index: int, sent: float, *, split_characters: bool, streamed: bool) -> Choice:
        """The finished choice. `split_characters`: half characters may have come in separate events."""
        text, reasoning = "".join(self.texts), "".join(self.reasoning)
        gaps = self.chunks - 1 if streamed and self.first is not None else 0
        timings = Timings(
            # An answer in one piece does not show when its first token was ready.
            ttft=self.first - sent if streamed and self.first is not None else None,
            e2e=max(self.end, self.last) - sent,
            gap_mean=(self.last - self.first) / gaps if gaps > 0 and self.first is not None else None,
            gap_max=self.gap_max if gaps > 0 else None,
            chunks=self.chunks,
        )
        if split_characters:
            text, reasoning = wire_format.join_surrogates(text), wire_format.join_surrogates(reasoning)
        calls = wire_format.assemble_calls(self.calls) if self.calls else ()
        media, transcript = assembled(self.parts, self.sound) if self.parts or self.sound else ((), "")
        spoken = bool(transcript) and not text.strip()
        return Choice(
            index=index,
            text=transcript if spoken else text,
            spoken=spoken,
            reasoning=reasoning,
            media=media,
            finish_reason=self.finish_reason,
            calls=calls,
            tokens=tuple(self.tokens),
            timings=timings,
        )


def cut(text: str, stops: Sequence[str]) -> str | None:
    """The text before the first stop string; None if it has none."""
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return text[: min(places)] if places else None


# Sounds and pictures in replies → their bytes as data URIs, and what is said in them.
#
# OpenAI sends `audio` with its data and transcript, in a stream piece by piece and as PCM; vLLM-Omni whole or as WAV
# pieces in `content`, in events of the modality audio; pictures are parts of `content`, or `images` beside it.


_PCM_RATE = 24_000
"""OpenAI's pcm16: one channel of 16 bits, without a header."""
_KINDS: tuple[MediaKind, ...] = ("image", "audio", "video")


def assembled(parts: Iterable[object], sound: Sequence[str | msgspec.Raw]) -> tuple[tuple[Media, ...], str]:
    """All media of a choice and their transcript. `parts`: lists in its contents; `sound`: Base64, and `audio` fields
    that are not yet decoded, in the order in which they came."""
    found: list[Media] = []
    pieces, said = [], []
    for piece in sound:
        tree = {"data": piece} if isinstance(piece, str) else json.loads(bytes(piece))
        if isinstance(tree, dict):
            pieces.append(_bytes(tree.get("data")))
            said.append(_text(tree.get("transcript")))
    if whole := _joined(list(filter(None, pieces))):
        found.append(_media("audio", whole))
    for part in parts:
        kind = next((kind for kind in _KINDS if isinstance(part, dict) and kind in str(part.get("type"))), None)
        if kind is None or not isinstance(part, dict):
            continue
        body = part.get(str(part["type"]), part)
        source = body if isinstance(body, str) else _text(_field(body, "url") or _field(body, "data"))
        said.append(_text(_field(body, "transcript")))
        if source.startswith(("http://", "https://")):
            found.append(Media(kind=kind, format="", sha256=hashlib.sha256(source.encode()).hexdigest(), url=source))
        elif content := _bytes(source):
            found.append(_media(kind, content))
    return tuple(found), "".join(said)


def _field(body: object, name: str) -> object:
    return body.get(name) if isinstance(body, dict) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _bytes(source: Any) -> bytes:
    """Of Base64 or a data URI; nothing of what is neither."""
    text = _text(source)
    try:
        return base64.b64decode(text.partition(",")[2] if text.startswith("data:") else text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _joined(pieces: list[bytes]) -> bytes:
    """One sound of several; each piece of a WAV may have a header of its own."""
    if len(pieces) < 2 or not all(piece.startswith(b"RIFF") for piece in pieces):
        return b"".join(pieces)
    frames = b""
    try:
        for piece in pieces:
            with wave.open(io.BytesIO(piece)) as sound:
                frames += sound.readframes(sound.getnframes())
    except (wave.Error, EOFError):
        return pieces[0]
    return _wav(frames, sound.getnchannels(), sound.getsampwidth(), sound.getframerate())


def _wav(frames: bytes, channels: int = 1, width: int = 2, rate: int = _PCM_RATE) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(channels)
        sound.setsampwidth(width)
        sound.setframerate(rate)
        sound.writeframes(frames)
    return file.getvalue()


def _media(kind: MediaKind, content: bytes) -> Media:
    known = media_format(content[:HEAD_BYTES])
    if known is None and kind == "audio":
        content, known = _wav(content), ("audio", "wav")
    kind, form = known or (kind, "bin")
    return Media(
        kind=kind,
        format=form,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        url=f"data:{kind}/{form};base64,{base64.b64encode(content).decode()}",
    )
