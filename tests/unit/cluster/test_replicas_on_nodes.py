"""What becomes of replicas on nodes that come, fail and go, told by a cluster that is only played here."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.fake_ports import fake_ports

from model_accuracy_eval import __version__
from model_accuracy_eval.cluster import NodeFacts, NodeNews, NodeTrouble
from model_accuracy_eval.cluster.ray_connection import ActorLost, NodeWeights, Placed
from model_accuracy_eval.cluster.ray_replicas import RayReplicas, RemoteChat
from model_accuracy_eval.errors import AdapterFailed, Refused
from model_accuracy_eval.records import ClientLimits, Request, RunPlan, Service
from model_accuracy_eval.run.engines import ReplicaNode


@dataclass(eq=False)
class Call:
    """The result of a method of an actor; None until it is there."""

    result: Any = None


@dataclass(eq=False)
class PlayedActor:
    """Every method can be called with `remote`; `calls` has what each last call waits for, `given` its arguments."""

    calls: dict[str, Call] = field(default_factory=dict)
    given: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    killed: bool = False

    def __getattr__(self, method: str) -> Any:
        def remote(*given: object) -> Call:
            self.calls[method], self.given[method] = Call(), given
            return self.calls[method]

        return type("Method", (), {"remote": staticmethod(remote)})


class PlayedCluster:
    """Implements what `RayReplicas` needs of a `RayConnection`."""

    def __init__(self, *nodes: dict[str, float]) -> None:
        self.actors: list[PlayedActor] = []
        self._nodes = list(nodes)
        self.cancelled = 0
        self.clock: Any = None
        self.goes_at = 0.0
        """When its last node goes."""

    def run_once(self, *_: object) -> Call:
        return Call()

    def cancel(self, _call: Call) -> None:
        self.cancelled += 1

    def refuse_impossible(self, _wanted: object, _nodes: int) -> None:
        if self.clock.elapsed() >= self.goes_at:
            raise Refused("No node has it.")

    def shown_nodes(self) -> str:
        return "NPU=8"

    def open(self) -> None: ...

    def nodes(self) -> list[dict[str, float]]:
        return self._nodes

    def free(self, _wanted: object) -> str:
        return " (NPU: 0 of 8 are free)"

    def share(self, data: bytes) -> bytes:
        return data

    def place(self, _actor: type, _wanted: object, nodes: int) -> Placed:
        self.actors += [PlayedActor() for _ in range(nodes)]
        return Placed((*self.actors[-nodes:],))

    def is_done(self, call: Call) -> bool:
        return call.result is not None

    def result(self, call: Call) -> Any:
        if isinstance(call.result, ActorLost):
            raise call.result
        return call.result

    def wait_all(self, calls: list[Call], _seconds: float) -> None:
        for call in calls:
            call.result = call.result or b"the end\n"

    def release(self, placed: Placed) -> None:
        for actor in placed.actors:
            actor.killed = True


@dataclass
class Play:
    """A run's replicas, and what was said."""

    cluster: PlayedCluster
    replicas: RayReplicas
    said: list[str]
    folder: Path
    clock: Any

    def tell(self, at: int, method: str, result: object) -> None:
        """What the call of an actor comes to; the replicas hear of it."""
        self.cluster.actors[at].calls[method].result = result
        self.replicas.poll()

    def serve(self, at: int, *, node: int | None = None) -> None:
        node = at if node is None else node
        self.tell(at, "facts", NodeFacts(address=f"node-{node}", version=__version__))
        url = f"http://node-{node}:8000"
        self.tell(at, "start", Service(base_url=url, model="m"))

    def ready(self) -> list[str]:
        return [service.base_url for service in self.replicas.take_ready()]


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., Play]:
    def begin(
        replicas: int = 2, *nodes: dict[str, float], ready_timeout: float | None = None, spanned: int = 1
    ) -> Play:
        (tmp_path / "adapter").mkdir(exist_ok=True)
        cluster, said, ports = PlayedCluster(*(nodes or ({"NPU": 8.0},))), list[str](), fake_ports()
        on_nodes = RayReplicas(cluster, object, clock=ports.clock, say=said.append, otherwise=ports.connect)  # type: ignore[arg-type]
        plan = RunPlan(
            run_id="0", stamp="s", tasks=(), client_limits=ClientLimits(gone_after=0.01, ready_timeout=ready_timeout)
        ).with_settings(
            adapter=str(tmp_path / "adapter"),
            replicas=replicas,
            resources=("NPU=2", f"nodes={spanned}"),
            engine="ray",
        )
        on_nodes.begin(plan, "/weights", lambda at, node: str(tmp_path / f"deploy_{at + node}.log"))
        return Play(cluster, on_nodes, said, tmp_path, ports.clock)

    return begin


def test_each_is_ready_when_its_service_is(play: Callable[..., Play]) -> None:
    played = play(2, {"NPU": 2.0}, {"CPU": 8.0})
    assert "The cluster's nodes have room for 1 of them; the others begin when nodes join." in played.said
    assert played.ready() == []
    played.serve(1)
    assert played.ready() == ["http://node-1:8000"]
    played.serve(0)
    assert (played.ready(), played.ready()) == (["http://node-0:8000"], [])


