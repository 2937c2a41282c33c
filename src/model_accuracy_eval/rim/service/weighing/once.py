"""Endings after nothing weigh the same in every problem: they are asked once in a run."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from model_accuracy_eval.records import Candidate, Fault, Likelihood
from model_accuracy_eval.rim.service.weighing.texts import Method, Weights

Weigh = Callable[[Sequence[Candidate]], Awaitable[Weights]]


class Once:
    """Implements `texts.Method`."""

    def __init__(self, method: Method) -> None:
        self._method = method
        self._known: dict[tuple[str, tuple[Candidate, ...]], Weights] = {}
        self._turns: dict[tuple[str, tuple[Candidate, ...]], asyncio.Lock] = {}

    async def after(self, candidates: Sequence[Candidate]) -> Weights:
        bare = list(dict.fromkeys(one for one in candidates if not one.context))
        others = [one for one in candidates if one.context]
        behind, *alone = await asyncio.gather(
            self._behind(others), *(self._once("after", (one,), self._method.after) for one in bare)
        )
        if fault := next((one for told in (behind, *alone) for one in told if isinstance(one, Fault)), None):
            return [fault]
        known = dict(zip(bare, (told[0] for told in alone), strict=True))
        found = iter(behind)
        return [next(found) if one.context else known[one] for one in candidates]

    async def shared(self, candidates: Sequence[Candidate]) -> Weights:
        """What is not shared depends on all of them, so they are known together or not at all."""
        if any(one.context for one in candidates):
            return await self._method.shared(candidates)
        return await self._once("shared", tuple(candidates), self._method.shared)

    async def whole(self, text: str) -> Likelihood | Fault:
        return await self._method.whole(text)

    async def _behind(self, candidates: Sequence[Candidate]) -> Weights:
        return await self._method.after(candidates) if candidates else []

    async def _once(self, kind: str, candidates: tuple[Candidate, ...], weigh: Weigh) -> Weights:
        """Who comes while another is asking waits for the answer; a fault is not kept, and is asked again."""
        key = kind, candidates
        async with self._turns.setdefault(key, asyncio.Lock()):
            if key in self._known:
                return self._known[key]
            found = await weigh(candidates)
            if not any(isinstance(one, Fault) for one in found):
                self._known[key] = found
            return found
