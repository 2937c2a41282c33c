"""The client of one service: asks, listens, weighs, and reports failure as a result."""

from typing import Any

import httpx

from model_accuracy_eval.ports import Scale
from model_accuracy_eval.records import Fault, JSONObject, Patience, Reply, Request, Service, Weigh
from model_accuracy_eval.rim.service import wire
from model_accuracy_eval.rim.service.caller import Caller
from model_accuracy_eval.rim.service.gathering import Answer, Gathering
from model_accuracy_eval.rim.service.retry import Trouble
from model_accuracy_eval.rim.service.weighing.ladder import find


class StreamingChat:
    """Implements `ports.Chat`. Use it within one event loop, and close it there."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._chat_url = httpx.URL(f"{self._caller.base}/chat/completions")
        self._text_url = httpx.URL(f"{self._caller.base}/completions")
        self._models_url = httpx.URL(f"{self._caller.base}/models")

    async def ask(self, request: Request) -> Reply:
        """One reply, whatever it takes; a fault inside it says why there is none."""
        body = wire.encode_request(self._caller.model, request)
        name = self._caller.next_id()
        result, tries = await self._caller.persist(lambda: self._try(body, request))
        if isinstance(result, Fault):
            return Reply(id=name, tries=tries, fault=result)
        choices, usage = result
        return Reply(id=name, choices=choices, usage=usage, tries=tries)

    async def scale(self, wish: Weigh, extra: JSONObject) -> Scale:
        return await find(self._caller, self.ask, wish, extra)

    async def models(self) -> tuple[str, ...]:
        """A hint and no more: whatever goes wrong here says nothing about the chat endpoint."""
        return wire.read_models(await self._caller.get(self._models_url))

    async def context(self) -> int | None:
        return wire.read_context(await self._caller.get(self._models_url), self._caller.model)

    async def close(self) -> None:
        await self._caller.close()

    async def _try(self, body: bytes, request: Request) -> Answer | Trouble:
        gathering = Gathering(request.stop, request.n)
        url = self._chat_url if request.text is None else self._text_url
        response = await self._caller.post(url, body, gathering.take, gathering.extent)
        return response if isinstance(response, Trouble) else gathering.answer(response)


def connect(service: Service, patience: Patience, **seams: Any) -> StreamingChat:
    """Implements `ports.Connect`; `seams` are the caller's."""
    return StreamingChat(Caller(service, patience, **seams))
