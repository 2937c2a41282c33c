"""One choice while it is being written, and the ticket its reader holds."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from tinyserver.http_errors import ClientGone, RequestError
from tinyserver.model import Cache, Model
from tinyserver.records import Job, Piece, Score
from tinyserver.sampling import log_softmax
from tinyserver.stops import StopWatch
from tinyserver.tokenizer import Tokenizer
from tinyserver.weights import Floats

LOOK_EVERY: Final = 0.25
"""Seconds between two looks at whether the client is still there."""


class Ticket:
    """Where the engine puts the pieces of a request, and the request's thread picks them up."""

    def __init__(self, choices: int) -> None:
        self._open = choices
        self._pieces: queue.SimpleQueue[list[Piece] | None] = queue.SimpleQueue()
        self.cancelled = False

    def give(self, pieces: list[Piece]) -> None:
        self._pieces.put(pieces)

    def fail(self) -> None:
        self.cancelled = True
        self._pieces.put(None)

    def pieces(self, still_there: Callable[[], bool]) -> Iterator[list[Piece]]:
        """Yield pieces as they come, until every choice has finished."""
        while self._open:
            try:
                batch = self._pieces.get(timeout=LOOK_EVERY)
            except queue.Empty:
                if not still_there():
                    raise ClientGone from None
                continue
            if batch is None:
                raise RequestError("The engine failed; its log says why.", status=500)
            self._open -= sum(piece.finish is not None for piece in batch)
            yield batch


class Prompt:
    """A job's prompt, read once for all of its choices."""

    def __init__(self, job: Job, model: Model) -> None:
        hidden, self.cache = model.read(job.prompt, job.pictures)
        self.scores: Floats = model.logits(hidden[-1:])[0]
        self.echo: tuple[Score, ...] = ()
        if job.echo and job.top is not None:
            self.echo = _prompt_scores(job, model.logits(hidden[:-1]))


class Writer:
    """Writes one choice, token by token."""

    def __init__(self, job: Job, choice: int, index: int, ticket: Ticket) -> None:
        self.job = job
        self.ticket = ticket
        self.dice = job.sampling.dice(choice)
        self.newest = job.prompt[-1]
        self._index = index
        self._left = job.max_tokens
        self._stops = StopWatch(job.stops)
        self._made = 0
        self._unsaid: list[Score] = []

    def begin(self, prompt: Prompt, tokenizer: Tokenizer) -> Piece | None:
        """Start from the prompt; there is something to show already if it is to be echoed."""
        self.cache: Cache = prompt.cache.copy()
        self.scores: Floats = prompt.scores
        if not self.job.echo:
            return None
        text = "".join(map(tokenizer.text, self.job.prompt))
        finish = None if self._left else "length"
        return Piece(self._index, text, 0, prompt.echo, finish)

    def add(self, token: int, score: Score | None, tokenizer: Tokenizer, end_token: int) -> Piece | None:
        """Take the newest token; return what may now be shown."""
        self.newest = token
        self._left -= 1
        self._made += 1
        if score is not None:
            self._unsaid.append(score)
        text = self._stops.feed(tokenizer.text(token))
        ended = (token == end_token and self.job.ends) or self._stops.hit
        finish = "stop" if ended else None if self._left else "length"
        if finish is not None:
            text += self._stops.flush()
        elif not text:
            return None
        piece = Piece(self._index, text, self._made, tuple(self._unsaid), finish)
        self._made, self._unsaid = 0, []
        return piece


def score_of(token: int, logs: npt.NDArray[np.float64], top: int) -> Score:
    """Note a token's logprob and the likeliest tokens at its place."""
    best = np.argsort(-logs, kind="stable")[:top]
    return Score(token, float(logs[token]), tuple((int(i), float(logs[i])) for i in best))


def _prompt_scores(job: Job, scores: Floats) -> tuple[Score, ...]:
    """What the model thought of each prompt token; of the first it had no opinion."""
    rest = zip(job.prompt[1:], log_softmax(scores), strict=True)
    return (Score(job.prompt[0], None), *(score_of(token, logs, job.top or 0) for token, logs in rest))
