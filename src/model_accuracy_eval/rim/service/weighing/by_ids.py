"""Endings in token numbers: the service's tokenizer makes them, and what is sent is what was counted."""

import asyncio
from collections.abc import Iterable, Sequence

import msgspec

from model_accuracy_eval.records import Candidate, Fault, Likelihood
from model_accuracy_eval.rim.service.weighing import boundary
from model_accuracy_eval.rim.service.weighing.reading import Reader
from model_accuracy_eval.rim.service.weighing.tokenizer import Tokenizer
from model_accuracy_eval.rim.service.weighing.tokens import Token, summed

Weights = list[Likelihood | Fault]


class ByIds:
    """Implements `texts.Method`. `window`: how many tokens the model reads at most; None: nobody said it."""

    def __init__(self, reader: Reader, tokenizer: Tokenizer, window: int | None) -> None:
        self._reader = reader
        self._tokenizer = tokenizer
        self._window = window

    async def after(self, candidates: Sequence[Candidate]) -> Weights:
        pairs = [boundary.settled(candidate) for candidate in candidates]
        ids = await self._encoded(text for context, ending in pairs for text in (context, context + ending))
        if isinstance(ids, Fault):
            return [ids]
        spans = [(ids[context + ending], ids[context]) for context, ending in pairs]
        return await self._weigh([(whole, boundary.shared_start([before, whole])) for whole, before in spans])

    async def shared(self, candidates: Sequence[Candidate]) -> Weights:
        texts = [candidate.context + candidate.continuation for candidate in candidates]
        ids = await self._encoded(texts)
        if isinstance(ids, Fault):
            return [ids]
        return await self._weigh(boundary.distinct(candidates, [ids[text] for text in texts], key=int))

    async def whole(self, text: str) -> Likelihood | Fault:
        """In windows of what the model reads at once."""
        ids = await self._encoded(["", text])
        opened = ids if isinstance(ids, Fault) else await self._opened(ids[text], len(ids[""]))
        if isinstance(opened, Fault):
            return opened
        whole, _ = opened
        parts = boundary.windows(len(whole), self._room() or len(whole))
        read = await asyncio.gather(*(self._reader.ids(whole[part.start : part.end]) for part in parts))
        tokens: list[Token] = []
        for part, one in zip(parts, read, strict=True):
            if isinstance(one, Fault):
                return one
            tokens += one[part.begin - part.start :]
        return summed(tokens)

    async def _weigh(self, spans: Sequence[tuple[list[int], int]]) -> Weights:
        return list(await asyncio.gather(*(self._one(ids, begin) for ids, begin in spans)))

    async def _one(self, ids: list[int], begin: int) -> Likelihood | Fault:
        """A prompt that is too long loses its beginning, never any of its ending."""
        opened = await self._opened(ids, begin)
        if isinstance(opened, Fault):
            return opened
        ids, begin = opened
        room = self._room()
        over = max(0, len(ids) - room) if room else 0
        if over >= begin:
            sentence = f"An ending has {len(ids) - begin} tokens, but the model reads {room} at once."
            return Fault(kind="rejected", sentence=sentence)
        tokens = await self._reader.ids(ids[over:])
        found = tokens if isinstance(tokens, Fault) else summed(tokens[begin - over :])
        return msgspec.structs.replace(found, cropped_to=room) if over and isinstance(found, Likelihood) else found

    async def _opened(self, ids: list[int], begin: int) -> tuple[list[int], int] | Fault:
        """With a token in front of the ending, for of the very first no service says how likely it is."""
        if begin:
            return ids, begin
        opening = await self._tokenizer.opening()
        if opening is None:
            return Fault(kind="rejected", sentence="No token is known that could stand before the beginning of a text.")
        return [opening, *ids], 1

    def _room(self) -> int | None:
        return self._window - max(1, self._reader.made) if self._window else None

    async def _encoded(self, texts: Iterable[str]) -> dict[str, list[int]] | Fault:
        """Each text once."""
        several = list(dict.fromkeys(texts))
        found = await asyncio.gather(*(self._tokenizer.encode(text) for text in several))
        fault = next((one for one in found if isinstance(one, Fault)), None)
        return fault or {text: ids for text, ids in zip(several, found, strict=True) if not isinstance(ids, Fault)}
