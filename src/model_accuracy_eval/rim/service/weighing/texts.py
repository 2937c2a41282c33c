"""Weighs given texts by the log-probabilities of their tokens: the two upper rungs of the ladder."""

from collections.abc import Sequence
from typing import Protocol

from model_accuracy_eval.records import Ballot, Candidate, Fault, Likelihood, Reply
from model_accuracy_eval.rim.service.weighing.calls import Calls
from model_accuracy_eval.rim.service.weighing.reading import Way

Weights = list[Likelihood | Fault]


class Method(Protocol):
    """How endings are found among tokens. Lists are as long as their candidates, or hold a fault."""

    async def after(self, candidates: Sequence[Candidate]) -> Weights:
        """What follows each one's context."""

    async def shared(self, candidates: Sequence[Candidate]) -> Weights:
        """What each one does not share with the others."""

    async def whole(self, text: str) -> Likelihood | Fault:
        """All of a text, its first token too."""


class TextScale:
    """Implements `ports.Scale`."""

    def __init__(self, calls: Calls, way: Way, method: Method) -> None:
        self._calls = calls
        self._method = method
        self.rung: Way = way
        self.findings: tuple[str, ...] = ()

    async def weigh(self, ballot: Ballot) -> Reply:
        """All candidates at once; one that cannot be weighed makes the whole a fault."""
        name = self._calls.next_id()
        weighed = await self._weigh(ballot)
        fault = next((one for one in weighed if isinstance(one, Fault)), None)
        if fault is not None:
            return Reply(id=name, fault=fault)
        return Reply(id=name, weighed=tuple(one for one in weighed if not isinstance(one, Fault)))

    async def _weigh(self, ballot: Ballot) -> Weights:
        if ballot.rolling:
            return [await self._method.whole(candidate.continuation) for candidate in ballot.candidates]
        if ballot.boundary == "context":
            return await self._method.after(ballot.candidates)
        options, bare = ballot.candidates[: ballot.options], ballot.candidates[ballot.options :]
        return await self._method.shared(options) + (await self._method.shared(bare) if bare else [])
