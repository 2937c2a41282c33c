"""The client of a replica on another node: an actor there makes the requests, beside the server that it started."""

from collections.abc import Sequence
from typing import Any

from model_accuracy_eval.cluster.ray_connection import ActorLost, RayConnection
from model_accuracy_eval.errors import AdapterFailed, NoHonestScore
from model_accuracy_eval.ports import LoglikelihoodClient
from model_accuracy_eval.records import (
    ClientLimits,
    Fault,
    JSONObject,
    LoglikelihoodRequest,
    LoglikelihoodSetting,
    Reply,
    Request,
    RequestMethod,
    Samplers,
)
from model_accuracy_eval.records.cluster import NodeTrouble
from model_accuracy_eval.system.media_files import MediaFiles


class RemoteChat:
    """Implements `ports.Chat`. A replica that is lost answers like a server that refuses connections."""

    def __init__(self, ray_connection: RayConnection, actor: Any, where: str, limits: ClientLimits) -> None:
        self._ray = ray_connection
        self._actor = actor
        self._where = where
        self._limits = limits
        self._media = MediaFiles()
        self.sends_finish_reasons: bool | None = None

    async def ask(self, request: Request) -> Reply:
        return await self.reply("ask", request)

    async def loglikelihood_client(self, setting: LoglikelihoodSetting, extra: JSONObject) -> LoglikelihoodClient:
        try:
            found = await self._call("detect", setting, extra)
        except ActorLost as lost:
            raise AdapterFailed(self._lost(lost).sentence, stage="infer") from lost
        if isinstance(found, NodeTrouble):
            raise NoHonestScore(found.sentence, detail=found.detail)
        return _RemoteLoglikelihoods(self, *found)

    async def models(self) -> tuple[str, ...]:
        try:
            names: tuple[str, ...] = await self._call("models")
        except ActorLost:
            return ()
        return names

    async def context_length(self) -> int | None:
        try:
            length: int | None = await self._call("context_length")
        except ActorLost:
            return None
        return length

    async def samplers(self, probes: Sequence[Request] = ()) -> Samplers | Fault:
        try:
            found: Samplers | Fault = await self._call("samplers", probes)
        except ActorLost as lost:
            return self._lost(lost)
        return found

    async def close(self) -> None:
        """Does nothing: what the actor holds ends with it."""

    async def reply(self, method: str, request: Request | LoglikelihoodRequest) -> Reply:
        asked = request.request if isinstance(request, LoglikelihoodRequest) else request
        # Pictures lie on this machine alone.
        shown = [each for message in asked.messages for each in message.media if each.place and not each.url]
        media = {each.sha256: self._media.read(each) for each in shown}
        try:
            reply, self.sends_finish_reasons = await self._call(method, request, media)
        except ActorLost as lost:
            return Reply(id="", fault=self._lost(lost))
        answered: Reply = reply
        return answered

    async def _call(self, method: str, *arguments: object) -> Any:
        return await self._ray.result_of(getattr(self._actor, method).remote(self._limits, *arguments))

    def _lost(self, lost: ActorLost) -> Fault:
        return Fault(kind="refused", sentence=f"The replica on {self._where} is lost ({lost}).", lasting=True)


class _RemoteLoglikelihoods:
    """Implements `ports.LoglikelihoodClient`."""

    def __init__(self, chat: RemoteChat, method: RequestMethod, findings: tuple[str, ...]) -> None:
        self._chat = chat
        self.method = method
        self.findings = findings

    async def loglikelihood(self, request: LoglikelihoodRequest) -> Reply:
        return await self._chat.reply("loglikelihood", request)
