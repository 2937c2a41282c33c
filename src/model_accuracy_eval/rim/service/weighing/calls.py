"""Small questions with one JSON answer each: no streams, no samples, as many at once as the run may ask."""

import asyncio
import json
from typing import TypeVar

import httpx
import msgspec

from model_accuracy_eval.records import Fault, JSONObject
from model_accuracy_eval.rim.service import wire
from model_accuracy_eval.rim.service.caller import Caller
from model_accuracy_eval.rim.service.gathering import StreamBroken
from model_accuracy_eval.rim.service.retry import Trouble
from model_accuracy_eval.rim.service.sink import FLOWING

T = TypeVar("T")

_LONGEST = 256 * 1024 * 1024
"""Bytes of an answer: a log-probability for every token of a long text, in JSON, is some megabytes."""


class Calls:
    """The service's addresses beside the chat, and the bound on how many are asked at once."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._turn = asyncio.Semaphore(caller.patience.concurrency)
        root = caller.base.rpartition("/")[0]
        self._urls = {name: httpx.URL(f"{caller.base}/{name}") for name in ("completions", "chat/completions")}
        self._urls["tokenize"] = httpx.URL(f"{root}/tokenize")
        self._models = httpx.URL(f"{caller.base}/models")

    def next_id(self) -> str:
        return self._caller.next_id()

    async def post(self, name: str, body: JSONObject, kind: type[T]) -> T | Fault:
        """The answer in the shape of `kind`, or why there is none after all tries."""
        named = body if self._caller.model is None else {"model": self._caller.model, **body}
        payload = msgspec.json.encode(named)
        async with self._turn:
            answer, _ = await self._caller.persist(lambda: self._once(self._urls[name], payload, kind))
        return answer

    async def window(self) -> int | None:
        """How many tokens the model reads at most, as vLLM's list of models tells it."""
        try:
            tree = json.loads(await self._caller.get(self._models))
            return int(tree["data"][0]["max_model_len"])
        except (ValueError, TypeError, LookupError):
            return None

    async def _once(self, url: httpx.URL, payload: bytes, kind: type[T]) -> T | Trouble:
        heap = bytearray()

        def take(data: bytes, _: float) -> int:
            heap.extend(data)
            if len(heap) > _LONGEST:
                sentence = f"The answer is longer than {_LONGEST // 1024 // 1024} MiB"
                raise StreamBroken(Trouble(kind="failed", sentence=sentence, again=False))
            return FLOWING

        response = await self._caller.post(url, payload, take, lambda: f" (after {len(heap)} bytes)")
        return response if isinstance(response, Trouble) else _read(bytes(heap), kind)


def _read(body: bytes, kind: type[T]) -> T | Trouble:
    """Some servers write NaN and -Infinity, which are no JSON; what stands beside them is read all the same."""
    try:
        return msgspec.json.decode(body, type=kind)
    except ValueError:
        pass
    shown = wire.excerpt(body.decode("utf-8", "replace"), 120)
    try:
        return msgspec.convert(json.loads(body.decode("utf-8", "replace")), kind)
    except msgspec.ValidationError as error:
        return Trouble(kind="failed", sentence=f"The answer has another shape ({error}): {shown}", again=False)
    except (ValueError, RecursionError):
        return Trouble(kind="failed", sentence=f"The answer is no JSON: {shown}")
