"""A chat server that is particular about samplers: it refuses some values, and shows those that it applies itself."""

from collections.abc import Callable
from typing import Any

from tests.servers.fault_server import JSON, Answer, FaultServer, default_answer
from tests.servers.http import Exchange

from model_accuracy_eval.records.exchange import NEUTRAL_SAMPLERS

Accepts = Callable[[str, float], bool]
"""Whether a request may have a sampler with a value."""


class SamplerServer(FaultServer):
    """`owner`: its `owned_by` in `/v1/models`; `properties`: what `/props` shows, if anything."""

    def __init__(
        self,
        accepts: Accepts = lambda _name, _value: True,
        *,
        answer: Answer = default_answer,
        status: int = 400,
        owner: str = "",
        properties: Any = None,
    ) -> None:
        super().__init__(answer, plan=self._refusal)
        self._accepts = accepts
        self._status = status
        self._properties = properties
        self.models = {"object": "list", "data": [{"id": "m", "object": "model", "owned_by": owner}]}

    def __enter__(self) -> "SamplerServer":
        super().__enter__()
        return self

    def sent(self) -> list[dict[str, float]]:
        """The samplers in each request that was accepted."""
        samplers = [{name: chat[name] for name in NEUTRAL_SAMPLERS if name in chat} for chat in self.chats]
        return [each for each in samplers if all(self._accepts(name, value) for name, value in each.items())]

    def _refusal(self, _number: int, request: JSON) -> str | None:
        accepted = all(self._accepts(name, request[name]) for name in NEUTRAL_SAMPLERS if name in request)
        return None if accepted else f"status_{self._status}"

    async def _handle(self, exchange: Exchange) -> None:
        if exchange.path == "/props" and self._properties is not None:
            exchange.reply(200, self._properties)
        else:
            await super()._handle(exchange)
