"""Which samplers a service applies on its own, and which neutral values it accepts in requests.

A service that ignores an unknown field accepts it as far as can be seen here; only a refusal shows.
"""

from collections.abc import Awaitable, Callable, Sequence

import httpx
import msgspec

from model_accuracy_eval.client import wire_format
from model_accuracy_eval.client.dialects import NEUTRAL_SAMPLERS, SAMPLERS_OF_SERVERS
from model_accuracy_eval.client.service_client import ServiceClient
from model_accuracy_eval.records import Fault, JSONObject, Reply, Request, Samplers

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
    samplers = Samplers(
        server=known.name if known else "",
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
            if fault is not None and not _is_refusal(fault):
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


def _is_refusal(fault: Fault) -> bool:
    return fault.kind == "rejected" or fault.status in _NOT_IMPLEMENTED


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
