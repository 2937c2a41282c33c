"""The ports of a run, on this machine or on a cluster."""

import asyncio
import dataclasses
import io
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from model_accuracy_eval import __version__, extras
from model_accuracy_eval.adapter.adapter_files import VISIBLE_NPUS, port_owner
from model_accuracy_eval.cluster import (
    NodeFacts,
    NodeNews,
    NodeTrouble,
    SandboxFacts,
    ray_replicas,
)
from model_accuracy_eval.cluster.ray_connection import NodeWeights, RayConnection, unpack
from model_accuracy_eval.cluster.ray_replicas import RayReplicas
from model_accuracy_eval.cluster.ray_sandbox import RaySandbox
from model_accuracy_eval.errors import AdapterFailed, EvalError
from model_accuracy_eval.ports import Chat, LoglikelihoodClient, Ports, ProgressDisplay, Sandbox
from model_accuracy_eval.records import (
    ClientLimits,
    Fault,
    JSONObject,
    LoglikelihoodRequest,
    LoglikelihoodSetting,
    Media,
    MediaPlace,
    Reply,
    Request,
    RequestMethod,
    RunPlan,
    Service,
    WeightsInfo,
)
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.run import deploy
from model_accuracy_eval.run.build import local_ports
from model_accuracy_eval.run.deploy import LiveService
from model_accuracy_eval.run_folder.run_folder import RunFolder
from model_accuracy_eval.sandbox.backends import open_sandbox
from model_accuracy_eval.system.clock import SignalClock

# What runs on a node of a Ray cluster: one replica of the adapter, and the requests that it answers.
#
# The node's own environment counts here: its proxies, its tokens for hubs, the NPUs that Ray gave the process.


Result = TypeVar("Result")
_NEWS_BYTES = 1 << 20
_PORTS_TRIED = 100
_MEETING = 29500
"""The first port that is tried for the nodes of a replica to meet: torchrun's own."""


