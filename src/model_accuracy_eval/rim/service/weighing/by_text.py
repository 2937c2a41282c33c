"""Endings in texts, where the service lends no tokenizer: what it says its tokens are tells where an ending begins."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from model_accuracy_eval.records import Candidate, Fault, Likelihood
from model_accuracy_eval.rim.service.weighing import boundary
from model_accuracy_eval.rim.service.weighing.reading import Read, Reader
from model_accuracy_eval.rim.service.weighing.tokenizer import OPENINGS, SAMPLE
from model_accuracy_eval.rim.service.weighing.tokens import Token, summed

Weights = list[Likelihood | Fault]
Span = tuple[list[Token], int]


class ByText:
    """Implements `texts.Method`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._opening: str | None = None

    async def after(self, candidates: Sequence[Candidate]) -> Weights:
        return list(await asyncio.gather(*(self._after(*boundary.settled(one)) for one in candidates)))

    async def whole(self, text: str) -> Likelihood | Fault:
        return await self._after("", text)

    async def shared(self, candidates: Sequence[Candidate]) -> Weights:
        spans = await self._spans(candidates, self._reader.text)
        if any(begin == 0 and tokens[0].logprob is None for tokens, begin in _good(spans)):
            spans = await self._spans(candidates, self._opened)
        return [one if isinstance(one, Fault) else summed(one[0][one[1] :]) for one in spans]

    async def _spans(
        self, candidates: Sequence[Candidate], read: Callable[[str], Awaitable[Read | Fault]]
    ) -> Sequence[Span | Fault]:
        texts = [candidate.context + candidate.continuation for candidate in candidates]
        answers = await asyncio.gather(*(read(text) for text in texts))
        faults = [one for one in answers if isinstance(one, Fault)]
        tokens = [one[0] for one in answers if not isinstance(one, Fault)]
        return faults or boundary.distinct(candidates, tokens, key=lambda token: token.key)

    async def _after(self, context: str, ending: str) -> Likelihood | Fault:
        """Of a text's first token no service says how likely it is: when that counts, the text has to be opened."""
        behind = await self._behind(context, ending, opened=not context)
        if context and not isinstance(behind, Fault) and any(token.logprob is None for token in behind):
            behind = await self._behind(context, ending, opened=True)
        return behind if isinstance(behind, Fault) else summed(behind)

    async def _behind(self, context: str, ending: str, *, opened: bool) -> list[Token] | Fault:
        """The tokens of the ending."""
        read = self._opened if opened else self._reader.text
        answer = await read(context + ending)
        if isinstance(answer, Fault):
            return answer
        tokens, found = answer
        if found is not None:
            ahead = len(self._opening or "") if opened else 0
            return tokens[boundary.begin(tokens, found, ahead + len(context)) :]
        if not context:
            return tokens[1:]
        # Characters are split over tokens: then the context alone shows which tokens are its own.
        alone = await read(context)
        if isinstance(alone, Fault):
            return alone
        return tokens[boundary.shared_start([[token.key for token in one] for one in (alone[0], tokens)]) :]

    async def _opened(self, text: str) -> Read | Fault:
        """The text behind a token that opens it: the service's own, else one that is written before it."""
        if self._opening is None:
            self._opening = await self._find_opening()
        if self._opening is None:
            return Fault(kind="rejected", sentence="No token is known that could stand before the beginning of a text.")
        return await self._reader.text(self._opening + text)

    async def _find_opening(self) -> str | None:
        """Empty where the service adds one to every text."""
        answer = await self._reader.text(SAMPLE)
        if not isinstance(answer, Fault) and answer[1] is not None and answer[1].first:
            return ""
        for name in OPENINGS:
            answer = await self._reader.text(name + SAMPLE)
            if not isinstance(answer, Fault) and answer[1] is not None and answer[0][0].text == name:
                return name
        return None


def _good(spans: Sequence[Span | Fault]) -> list[Span]:
    return [one for one in spans if not isinstance(one, Fault)]