def test_nodes_that_others_use_are_waited_for_as_long_as_the_user_says(play: Callable[..., Play]) -> None:
    """For ever where nothing is said: a busy cluster is a queue. Nodes that are not there are another thing."""
    patient, bounded = play(2), play(2, ready_timeout=60.0)
    for played in (patient, bounded):
        played.replicas.poll()
        played.clock.sleep(61)
    patient.replicas.poll()
    with pytest.raises(AdapterFailed, match=r"for 60 s .* has had free NPU=2 \(NPU: 0 of 8 are free\)"):
        bounded.replicas.poll()
    nobody = play(2, {"CPU": 1.0})
    nobody.replicas.poll()
    nobody.clock.sleep(1)
    with pytest.raises(AdapterFailed, match="has been up that has NPU=2"):
        nobody.replicas.poll()


def test_weights_wait_for_a_busy_node_and_no_longer_than_the_user_says() -> None:
    """With what is free by then; without a limit they wait on, unless the last node that could do it goes."""
    cluster, ports, said = PlayedCluster({"NPU": 8.0}), fake_ports(), list[str]()

    def weights(patience: float | None) -> NodeWeights:
        never: Any = None
        return NodeWeights(cluster, never, {"NPU": 2}, nodes=1, clock=ports.clock, say=said.append, patience=patience)  # type: ignore[arg-type]

    with pytest.raises(Refused, match=r"For 60 s, which --ready-timeout allows, .*NPU=2 free \(NPU: 0 of 8 are free\)"):
        weights(60.0).measure("/weights", "1GB")
    assert cluster.cancelled == 1
    assert said == ["Waiting until a node of the Ray cluster is free with NPU=2 (NPU: 0 of 8 are free)."]
    cluster.goes_at, cluster.clock = ports.clock.elapsed() + 500, ports.clock
    with pytest.raises(Refused, match="No node has it"):
        weights(None).measure("/weights", "1GB")
    assert ports.clock.elapsed() >= cluster.goes_at


def test_one_that_is_lost_is_replaced_at_any_time(play: Callable[..., Play]) -> None:
    """Before it has a node, while deploy.sh starts, and while it serves; what is lost is killed, if it is there still."""
    played = play(3)
    played.tell(0, "facts", ActorLost("gone"))
    played.tell(1, "facts", NodeFacts(address="node-1", version=__version__))
    played.tell(1, "start", ActorLost("gone"))
    played.serve(2)
    played.tell(2, "news", ActorLost("gone"))
    assert [actor.killed for actor in played.cluster.actors] == [True] * 3 + [False] * 3
    assert [line for line in played.said if "is lost" in line] == [
        "Replica 1 is lost (gone); another waits for room.",
        "Replica 2 on node-1 is lost (gone); another waits for room.",
        "Replica 3 on node-2 is lost (gone); another waits for room.",
    ]


def spanning(play: Callable[..., Play]) -> Play:
    """One replica on two nodes, which serves."""
    played = play(1, *[{"NPU": 2.0}] * 2, spanned=2)
    for rank in range(2):
        assert "start" not in played.cluster.actors[0].calls, "it starts before all its nodes are there"
        facts = NodeFacts(address=f"node-{rank}", version=__version__, meeting_port=29500 + rank)
        played.tell(rank, "facts", facts)
    played.tell(0, "start", Service(base_url="http://node-0:8000", model="m"))
    assert played.ready() == ["http://node-0:8000"]
    return played


def test_a_replica_on_several_nodes_is_told_where_they_meet(play: Callable[..., Play]) -> None:
    """Each node has its rank; the address and the port are those of the first."""
    played = spanning(play)
    variables = [actor.given["start"][-1] for actor in played.cluster.actors]
    where = {"NNODES": "2", "MASTER_ADDR": "node-0", "MASTER_PORT": "29500"}
    assert variables == [{**where, "NODE_RANK": "0"}, {**where, "NODE_RANK": "1"}]
    (service,) = [each.service for each in played.replicas._replicas]
    assert service is not None
    chat = played.replicas.connect(service, ClientLimits(), role="model")
    assert isinstance(chat, RemoteChat)
    assert chat._actor is played.cluster.actors[0]


def test_a_deploy_sh_that_ends_on_one_node_ends_the_replica_on_all(play: Callable[..., Play]) -> None:
    """It is said with the node and the last lines that it printed."""
    played = spanning(play)
    trouble = NodeTrouble(sentence="deploy.sh exited with code 3.", detail="loading\nno card")
    with pytest.raises(AdapterFailed, match=r"Replica 1 on node-1 \(rank 1\): deploy.sh exited") as error:
        played.tell(1, "news", NodeNews(trouble=trouble))
    assert error.value.detail == "loading\nno card"
    assert played.said[-1] == (
        "Replica 1 on node-1 (rank 1) serves no more: deploy.sh exited with code 3.\nloading\nno card"
    )
    assert [actor.given["end"] for actor in played.cluster.actors] == [(trouble,)] * 2
    played.cluster.actors[0].calls["news"].result = NodeNews()
    played.replicas.end()
    assert [(played.folder / f"deploy_{rank}.log").read_text() for rank in range(2)] == ["the end\n"] * 2


