"""From pieces to the JSON of a reply, in the shapes of the two endpoints."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from typing import Any, Protocol

from tinyserver.records import Piece, Score, Whole
from tinyserver.speech import spoken
from tinyserver.tokenizer import Tokenizer

Json = dict[str, Any]


class Shape(Protocol):
    """What the endpoints differ in: names, and what a choice looks like."""

    prefix: str
    whole_object: str
    chunk_object: str

    def opening(self, index: int) -> Json | None: ...

    def chunk(self, piece: Piece) -> Json: ...

    def whole(self, index: int, whole: Whole) -> Json: ...


class ChatShape:
    """Choices of `/v1/chat/completions`."""

    prefix = "chatcmpl"
    whole_object = "chat.completion"
    chunk_object = "chat.completion.chunk"

    def __init__(self, tokenizer: Tokenizer, *, logprobs: bool, aloud: bool) -> None:
        self._tokenizer = tokenizer
        self._logprobs = logprobs
        self._aloud = aloud
        self._said: dict[int, str] = {}

    def opening(self, index: int) -> Json:
        delta = {"role": "assistant", "content": None if self._aloud else ""}
        return {"index": index, "delta": delta, "logprobs": None, "finish_reason": None}

    def chunk(self, piece: Piece) -> Json:
        delta: Json = self._heard(piece) if self._aloud else {"content": piece.text} if piece.text else {}
        scores = self._scores(piece.scores) if piece.scores else None
        return {"index": piece.choice, "delta": delta, "logprobs": scores, "finish_reason": piece.finish}

    def whole(self, index: int, whole: Whole) -> Json:
        message: Json = {"role": "assistant", "content": whole.text}
        if self._aloud:
            message |= {"content": None, "audio": {"id": f"audio-{index}", **_sound(whole.text)}}
        scores = self._scores(whole.scores) if self._logprobs else None
        return {"index": index, "message": message, "logprobs": scores, "finish_reason": whole.finish}

    def _heard(self, piece: Piece) -> Json:
        """The transcript as it grows, and with the last piece the sound of all."""
        text = self._said[piece.choice] = self._said.get(piece.choice, "") + piece.text
        audio = {"transcript": piece.text} if piece.text else {}
        if piece.finish is not None:
            audio = {"id": f"audio-{piece.choice}", **_sound(text), "transcript": piece.text}
        return {"audio": audio} if audio else {}

    def _scores(self, scores: Sequence[Score]) -> Json:
        return {"content": [self._told(score) for score in scores]}

    def _told(self, score: Score) -> Json:
        top = [self._entry(*other) for other in score.top]
        return {**self._entry(score.token, score.logprob), "top_logprobs": top}

    def _entry(self, token: int, logprob: float | None) -> Json:
        name = self._tokenizer.name(token)
        return {"token": name, "logprob": logprob, "bytes": list(name.encode())}


def _sound(text: str) -> Json:
    return {"data": spoken(text), "transcript": text, "format": "wav"}


class CompletionShape:
    """Choices of `/v1/completions`."""

    prefix = "cmpl"
    whole_object = chunk_object = "text_completion"

    def __init__(self, tokenizer: Tokenizer, *, logprobs: bool) -> None:
        self._tokenizer = tokenizer
        self._logprobs = logprobs
        self._offsets: dict[int, int] = {}

    def opening(self, index: int) -> None:
        """There is no role to tell."""

    def chunk(self, piece: Piece) -> Json:
        scores = self._scores(piece.choice, piece.scores) if piece.scores else None
        return {"index": piece.choice, "text": piece.text, "logprobs": scores, "finish_reason": piece.finish}

    def whole(self, index: int, whole: Whole) -> Json:
        scores = self._scores(index, whole.scores) if self._logprobs else None
        return {"index": index, "text": whole.text, "logprobs": scores, "finish_reason": whole.finish}

    def _scores(self, index: int, scores: Sequence[Score]) -> Json:
        name = self._tokenizer.name
        offsets, place = [], self._offsets.get(index, 0)
        for score in scores:
            offsets.append(place)
            place += len(self._tokenizer.text(score.token))
        self._offsets[index] = place
        return {
            "tokens": [name(score.token) for score in scores],
            "token_logprobs": [score.logprob for score in scores],
            "top_logprobs": [self._top(score) for score in scores],
            "text_offset": offsets,
        }

    def _top(self, score: Score) -> dict[str, float] | None:
        """The likeliest tokens, and always the one that stands there."""
        if score.logprob is None:
            return None
        name = self._tokenizer.name
        return {name(token): logprob for token, logprob in (*score.top, (score.token, score.logprob))}


class Reply:
    """The frame around the choices: the same id and time in every chunk, and the usage."""

    def __init__(self, shape: Shape, model: str, prompt_tokens: int) -> None:
        self._shape = shape
        name = f"{shape.prefix}-{uuid.uuid4().hex}"
        self._frame = {"id": name, "created": int(time.time()), "model": model}
        self._prompt_tokens = prompt_tokens
        self._made = 0

    def openings(self, choices: int) -> list[Json]:
        openings = [self._shape.opening(index) for index in range(choices)]
        return [self._chunk([opening]) for opening in openings if opening is not None]

    def chunks(self, pieces: Sequence[Piece]) -> list[Json]:
        self._made += sum(piece.tokens for piece in pieces)
        return [self._chunk([self._shape.chunk(piece)]) for piece in pieces]

    def usage_chunk(self) -> Json:
        return {**self._chunk([]), "usage": self._usage()}

    def whole(self, wholes: Sequence[Whole]) -> Json:
        self._made = sum(whole.tokens for whole in wholes)
        choices = [self._shape.whole(index, whole) for index, whole in enumerate(wholes)]
        return {**self._frame, "object": self._shape.whole_object, "choices": choices, "usage": self._usage()}

    def _chunk(self, choices: list[Json]) -> Json:
        return {**self._frame, "object": self._shape.chunk_object, "choices": choices}

    def _usage(self) -> dict[str, int]:
        total = self._prompt_tokens + self._made
        return {"prompt_tokens": self._prompt_tokens, "completion_tokens": self._made, "total_tokens": total}
