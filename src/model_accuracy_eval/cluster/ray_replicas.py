"""Replicas of an adapter as Ray's actors: placed, watched, and replaced where a node is lost.

    placing ─ a node has room ─► starting ─ the service answered ─► serving
       ▲                            │ deploy.sh failed ─► troubled     │ deploy.sh ended ─► troubled
       └───────── the node is lost, a new actor waits for room ────────┘

A replica whose deploy.sh failed is not started elsewhere: that is a finding about the adapter or that node. One that
spans nodes has an actor on each; the first serves, and what becomes of one node becomes of the replica.
"""

import contextlib
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from model_accuracy_eval import __version__
from model_accuracy_eval.cluster import NodeFacts, NodeTrouble
from model_accuracy_eval.cluster.ray_connection import (
    ActorLost,
    Placed,
    RayConnection,
    has_room,
    pack,
    shown,
)
from model_accuracy_eval.errors import AdapterFailed, NoHonestScore
from model_accuracy_eval.ports import Chat, Clock, Connect, LoglikelihoodClient, ServiceRole
from model_accuracy_eval.records import (
    ClientLimits,
    Fault,
    JSONObject,
    LoglikelihoodRequest,
    LoglikelihoodSetting,
    Reply,
    Request,
    RequestMethod,
    RunPlan,
    Samplers,
    Service,
)
from model_accuracy_eval.system.media_files import MediaFiles

_NEWS_SECONDS = 0.5
_LOST_IN_A_ROW = 10
"""Actors that were lost before one of them served; a further one would be lost too."""
_END_SECONDS = 6.0
"""deploy.sh is promised five to end."""


_LAST_LINES = 5
"""Of deploy.sh's output, which are shown where it ended."""


@dataclass(eq=False, slots=True)
class _Node:
    """A node of a replica: the first one serves."""

    rank: int
    of: int
    """Nodes that its replica spans."""
    actor: Any
    call: Any
    """The result that the state waits for."""
    facts: NodeFacts | None = None
    news: Any = None
    news_due: float = 0.0
    end: Any = None

    @property
    def where(self) -> str:
        rank = f" (rank {self.rank})" * (self.of > 1)
        return f"{self.facts.shown}{rank}" if self.facts else "a node"


@dataclass(eq=False, slots=True)
class _Replica:
    number: int
    placed: Placed
    nodes: list[_Node]
    state: Literal["placing", "starting", "serving", "troubled", "lost"] = "placing"
    service: Service | None = None
    dismissed: str = ""
    """Why it is asked no more, if it is not."""

    def name(self, node: _Node) -> str:
        return f"Replica {self.number + 1}{f' on {node.where}' * bool(node.facts)}"