@pytest.mark.parametrize("rank", [0, 1])
def test_a_replica_is_lost_with_any_of_its_nodes(play: Callable[..., Play], rank: int) -> None:
    """The others are ended, and all of it is placed again."""
    played = spanning(play)
    played.tell(rank, "news", ActorLost("gone"))
    assert [actor.killed for actor in played.cluster.actors] == [True, True, False, False]
    assert played.said[-1] == f"Replica 1 on node-{rank} (rank {rank}) is lost (gone); another waits for room."


@pytest.mark.parametrize(
    ("nodes", "replicas", "room"), [((2, 2, 2, 2), 2, 2), ((2, 2, 2), 2, 1), ((4, 2, 2), 2, 2), ((8,), 2, 0)]
)
def test_room_is_counted_in_nodes_of_their_own(
    play: Callable[..., Play], nodes: tuple[int, ...], replicas: int, room: int
) -> None:
    """Two replicas may share a node, and two nodes of one replica may not."""
    played = play(replicas, *({"NPU": float(npus)} for npus in nodes), spanned=2)
    told = f"The cluster's nodes have room for {room} of them; the others begin when nodes join."
    assert (told in played.said) == (room < replicas)


def test_one_that_takes_the_address_of_a_lost_one_is_asked(play: Callable[..., Play]) -> None:
    """Its process had ended, and not its node, so the port was free again."""
    played = play(1)
    played.serve(0)
    played.ready()
    played.tell(0, "news", ActorLost("gone"))
    played.serve(1, node=0)
    (service,) = played.replicas.take_ready()
    chat = played.replicas.connect(service, ClientLimits(), role="model")
    assert isinstance(chat, RemoteChat)
    assert chat._actor is played.cluster.actors[1]


def test_actors_that_are_lost_again_and_again_end_the_run(play: Callable[..., Play]) -> None:
    played = play(1)
    with pytest.raises(AdapterFailed, match="It was the last of 10 that were lost before one served"):
        for at in range(20):
            played.tell(at, "facts", ActorLost("gone"))
    assert len(played.cluster.actors) == 10


def test_a_deploy_sh_that_fails_is_not_started_elsewhere(play: Callable[..., Play]) -> None:
    played = play(2)
    for at in range(2):
        played.tell(at, "facts", NodeFacts(address=f"node-{at}", version=__version__))
    trouble = NodeTrouble(sentence="deploy.sh exited with code 3.", detail="no card")
    played.tell(0, "start", trouble)
    with pytest.raises(AdapterFailed, match="Replica 1 on node-0: .* So none of the 2 replicas serves") as error:
        played.tell(1, "start", trouble)
    assert (error.value.detail, len(played.cluster.actors)) == ("no card", 2)


def test_another_version_is_not_mixed_in(play: Callable[..., Play]) -> None:
    played = play(2)
    played.tell(1, "facts", NodeFacts(address="node-1", version="0.0.1"))
    assert any("model-accuracy-eval is 0.0.1 there and " in line for line in played.said)
    played.serve(0)
    assert played.ready() == ["http://node-0:8000"]


def test_one_whose_requests_fail_is_no_replica_any_more(play: Callable[..., Play]) -> None:
    """It may be lost, and then there will be another; if it is there, the run ends when it was the last."""
    played = play(2)
    played.serve(0)
    played.serve(1)
    for service in played.replicas.take_ready():
        played.replicas.dismiss(service, "it failed 3 requests in a row", gone=False)
    played.tell(0, "news", ActorLost("gone"))
    assert len(played.cluster.actors) == 3
    played.tell(1, "news", NodeNews())
    assert played.said[-1] == "Replica 2 on node-1 serves no more: it failed 3 requests in a row"


def test_what_was_printed_until_the_end_is_in_the_log(play: Callable[..., Play]) -> None:
    """Also the news that were on their way by then."""
    played = play(1)
    played.serve(0)
    played.cluster.actors[0].calls["news"].result = NodeNews(output=b"begun\n", sentences=("It loads.",))
    played.replicas.end()
    assert (played.folder / "deploy_0.log").read_bytes() == b"begun\nthe end\n"
    assert "node-0: It loads." in played.said
    assert played.cluster.actors[0].killed


def test_a_node_whose_replica_is_ended_while_it_is_looked_at_refuses_requests() -> None:
    """What it finds of its own deploy.sh then is nothing against that."""
    node, trouble = ReplicaNode(), NodeTrouble(sentence="deploy.sh exited with code 3.")

    class Ending:
        def check(self) -> None:
            node._live = None
            node._trouble = trouble

    async def looked_at() -> NodeNews:
        node._live = Ending()  # type: ignore[assignment]
        await node.news()
        reply, _ = await node.ask(ClientLimits(), Request(messages=()), {})
        assert reply.fault is not None
        assert (reply.fault.kind, reply.fault.sentence) == ("refused", trouble.sentence)
        return await node.news()

    assert asyncio.run(looked_at()).trouble == trouble