class ReplicaNode:
    """An actor. Its methods share one event loop; `start` takes minutes, so it runs in a thread."""

    def __init__(self) -> None:
        self._clock = SignalClock()
        self._said = _Sentences()
        self._at_end = ExitStack()
        self._starting = threading.Lock()
        self._live: LiveService | None = None
        self._trouble: NodeTrouble | None = None
        self._log: Path | None = None
        self._read = 0
        self._last_output: list[bytes] = []
        self._chats: dict[ClientLimits, Chat] = {}
        self._loglikelihoods: dict[ClientLimits, LoglikelihoodClient] = {}

    async def facts(self, nodes: int) -> NodeFacts | NodeTrouble:
        """`nodes`: that its replica spans."""

        def found() -> NodeFacts:
            port = self._free_port(_MEETING) if nodes > 1 else 0
            npus = os.environ.get(VISIBLE_NPUS, "")
            return NodeFacts(address=_address(), version=__version__, npus=npus, meeting_port=port)

        return _told(found)

    async def start(
        self, plan: RunPlan, number: int, adapter: bytes, weights: str, rank: Mapping[str, str]
    ) -> Service | NodeTrouble | None:
        """Starts deploy.sh in a copy of the adapter's folder, and waits until it serves, unless another node does.
        `rank`: variables that say which node of its replica this is."""
        return await asyncio.to_thread(_told, lambda: self._start(plan, number, adapter, weights, rank))

    def _start(
        self, plan: RunPlan, number: int, adapter: bytes, weights: str, rank: Mapping[str, str]
    ) -> Service | None:
        with self._starting:
            folder = Path(self._at_end.enter_context(tempfile.TemporaryDirectory(prefix="replica-")))
            self._media = folder / "media"
            self._media.mkdir()
            copy = folder / (Path(plan.settings.adapter or "").absolute().name or "adapter")
            copy.mkdir()
            unpack(adapter, str(copy))
            plan = plan.with_settings(engine="local", resources=(), adapter=str(copy), replicas=1, debug=False)
            environment = {**os.environ, **rank}
            self._ports = local_ports(
                plan, environment, self._clock, io.StringIO(), wrap_display=lambda display: self._said
            )
            plan = plan.with_settings(port=self._free_port(plan.settings.port + number))
            source = self._ports.weights_source
            source.measure(weights, plan.settings.max_weight_size)
            path = source.fetch(weights)
            store = RunFolder(str(folder / "run"))
            self._log = Path(store.path(deploy.LOG))
            # When the process has ended and its files are still there.
            self._at_end.callback(lambda: self._last_output.append(self._output()))
            deployed = deploy.part_of_service if rank.get("NODE_RANK", "0") != "0" else deploy.service
            live = self._live = self._at_end.enter_context(deployed(plan, path, store, self._ports))
        if not live.service.base_url:
            return None
        named = replace(live.service, base_url=f"http://{_address()}:{live.port}")
        # Each node may keep weights of a hub in a cache of its own, after which servers name the model.
        return replace(named, model=weights) if named.model == path else named

    def _free_port(self, wished: int) -> int:
        """That one or the next that nobody has, and no other replica of this node has been given."""
        candidates = range(wished, min(65536, wished + _PORTS_TRIED))
        for port in candidates:
            if port_owner(port) is None and self._at_end.enter_context(ray_replicas.claim(port)):
                return port
        raise AdapterFailed(f"No port of {candidates} is free on {_address()}: give another --port.")

    async def ask(self, limits: ClientLimits, request: Request, media: Mapping[str, bytes]) -> "_Answer":
        if self._trouble is not None:
            return self._refusal(self._trouble), None
        chat = self._chat(limits)
        reply = await chat.ask(self._placed(request, media))
        return reply, chat.sends_finish_reasons

    async def detect(
        self, limits: ClientLimits, setting: LoglikelihoodSetting, extra: JSONObject
    ) -> tuple[RequestMethod, tuple[str, ...]] | NodeTrouble:
        try:
            found = await self._chat(limits).loglikelihood_client(setting, extra)
        except EvalError as error:
            return _trouble(error)
        self._loglikelihoods[limits] = found
        return found.method, found.findings

    async def loglikelihood(
        self, limits: ClientLimits, request: LoglikelihoodRequest, media: Mapping[str, bytes]
    ) -> "_Answer":
        if self._trouble is not None:
            return self._refusal(self._trouble), None
        placed = replace(request, request=self._placed(request.request, media))
        reply = await self._loglikelihoods[limits].loglikelihood(placed)
        return reply, self._chat(limits).sends_finish_reasons

    async def call(self, limits: ClientLimits, method: str, *arguments: object) -> Any:
        """What another method of the client says."""
        return await getattr(self._chat(limits), method)(*arguments)

    async def news(self) -> NodeNews:
        """Looks after deploy.sh too."""
        if self._live is not None and self._trouble is None:
            trouble = await asyncio.to_thread(_told, self._live.check)
            # Meanwhile the replica may have been ended.
            self._trouble = self._trouble or (trouble if isinstance(trouble, NodeTrouble) else None)
        return NodeNews(sentences=self._said.take(), output=self._output(_NEWS_BYTES), trouble=self._trouble)

    async def end(self, trouble: NodeTrouble | None = None) -> bytes:
        """Ends deploy.sh and everything that it started; returns the rest of its output. `trouble`: why nothing more
        can be asked, where requests may be under way."""
        self._trouble = self._trouble or trouble
        self._clock.stop(signal.SIGTERM)
        for chat in self._chats.values() if trouble is None else ():
            await chat.close()
        return await asyncio.to_thread(self._end)

    def _end(self) -> bytes:
        with self._starting:  # a start that is under way notices the stop
            self._live = None
            self._at_end.close()
            return b"".join(self._last_output)

    def _chat(self, limits: ClientLimits) -> Chat:
        if self._live is None:
            raise AssertionError("a replica is asked when it has said that it serves")
        if limits not in self._chats:
            self._chats[limits] = self._ports.connect(self._live.service, limits, role="model")
        return self._chats[limits]

    def _placed(self, request: Request, media: Mapping[str, bytes]) -> Request:
        """The request with its pictures in files of this node."""
        if not media:
            return request
        for digest, content in media.items():
            if not (file := self._media / digest).exists():
                file.write_bytes(content)

        def here(shown: Media) -> Media:
            return (
                replace(shown, place=MediaPlace(file=str(self._media / shown.sha256)))
                if shown.sha256 in media
                else shown
            )

        messages = (replace(each, media=tuple(map(here, each.media))) for each in request.messages)
        return replace(request, messages=tuple(messages))

    def _refusal(self, trouble: NodeTrouble) -> Reply:
        return Reply(id="", fault=Fault(kind="refused", sentence=trouble.sentence, lasting=True))

    def _output(self, most: int = -1) -> bytes:
        """What deploy.sh has printed since the last call, or as many bytes of it."""
        if self._log is None:
            return b""
        try:
            with self._log.open("rb") as file:
                self._read = file.seek(min(self._read, file.seek(0, os.SEEK_END)))  # a log that is too long is cut
                output = file.read(most)
        except FileNotFoundError:  # not begun yet, or ended already
            return b""
        self._read += len(output)
        return output


