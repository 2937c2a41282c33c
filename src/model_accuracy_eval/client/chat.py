"""The client of one service: streamed chat and completions, log-likelihoods, and the list of models."""

from collections.abc import Sequence
from typing import Any

import httpx

from model_accuracy_eval.client import wire_format
from model_accuracy_eval.client.loglikelihood.method_detection import detect_method
from model_accuracy_eval.client.samplers import find_samplers
from model_accuracy_eval.client.service_client import ServiceClient
from model_accuracy_eval.client.stream_parser import ParsedStream, StreamParser
from model_accuracy_eval.ports import LoglikelihoodClient
from model_accuracy_eval.records import (
    ClientLimits,
    Fault,
    JSONObject,
    LoglikelihoodSetting,
    Reply,
    Request,
    Samplers,
    Service,
)
from model_accuracy_eval.system.retry import Failure
from model_accuracy_eval.table_files.media_files import MediaFiles


class StreamingChat:
    """Implements `ports.Chat`. Use it within one event loop, and close it there."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client
        self._media = MediaFiles()
        self._chat_url = httpx.URL(f"{self._client.base}/chat/completions")
        self._text_url = httpx.URL(f"{self._client.base}/completions")

    async def ask(self, request: Request) -> Reply:
        """One reply, after as many tries as needed; its fault says why there is no answer."""
        body = wire_format.encode_request(self._client.model, request, self._media.read)
        reply_id = self._client.next_id()
        result, tries = await self._client.retry(lambda: self._try(body, request))
        if isinstance(result, Fault):
            return Reply(id=reply_id, tries=tries, fault=result)
        choices, usage = result
        return Reply(id=reply_id, choices=choices, usage=usage, tries=tries)

    async def loglikelihood_client(self, setting: LoglikelihoodSetting, extra: JSONObject) -> LoglikelihoodClient:
        return await detect_method(self._client, self.ask, setting, extra)

    async def models(self) -> tuple[str, ...]:
        return wire_format.read_models(await self._client.get_models())

    async def context_length(self) -> int | None:
        return await self._client.context_length()

    async def samplers(self, probes: Sequence[Request] = ()) -> Samplers | Fault:
        return await find_samplers(self._client, self.ask, probes)

    @property
    def sends_finish_reasons(self) -> bool | None:
        return self._client.sends_finish_reasons

    async def close(self) -> None:
        await self._client.close()

    async def _try(self, body: bytes, request: Request) -> ParsedStream | Failure:
        parser = StreamParser(request.stop, request.n)
        url = self._chat_url if request.text is None else self._text_url
        client = self._client
        response = await client.post(url, body, parser.feed, parser.progress)
        outcome: ParsedStream | Failure
        if isinstance(response, Failure):
            outcome = response
        else:
            outcome = parser.result(response, needs_finish_reason=client.sends_finish_reasons is True)
        if parser.has_finish_reason:
            client.sends_finish_reasons = True
        elif client.sends_finish_reasons is None and not isinstance(outcome, Failure):
            client.sends_finish_reasons = False
        return outcome


def connect(service: Service, limits: ClientLimits, **options: Any) -> StreamingChat:
    """Implements `ports.Connect`. `options` are those of `ServiceClient`."""
    return StreamingChat(ServiceClient(service, limits, **options))
