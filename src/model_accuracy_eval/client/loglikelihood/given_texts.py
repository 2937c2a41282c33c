"""Log-likelihoods of given texts, by the log-probabilities of their tokens."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from model_accuracy_eval.client.dialects import PromptLogprobsMethod
from model_accuracy_eval.client.loglikelihood.service_requests import JsonRequests
from model_accuracy_eval.records import Candidate, Fault, Loglikelihood, LoglikelihoodRequest, Reply

EndingLoglikelihoods = list[Loglikelihood | Fault]
_CacheKey = tuple[str, tuple[Candidate, ...]]


class EndingMethod(Protocol):
    """How endings are located among tokens. Results have an entry for each candidate, or hold a fault."""

    async def after_context(self, candidates: Sequence[Candidate]) -> EndingLoglikelihoods:
        """Of the text that follows each candidate's context."""

    async def distinct_parts(self, candidates: Sequence[Candidate]) -> EndingLoglikelihoods:
        """Of the part of each candidate that the others do not share."""

    async def full_text(self, text: str) -> Loglikelihood | Fault:
        """Of all tokens of a text, the first included."""


class GivenTextsClient:
    """Implements `ports.LoglikelihoodClient` by `echo` or `prompt_logprobs`."""

    def __init__(self, requests: JsonRequests, method: PromptLogprobsMethod, endings: EndingMethod) -> None:
        self._requests = requests
        self._endings = endings
        self.method: PromptLogprobsMethod = method
        self.findings: tuple[str, ...] = ()

    async def loglikelihood(self, request: LoglikelihoodRequest) -> Reply:
        """Requests all candidates at once. If one of them fails, the reply is a fault."""
        reply_id = self._requests.next_id()
        results = await self._loglikelihoods(request)
        fault = first_fault(results)
        if fault is not None:
            return Reply(id=reply_id, fault=fault)
        loglikelihoods = tuple(result for result in results if not isinstance(result, Fault))
        return Reply(id=reply_id, loglikelihoods=loglikelihoods)

    async def _loglikelihoods(self, request: LoglikelihoodRequest) -> EndingLoglikelihoods:
        if request.rolling:
            return [await self._endings.full_text(candidate.continuation) for candidate in request.candidates]
        if request.boundary == "context":
            return await self._endings.after_context(request.candidates)
        options, bare = request.candidates[: request.options], request.candidates[request.options :]
        results = await self._endings.distinct_parts(options)
        return results + (await self._endings.distinct_parts(bare) if bare else [])


class CachedEndings:
    """An `EndingMethod` that requests endings without a context once in a run: they are the same in every problem."""

    def __init__(self, endings: EndingMethod) -> None:
        self._endings = endings
        self._cache: dict[_CacheKey, EndingLoglikelihoods] = {}
        self._locks: dict[_CacheKey, asyncio.Lock] = {}

    async def after_context(self, candidates: Sequence[Candidate]) -> EndingLoglikelihoods:
        bare = list(dict.fromkeys(candidate for candidate in candidates if not candidate.context))
        others = [candidate for candidate in candidates if candidate.context]
        results, *bare_results = await asyncio.gather(
            self._uncached(others), *(self._cached("after", (ending,), self._endings.after_context) for ending in bare)
        )
        fault = first_fault([*results, *(result for single in bare_results for result in single)])
        if fault is not None:
            return [fault]
        by_ending = dict(zip(bare, (single[0] for single in bare_results), strict=True))
        rest = iter(results)
        return [next(rest) if candidate.context else by_ending[candidate] for candidate in candidates]

    async def distinct_parts(self, candidates: Sequence[Candidate]) -> EndingLoglikelihoods:
        """Cached for all candidates together, since the common part depends on every one of them."""
        if any(candidate.context for candidate in candidates):
            return await self._endings.distinct_parts(candidates)
        return await self._cached("distinct", tuple(candidates), self._endings.distinct_parts)

    async def full_text(self, text: str) -> Loglikelihood | Fault:
        return await self._endings.full_text(text)

    async def _uncached(self, candidates: Sequence[Candidate]) -> EndingLoglikelihoods:
        return await self._endings.after_context(candidates) if candidates else []

    async def _cached(
        self,
        kind: str,
        candidates: tuple[Candidate, ...],
        request: Callable[[Sequence[Candidate]], Awaitable[EndingLoglikelihoods]],
    ) -> EndingLoglikelihoods:
        """Callers that come during a request wait for its result. Faults are not cached."""
        key = kind, candidates
        async with self._locks.setdefault(key, asyncio.Lock()):
            if key in self._cache:
                return self._cache[key]
            results = await request(candidates)
            if first_fault(results) is None:
                self._cache[key] = results
            return results


def first_fault(results: Sequence[object]) -> Fault | None:
    return next((result for result in results if isinstance(result, Fault)), None)