class RayReplicas:
    """Implements `ports.ReplicaSource`. `actor`: the class of what runs on a node; `otherwise` connects to other
    services."""

    def __init__(
        self,
        ray_connection: RayConnection,
        actor: type,
        *,
        clock: Clock,
        say: Callable[[str], object],
        otherwise: Connect,
    ) -> None:
        self._ray = ray_connection
        self._actor = actor
        self._clock = clock
        self._say = say
        self._otherwise = otherwise
        self._replicas: list[_Replica] = []
        self._ready: list[_Replica] = []
        self._first_trouble: tuple[str, NodeTrouble] | None = None
        """On which node, and what."""
        self._lost_in_a_row = 0
        self._idle_since: float | None = None
        """Since when there has been no replica that has a node."""

    def begin(self, plan: RunPlan, weights: str, log: Callable[[int, int], str]) -> None:
        self._plan, self._weights, self._log = plan, weights, log
        self._wanted, self._nodes = plan.settings.node_amounts, plan.settings.nodes_per_replica
        self._ray.open()
        self._folder = self._ray.share(pack(plan.settings.adapter or ""))
        for _ in range(plan.settings.replicas):
            self._place()
        on_nodes = f" on {self._nodes} nodes" * (self._nodes > 1)
        each = f", each with {shown(self._wanted)}{on_nodes}" if self._wanted else ""
        self._say(f"{plan.settings.replicas} replicas wait for nodes of the Ray cluster{each}.")
        if (room := self._room()) < plan.settings.replicas:
            self._say(f"The cluster's nodes have room for {room} of them; the others begin when nodes join.")

    def connect(self, service: Service, limits: ClientLimits, *, role: ServiceRole) -> Chat:
        """Implements `ports.Connect`."""
        if role == "model" and (replica := self._of(service)):
            return RemoteChat(self._ray, replica.nodes[0].actor, replica.nodes[0].where, limits)
        return self._otherwise(service, limits, role=role)

    def take_ready(self) -> list[Service]:
        ready, self._ready = self._ready, []
        return [each.service for each in ready if each.service is not None]

    def dismiss(self, service: Service, reason: str, *, gone: bool) -> None:
        """What becomes of it shows when it is asked for news: it may be lost, and then there will be another."""
        replica = self._of(service)
        if replica is not None and replica.state == "serving":
            replica.dismissed = reason

    def _of(self, service: Service) -> _Replica | None:
        """The newest replica at that address: one that was lost may have had it before."""
        for each in reversed(self._replicas):
            if each.service is not None and each.service.base_url == service.base_url:
                return each
        return None

    def poll(self) -> None:
        for replica in [*self._replicas]:
            for node in replica.nodes:
                try:
                    if replica.state in ("placing", "starting", "serving"):
                        self._advance(replica, node)
                        self._hear(replica, node)
                except ActorLost as lost:  # noqa: PERF203 - each may be lost
                    self._replace(replica, node, lost)
        self._raise_if_none_is_left()

    def end(self) -> None:
        begun = [each for each in self._replicas if each.state in ("starting", "serving", "troubled")]
        nodes = [(replica, node) for replica in begun for node in replica.nodes]
        for _, node in nodes:
            node.end = node.end or node.actor.end.remote()
        under_way = [node.news for _, node in nodes if node.news is not None]
        self._ray.wait_all([*under_way, *(node.end for _, node in nodes)], _END_SECONDS)
        for replica, node in nodes:
            with contextlib.suppress(ActorLost):
                self._take_news(replica, node)
                if self._ray.is_done(node.end):
                    self._write(replica, node, self._ray.result(node.end))
        for replica in self._replicas:
            self._ray.release(replica.placed)
        self._replicas = []

    def _place(self) -> None:
        number, nodes = max((each.number for each in self._replicas), default=-1) + 1, self._nodes
        placed = self._ray.place(self._actor, self._wanted, nodes)
        begun = [_Node(rank, nodes, actor, actor.facts.remote(nodes)) for rank, actor in enumerate(placed.actors)]
        self._replicas.append(_Replica(number, placed, begun))

    def _advance(self, replica: _Replica, node: _Node) -> None:
        if node.call is None or not self._ray.is_done(node.call):
            return
        reference, node.call = node.call, None
        result = self._ray.result(reference)
        if isinstance(result, NodeTrouble):
            self._note(replica, node, result)
        elif isinstance(result, NodeFacts):
            node.facts = result
            facts = [each.facts for each in replica.nodes if each.facts]
            if len(facts) == len(replica.nodes):
                self._start(replica, facts)
        elif isinstance(result, Service):
            replica.state, replica.service = "serving", result
            self._ready.append(replica)
            self._lost_in_a_row = 0

    def _start(self, replica: _Replica, facts: Sequence[NodeFacts]) -> None:
        replica.state = "starting"
        for node, found in zip(replica.nodes, facts, strict=True):
            if found.version != __version__:
                unlike = (
                    f"model-accuracy-eval is {found.version} there and {__version__} here: install the same "
                    f"on both (pip install 'model-accuracy-eval[ray]=={__version__}')."
                )
                self._note(replica, node, NodeTrouble(sentence=unlike))
                return
        for node in replica.nodes:
            self._say(f"Replica {replica.number + 1} starts deploy.sh on {node.where}; its output goes to "
                      f"{self._log_of(replica, node)}.")  # fmt: skip
            rank = {} if len(facts) == 1 else _variables(node.rank, facts)
            node.call = node.actor.start.remote(self._plan, replica.number, self._folder, self._weights, rank)

    def _hear(self, replica: _Replica, node: _Node) -> None:
        """Asks for news now and then, which also shows that the node is there."""
        if node.news is not None:
            self._take_news(replica, node)
        elif replica.state in ("starting", "serving") and self._clock.elapsed() >= node.news_due:
            node.news = node.actor.news.remote()

    def _take_news(self, replica: _Replica, node: _Node) -> None:
        if node.news is None or not self._ray.is_done(node.news):
            return
        reference, node.news = node.news, None
        node.news_due = self._clock.elapsed() + _NEWS_SECONDS
        news = self._ray.result(reference)
        self._write(replica, node, news.output)
        lines = news.output.decode(errors="replace").splitlines() if self._plan.settings.debug else []
        for sentence in (*news.sentences, *lines):
            self._say(f"{node.where}: {sentence}")
        trouble = news.trouble or (NodeTrouble(sentence=replica.dismissed) if replica.dismissed else None)
        if trouble is not None and replica.state in ("starting", "serving"):
            self._note(replica, node, trouble)

    def _log_of(self, replica: _Replica, node: _Node) -> str:
        return self._log(replica.number, node.rank)

    def _write(self, replica: _Replica, node: _Node, output: bytes) -> None:
        with Path(self._log_of(replica, node)).open("ab") as file:
            file.write(output)

    def _note(self, replica: _Replica, node: _Node, trouble: NodeTrouble) -> None:
        replica.state, name = "troubled", replica.name(node)
        self._first_trouble = self._first_trouble or (name, trouble)
        last = trouble.detail.splitlines()[-_LAST_LINES:]
        self._say("\n".join([f"{name} serves no more: {trouble.sentence}", *last]))
        if len(replica.nodes) > 1:  # the others would wait for it
            for each in replica.nodes:
                each.end = each.actor.end.remote(trouble)

    def _replace(self, replica: _Replica, node: _Node, lost: ActorLost) -> None:
        """What it was being asked is asked elsewhere, as soon as the request notices the same."""
        if "No module named" in str(lost):
            cure = f"pip install 'model-accuracy-eval[ray]=={__version__}'"
            self._note(replica, node, NodeTrouble(sentence=f"{lost} on its node: {cure}, on every node."))
            return
        self._ray.release(replica.placed)  # a node that cannot be reached may be there all the same
        replica.state = "lost"
        self._lost_in_a_row += 1
        again = self._lost_in_a_row < _LOST_IN_A_ROW
        self._say(f"{replica.name(node)} is lost ({lost}){'; another waits for room' * again}.")
        if again:
            self._place()
        else:
            trouble = NodeTrouble(sentence=f"It was the last of {_LOST_IN_A_ROW} that were lost before one served.")
            self._first_trouble = self._first_trouble or (replica.name(node), trouble)

    def _raise_if_none_is_left(self) -> None:
        states = {each.state for each in self._replicas}
        if states & {"starting", "serving"}:
            self._idle_since = None
            return
        if "placing" not in states and self._first_trouble is not None:
            name, trouble = self._first_trouble
            count = len([each for each in self._replicas if each.state == "troubled"])
            others = f" So none of the {count} replicas serves." if count > 1 else ""
            raise AdapterFailed(f"{name}: {trouble.sentence}{others}", detail=trouble.detail, about=trouble.about)
        self._idle_since = self._clock.elapsed() if self._idle_since is None else self._idle_since
        limits = self._plan.client_limits
        limit, room = limits.ready_timeout or limits.gone_after, self._room()
        # Nodes that others use become free again; how long that may take, only the user can say.
        if self._clock.elapsed() - self._idle_since > limit and (limits.ready_timeout is not None or not room):
            lacks = "has had free" if room else "has been up that has"
            raise AdapterFailed(
                f"No replica has a node: for {limit:g} s no node of the Ray cluster {lacks} {shown(self._wanted)}"
                f"{self._ray.free(self._wanted)}. Start one (ray start --address …) and go on with --reuse, or wait "
                "longer with --ready-timeout.",
                stage="infer",
            )

    def _room(self) -> int:
        """How many replicas all nodes together have room for, if nothing else runs on them."""
        most = self._plan.settings.replicas
        fits = [_fits(node, self._wanted, most) for node in self._ray.nodes()]
        return max(
            number for number in range(most + 1) if sum(min(each, number) for each in fits) >= number * self._nodes
        )


