"""Requests with one JSON answer, as many at once as the run's concurrency allows; and the service's tokenizer."""

import asyncio
import json
from typing import TypeVar

import httpx
import msgspec

from model_accuracy_eval.client.connection import FLOWING
from model_accuracy_eval.client.dialects import BEGINNING_TOKENS, CONTEXT_LENGTH, TOKENIZE, TokenizeFields
from model_accuracy_eval.client.service_client import ServiceClient
from model_accuracy_eval.client.stream_parser import StreamBroken, excerpt
from model_accuracy_eval.records import Fault, JSONObject
from model_accuracy_eval.system.retry import Failure

T = TypeVar("T")

SAMPLE = "The capital of France is"
_LONGEST_BODY = 256 * 1024 * 1024
"""Bytes of an answer. In JSON, a log-probability for every token of a long text takes some megabytes."""


class JsonRequests:
    """Endpoints of the service that do not stream."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client
        self._semaphore = asyncio.Semaphore(client.client_limits.concurrency)
        root = client.base.rpartition("/")[0]
        self._urls = {name: httpx.URL(f"{client.base}/{name}") for name in ("completions", "chat/completions")}
        self._urls["tokenize"] = httpx.URL(f"{root}/tokenize")

    def next_id(self) -> str:
        return self._client.next_id()

    async def post(self, name: str, fields: JSONObject, kind: type[T]) -> T | Fault:
        """The answer as a `kind`, or a fault after all tries."""
        model = self._client.model
        body = msgspec.json.encode(fields if model is None else {"model": model, **fields})
        async with self._semaphore:
            answer, _ = await self._client.retry(lambda: self._try(self._urls[name], body, kind))
        return answer

    async def context_length(self) -> int | None:
        return await self._client.context_length()

    async def _try(self, url: httpx.URL, body: bytes, kind: type[T]) -> T | Failure:
        answer = bytearray()

        def collect(data: bytes, _: float) -> int:
            answer.extend(data)
            if len(answer) > _LONGEST_BODY:
                sentence = f"The answer is longer than {_LONGEST_BODY // 1024 // 1024} MiB"
                raise StreamBroken(Failure(kind="failed", sentence=sentence, transient=False))
            return FLOWING

        response = await self._client.post(url, body, collect, lambda: f" (after {len(answer)} bytes)")
        return response if isinstance(response, Failure) else _decode(bytes(answer), kind)


def _decode(body: bytes, kind: type[T]) -> T | Failure:
    """Accepts NaN and -Infinity, which some servers write although JSON does not have them."""
    try:
        return msgspec.json.decode(body, type=kind)
    except ValueError:
        pass
    text = body.decode("utf-8", "replace")
    try:
        return msgspec.convert(json.loads(text), kind)
    except msgspec.ValidationError as error:
        sentence = f"The answer has another shape ({error}): {excerpt(text, 120)}"
        return Failure(kind="failed", sentence=sentence, transient=False)
    except (ValueError, RecursionError):
        return Failure(kind="failed", sentence=f"The answer is no JSON: {excerpt(text, 120)}")


class _Tokenized(msgspec.Struct):
    tokens: list[int]
    context_length: int | None = msgspec.field(default=None, name=CONTEXT_LENGTH)


class Tokenizer:
    """The service's own tokenizer: text → token ids, as the service encodes the texts that it is sent."""

    def __init__(self, requests: JsonRequests, fields: TokenizeFields, context_length: int | None) -> None:
        self._requests = requests
        self._fields = fields
        self.context_length = context_length
        self._beginning: int | None = None

    async def encode(self, text: str, *, special: bool = True) -> list[int] | Fault:
        """`special`: with a beginning-of-text token, if the model has one."""
        body = {self._fields.text: text, self._fields.special: special}
        answer = await self._requests.post("tokenize", body, _Tokenized)
        return answer if isinstance(answer, Fault) else answer.tokens

    async def beginning(self) -> int | None:
        """A token that can stand before a text, for models whose tokenizer adds none by itself."""
        for name in () if self._beginning is not None else BEGINNING_TOKENS:
            ids = await self.encode(name, special=False)
            if isinstance(ids, list) and len(ids) == 1:
                self._beginning = ids[0]
                break
        return self._beginning


async def find_tokenizer(requests: JsonRequests) -> Tokenizer | Fault:
    """The tokenizer, by the first fields that the service accepts; else its answer to the last ones."""
    answer: _Tokenized | Fault = Fault(kind="failed", sentence="")
    for fields in TOKENIZE:
        answer = await requests.post("tokenize", {fields.text: SAMPLE, fields.special: True}, _Tokenized)
        if not isinstance(answer, Fault) and answer.tokens:
            return Tokenizer(requests, fields, answer.context_length)
    return answer if isinstance(answer, Fault) else Fault(kind="failed", sentence="It returned no tokens.")
