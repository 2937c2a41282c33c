"""Whether a service still answers as at first after all that it was asked: looked at between the requests of probes."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from model_accuracy_eval.diagnosis.probe import FIRST_ROUNDS, ChangedAnswers, Needle, ProbeResult, changed_answers
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Fault, ReadAgain, Reply, Request, ScoredReply, ScoredToken

_EVERY = 250
"""Requests between two looks."""
_ROUNDS = 2

R = TypeVar("R")
T = TypeVar("T")


class Watched:
    """A subject that asks the first questions again after so many requests. Implements `Subject`."""

    def __init__(self, subject: Subject, needles: Sequence[Needle]) -> None:
        self.salt = subject.salt
        self._subject = subject
        self._needles = needles
        self._asked = self._right = FIRST_ROUNDS * len(needles)
        """Requests until now, and at the last look at which all was right."""
        self._changed: ChangedAnswers | None = None
        self._wrong_at = 0

    async def ask(self, requests: Sequence[Request], at_once: int = 1) -> list[Reply]:
        return await self._in_parts(self._subject.ask, requests, at_once)

    async def scored(self, requests: Sequence[Request], at_once: int = 1) -> list[ScoredReply | Fault]:
        return await self._in_parts(self._subject.scored, requests, at_once)

    async def answered(self, asked: Sequence[tuple[Request, bool]], at_once: int = 1) -> list[ScoredReply | Fault]:
        return await self._in_parts(self._subject.answered, asked, at_once)

    async def rescored(self, prompt: str, tokens: int) -> ReadAgain | Fault:
        self._asked += 2
        return await self._subject.rescored(prompt, tokens)

    async def forced(
        self, asked: Sequence[tuple[Request, ScoredReply]], at_once: int = 1
    ) -> list[tuple[ScoredToken, ...] | Fault]:
        return await self._in_parts(self._subject.forced, asked, at_once)

    async def abandon(
        self, given_up: Sequence[tuple[Request, float]], beside: Sequence[tuple[Request, bool]], at_once: int
    ) -> list[ScoredReply | Fault]:
        self._asked += len(given_up) + len(beside)
        return await self._subject.abandon(given_up, beside, at_once)

    async def metrics(self) -> str:
        return await self._subject.metrics()

    async def close(self) -> None:
        await self._subject.close()

    async def _in_parts(
        self, ask: Callable[[Sequence[R], int], Awaitable[list[T]]], requests: Sequence[R], at_once: int
    ) -> list[T]:
        replies: list[T] = []
        for begin in range(0, len(requests), _EVERY):
            part = requests[begin : begin + _EVERY]
            replies += await ask(part, at_once)
            self._asked += len(part)
            if self._asked - self._right >= _EVERY:
                await self.lasts()
        return replies

    async def lasts(self) -> ProbeResult:
        """Whether the first questions are answered as at first, now and at each look before."""
        for _ in range(_ROUNDS if self._changed is None else 0):
            replies = await self._subject.ask([needle.request for needle in self._needles])
            self._asked += len(replies)
            changed = changed_answers(self._needles, replies)
            if changed.is_fault:
                self._changed, self._wrong_at = changed, self._asked
                break
        else:
            self._right = self._right if self._changed else self._asked
        if self._changed is None:
            return ProbeResult("PASS", f"The first questions are answered as at first, after {self._asked:,} requests.")
        return ProbeResult(
            "FAIL",
            f"Right up to request {self._right:,}, wrong at request {self._wrong_at:,}: {self._changed.shown}.",
            "restart the server and diagnose again: if it lasts as long, look for what fills up or is not cleared "
            "(slots, blocks of the cache, handles)",
        )
