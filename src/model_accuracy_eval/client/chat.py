"""The client of one service: streamed chat and completions, log-likelihoods, and the list of models."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import httpx
import msgspec

from model_accuracy_eval.client import wire_format
from model_accuracy_eval.client.dialects import ASKS_FOR_TOKENS, SAMPLERS_OF_SERVERS
from model_accuracy_eval.client.method_detection import detect_method
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
from model_accuracy_eval.records.exchange import NEUTRAL_SAMPLERS
from model_accuracy_eval.system.media_files import MediaFiles
from model_accuracy_eval.system.retry import Failure

# Which samplers a service applies on its own, and which neutral values it accepts in requests.
#
# A service that ignores an unknown field accepts it as far as can be seen here; only a refusal shows.


_DIGITS = 6
"""Some servers store 0.05 in four bytes and show 0.05000000074505806."""
_NOT_IMPLEMENTED = frozenset({500, 501})
"""Statuses, besides 4xx, with which servers answer a field or a value that they do not know."""


async def find_samplers(
    client: ServiceClient,
    ask: Callable[[Request], Awaitable[Reply]],
    probes: Sequence[Request] = (),
) -> Samplers | Fault:
    """What is known of the service. With `probes`, it is also tried which neutral values all of them may have."""
    models = await client.get_models()
    server = wire_format.read_owner(models, client.model)
    known = SAMPLERS_OF_SERVERS.get(server)
    own = _own(await client.get(_root(client.base, known.properties))) if known and known.properties else None
    path, field = known.version if known else ("", "")
    samplers = Samplers(
        server=known.name if known else "",
        version=wire_format.read_text(await client.get(_root(client.base, path)), field) if path else "",
        own=own or {},
        remark=known.remark if known and own is None else "",
    )
    if not probes:
        return samplers
    accepted, refused = dict[str, float](), dict[str, str]()
    fault = await _objection(ask, probes, {name: values[0] for name, values in NEUTRAL_SAMPLERS.items()})
    if fault is None:
        accepted = {name: values[0] for name, values in NEUTRAL_SAMPLERS.items()}
    for name, values in NEUTRAL_SAMPLERS.items() if fault else ():
        for value in values:
            fields = {**accepted, name: value}
            fault = await _objection(ask, probes, fields)
            if fault is not None and fault.kind != "rejected" and fault.status not in _NOT_IMPLEMENTED:
                # Some servers accept any request, and break off the stream of one that they cannot serve.
                if fault.status is not None or await _objection(ask, probes, {}) is not None:
                    return fault
                fault = await _objection(ask, probes, fields)
            if fault is None:
                accepted[name] = value
                refused.pop(name, None)
                break
            refused[name] = fault.sentence
    return msgspec.structs.replace(samplers, neutral=accepted, refused=refused)


async def _objection(
    ask: Callable[[Request], Awaitable[Reply]], probes: Sequence[Request], fields: JSONObject
) -> Fault | None:
    """Why the service does not take these fields; None if it answers all probes with them."""
    for probe in probes:
        reply = await ask(msgspec.structs.replace(probe, extra=fields))
        if reply.fault is not None:
            return reply.fault
    return None


def _root(base: str, path: str) -> httpx.URL:
    """An address outside of `/v1`."""
    return httpx.URL(f"{base.rpartition('/')[0]}{path}")


class _Defaults(msgspec.Struct):
    default_generation_settings: JSONObject = {}


def _own(body: bytes) -> dict[str, float] | None:
    """The samplers in llama.cpp's `/props` that are not neutral, None if it shows none.

    Older versions have them one level higher.
    """
    try:
        settings = msgspec.json.decode(body or b"{}", type=_Defaults).default_generation_settings
    except msgspec.DecodeError:
        return None
    params = settings.get("params", settings)
    shown = {name: params[name] for name in NEUTRAL_SAMPLERS if isinstance(params, dict) and name in params}
    rounded = {name: round(value, _DIGITS) for name, value in shown.items() if type(value) in (int, float)}
    if not rounded:
        return None
    return {name: value for name, value in rounded.items() if value not in NEUTRAL_SAMPLERS[name]}


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
        return Reply(id=reply_id, choices=result.choices, usage=result.usage, tries=tries, model=result.model)

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
        parser = StreamParser(request.stop, request.n, told=any(map(request.extra.get, ASKS_FOR_TOKENS)))
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