def _fits(node: Mapping[str, float], wanted: Mapping[str, float], most: int) -> int:
    counts = [int(node.get(name, 0.0) // number) for name, number in wanted.items() if number > 0]
    return min(counts, default=most if has_room(node, wanted) else 0)


def _variables(rank: int, facts: Sequence[NodeFacts]) -> dict[str, str]:
    """What deploy.sh of a replica on several nodes hands to torchrun, or to vLLM's options of the same names."""
    return {
        "NNODES": str(len(facts)),
        "NODE_RANK": str(rank),
        "MASTER_ADDR": facts[0].address,
        "MASTER_PORT": str(facts[0].meeting_port),
    }


# Ports of a node that are given to replicas, of this run and of others, before anything listens on them.
#
# Loading a model takes minutes, in which its port looks free. Who shares ports shares the names of Linux's abstract
# sockets, too: processes of one machine, and containers with its network. They end with their process.


@contextmanager
def claim(port: int) -> Iterator[bool]:
    """Whether the port was nobody's; then it is the caller's until the end of the block or of the process."""
    with socket.socket(socket.AF_UNIX) as name:
        try:
            name.bind(f"\0model-accuracy-eval-replica-{port}")
        except OSError:
            yield False
            return
        yield True


# The client of a replica: an actor on its node makes the requests, beside the server that it started.


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
        return tuple(await self._said("models", lambda _: ()))

    async def context_length(self) -> int | None:
        length: int | None = await self._said("context_length", lambda _: None)
        return length

    async def samplers(self, probes: Sequence[Request] = ()) -> Samplers | Fault:
        found: Samplers | Fault = await self._said("samplers", self._lost, probes)
        return found

    async def _said(self, method: str, where_lost: Callable[[ActorLost], object], *arguments: object) -> Any:
        try:
            return await self._call("call", method, *arguments)
        except ActorLost as lost:
            return where_lost(lost)

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
