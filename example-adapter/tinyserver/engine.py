"""One thread that steps every live sequence together.

Requests come and go between two steps: nobody waits for a batch to fill or to empty.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections import deque
from collections.abc import Sequence

import numpy as np

from tinyserver.model import Model
from tinyserver.records import Job, Piece
from tinyserver.sampling import draw, log_softmax
from tinyserver.tokenizer import Tokenizer
from tinyserver.writing import Prompt, Ticket, Writer, score_of

Pieces = dict[Ticket, list[Piece]]


class Engine:
    """Queue in, pieces out."""

    def __init__(self, model: Model, tokenizer: Tokenizer, most_at_once: int) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._most_at_once = most_at_once
        self._changed = threading.Condition()
        self._waiting: deque[Writer] = deque()
        self._live: list[Writer] = []

    def start(self) -> None:
        threading.Thread(target=self._run, name="engine", daemon=True).start()

    def submit(self, jobs: Sequence[Job]) -> Ticket:
        """Queue every choice of every job; choices are numbered through."""
        ticket = Ticket(sum(job.choices for job in jobs))
        pairs = [(job, choice) for job in jobs for choice in range(job.choices)]
        with self._changed:
            self._waiting += [Writer(job, choice, i, ticket) for i, (job, choice) in enumerate(pairs)]
            self._changed.notify()
        return ticket

    def cancel(self, ticket: Ticket) -> None:
        """Nobody reads this any more: its sequences leave at the next step."""
        with self._changed:
            ticket.cancelled = True
            self._changed.notify()

    def load(self) -> int:
        """How many sequences are being written or wait for their turn."""
        with self._changed:
            return len(self._live) + len(self._waiting)

    def _run(self) -> None:
        while True:
            admitted = self._admit()
            try:
                self._turn(admitted)
            except Exception:
                # The requests at hand are lost, those to come need not be.
                traceback.print_exc(file=sys.stderr)
                for ticket in {writer.ticket for writer in self._live}:
                    ticket.fail()

    def _admit(self) -> list[Writer]:
        """Drop what was cancelled, let in what there is room for; sleep while there is nothing to do."""
        with self._changed:
            while True:
                self._live = [writer for writer in self._live if not writer.ticket.cancelled]
                self._waiting = deque(writer for writer in self._waiting if not writer.ticket.cancelled)
                if self._live or self._waiting:
                    break
                self._changed.wait()
            room = min(self._most_at_once - len(self._live), len(self._waiting))
            admitted = [self._waiting.popleft() for _ in range(room)]
            self._live += admitted
            return admitted

    def _turn(self, admitted: list[Writer]) -> None:
        """Give every live sequence one more token, and its reader the pieces."""
        older = self._live[: len(self._live) - len(admitted)]
        pieces: Pieces = {}
        done = self._begin(admitted, pieces)
        if older:
            scores = self._model.step([writer.newest for writer in older], [writer.cache for writer in older])
            for writer, row in zip(older, scores, strict=True):
                writer.scores = row
        done |= self._write([writer for writer in self._live if writer not in done], pieces)
        with self._changed:
            self._live = [writer for writer in self._live if writer not in done]
        for ticket, some in pieces.items():
            ticket.give(some)

    def _begin(self, admitted: list[Writer], pieces: Pieces) -> set[Writer]:
        """Read the prompts of new sequences; return those that are over already."""
        done = set()
        prompts: dict[int, Prompt] = {}
        for writer in admitted:
            if id(writer.job) not in prompts:
                prompts[id(writer.job)] = Prompt(writer.job, self._model)
            piece = writer.begin(prompts[id(writer.job)], self._tokenizer)
            if piece is not None:
                pieces.setdefault(writer.ticket, []).append(piece)
                if piece.finish is not None:
                    done.add(writer)
        return done

    def _write(self, writers: list[Writer], pieces: Pieces) -> set[Writer]:
        """Draw a token for each sequence; return those that finished with it."""
        if not writers:
            return set()
        scores = np.stack([writer.scores for writer in writers])
        samplings = [writer.job.sampling for writer in writers]
        tokens = draw(scores, samplings, [writer.dice for writer in writers])
        wanted = any(writer.job.top is not None for writer in writers)
        logs = log_softmax(scores) if wanted else None
        done = set()
        for row, (writer, token) in enumerate(zip(writers, tokens.tolist(), strict=True)):
            top = writer.job.top
            score = None if top is None or logs is None else score_of(token, logs[row], top)
            piece = writer.add(token, score, self._tokenizer, self._model.config.end_token)
            if piece is not None:
                pieces.setdefault(writer.ticket, []).append(piece)
                if piece.finish is not None:
                    done.add(writer)
        return done