_Answer = tuple[Reply, bool | None]
"""A reply, and whether the service has ever sent a finish_reason."""


def measure_weights(plan: RunPlan, reference: str, limit: str) -> WeightsInfo | NodeTrouble:
    """On any node: what the weights are that it finds there, or would fetch."""
    ports = local_ports(plan.with_settings(engine="local"), os.environ, SignalClock(), io.StringIO())
    found = _told(lambda: ports.weights_source.measure(reference, limit))
    return replace(found, sentence=f"{found.sentence} (On {_address()}.)") if isinstance(found, NodeTrouble) else found


class _Sentences(ProgressDisplay):
    """What is said is kept until it is fetched; nobody watches the rest."""

    def __init__(self) -> None:
        self._kept: list[str] = []

    def take(self) -> tuple[str, ...]:
        taken, self._kept = tuple(self._kept), []
        return taken

    def say(self, sentence: str) -> None:
        self._kept.append(sentence)


def _told(work: Callable[[], Result]) -> Result | NodeTrouble:
    """Errors are told as records: not every class of them comes through pickle."""
    try:
        return work()
    except EvalError as error:
        return _trouble(error)


def _trouble(error: EvalError) -> NodeTrouble:
    return NodeTrouble(sentence=error.sentence, detail=error.detail, about=error.about)


def _address() -> str:
    ray = extras.load("ray")
    address: str = ray.util.get_node_ip_address()
    return address


# What runs on a node of a Ray cluster: a sandbox for programs that the model wrote.


class SandboxNode:
    """An actor. Its sandbox is opened in the thread of its event loop, when it is first needed."""

    def __init__(self, plan: RunPlan, workers: int) -> None:
        self._settings, self._workers = plan.settings, workers
        self._sandbox: Sandbox | None = None

    async def facts(self) -> SandboxFacts | NodeTrouble:
        try:
            sandbox = self._opened()
        except EvalError as error:
            return NodeTrouble(sentence=f"{_address()}: {error.sentence}", detail=error.detail)
        return SandboxFacts(
            address=_address(),
            version=__version__,
            isolation=sandbox.isolation,
            image=sandbox.image,
            passed_over=sandbox.passed_over,
        )

    async def run(self, program: Program) -> Execution:
        return await self._opened().run(program)

    def _opened(self) -> Sandbox:
        """Anew in an actor that was started again."""
        if self._sandbox is None:
            image = self._settings.sandbox_image or None
            self._sandbox = open_sandbox(self._settings.sandbox, os.environ, image=image, workers=self._workers)
        return self._sandbox

    async def close(self) -> None:
        if self._sandbox is not None:
            await self._sandbox.close()


# The ports of a run that uses a Ray cluster: replicas and weights on its nodes, and sandboxes.


def on_ray(ports: Ports, plan: RunPlan, environment: Mapping[str, str]) -> Ports:
    """The same ports, but what the plan wants on the cluster is there."""
    ray_connection = RayConnection(environment)
    if plan.settings.adapter:
        say = ports.progress.say
        replicas = RayReplicas(ray_connection, ReplicaNode, clock=ports.clock, say=say, otherwise=ports.connect)

        def measure_there(reference: str, limit: str) -> WeightsInfo | NodeTrouble:
            return measure_weights(plan, reference, limit)

        weights_source = NodeWeights(
            ray_connection,
            measure_there,
            plan.settings.node_amounts,
            nodes=plan.settings.nodes_per_replica,
            clock=ports.clock,
            say=say,
            patience=plan.client_limits.ready_timeout,
        )
        ports = dataclasses.replace(ports, cluster=replicas, connect=replicas.connect, weights_source=weights_source)
    sandbox = RaySandbox(ray_connection, SandboxNode, plan, ports.clock, ports.progress.say)
    return dataclasses.replace(ports, open_sandbox=sandbox.open)


def ports(plan: RunPlan, environment: Mapping[str, str], clock: SignalClock, *others: Any, **named: Any) -> Ports:
    """Those of `build.local_ports`, or of a cluster, if the plan says so."""
    parts = local_ports(plan, environment, clock, *others, **named)
    return parts if plan.settings.engine == "local" else on_ray(parts, plan, environment)
