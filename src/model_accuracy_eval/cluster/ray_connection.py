"""The Ray cluster that a run uses: how it is reached, what its nodes have, actors on them, and what these
need there: the weights, and the adapter's folder.

Nothing is started here: `RAY_ADDRESS` says where a cluster is, otherwise one that runs on this machine is used.
"""

import asyncio
import contextlib
import io
import re
import signal
import socket
import tarfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from model_accuracy_eval import extras
from model_accuracy_eval.cluster import NodeTrouble
from model_accuracy_eval.errors import Refused, UsageError
from model_accuracy_eval.ports import Clock
from model_accuracy_eval.records import WeightsInfo

_ANSWER_SECONDS = 5.0


_OWN_OPTIONS = {"CPU": "num_cpus", "GPU": "num_gpus", "memory": "memory"}
"""Resources for which Ray has options of their own."""
_OF_THIS_MACHINE = "/tmp/ray/ray_current_cluster"  # noqa: S108 - Ray's own, by which it finds a cluster
_ACTOR: dict[str, Any] = {
    "max_concurrency": 10_000,
    # An actor that ends would kill the supervisors that it has started, before these could end what is below them.
    "runtime_env": {"env_vars": {"RAY_kill_child_processes_on_worker_exit": "false"}},
}
"""Calls that one actor takes at a time are bounded by its callers."""


class ActorLost(Exception):
    """An actor's process, its node or the way there is gone."""


class Placed(NamedTuple):
    """Actors that were given room together."""

    actors: tuple[Any, ...]
    group: Any = None
    """What keeps the room of several; None: there is one."""


class RayConnection:
    """One cluster. It is reached when it is first needed, and left when the program ends."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._address = environment.get("RAY_ADDRESS", "").strip()

    @property
    def _ray(self) -> Any:
        return extras.load("ray", needed_by="A Ray cluster")

    def open(self) -> None:
        """Joins the cluster. Whoever has joined one before, as in a notebook, uses that."""
        if self._ray.is_initialized():
            return
        if "://" in self._address:
            raise UsageError(
                f"RAY_ADDRESS is {self._address}, the address for clients outside of a cluster, but replies are taken "
                "in on a node of it: run the command there, or as a job (docs/how-to/ray.md), or set HOST:PORT.",
                next_step="export RAY_ADDRESS=HEAD-NODE:6379",
            )
        address = self._address
        if not address:
            with contextlib.suppress(OSError):
                address = Path(_OF_THIS_MACHINE).read_text(encoding="utf-8").strip()
        host, _, port = address.rpartition(":")
        if port.isdigit():  # Ray itself would try for ever to reach a head node that does not answer
            try:
                socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER_SECONDS).close()
            except OSError as error:
                raise self._unreachable(OSError(f"{address}: {error}")) from error
        in_main_thread = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGTERM)
        try:
            self._ray.init(address=self._address or "auto", log_to_driver=False, logging_level="critical")
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise self._unreachable(error) from error
        finally:
            # Ray takes over the signal, and would exit where a run still has things to end.
            if in_main_thread:
                signal.signal(signal.SIGTERM, before)

    def _unreachable(self, error: Exception) -> Refused:
        where = f"at RAY_ADDRESS={self._address}" if self._address else "here, and RAY_ADDRESS is not set"
        said = " ".join(str(error).split())
        if "ersion" in said:  # "Version mismatch: The cluster was started with: Ray: … Python: …"
            return Refused(f"The Ray cluster cannot be joined: {said}")
        return Refused(
            f"There is no Ray cluster {where}: {said.partition('. ')[0].rstrip('.')}.",
            next_step="export RAY_ADDRESS=HEAD-NODE:6379" if self._address else "ray start --head",
        )

    def nodes(self) -> list[dict[str, float]]:
        """What each node that is up has in all."""
        return [node["Resources"] for node in self._ray.nodes() if node["Alive"]]

    def refuse_impossible(self, wanted: Mapping[str, float], needed: int) -> None:
        """Refuses resources that fewer nodes have than a replica spans, even if nothing else runs on them."""
        nodes = self.nodes()
        able = sum(has_room(node, wanted) for node in nodes)
        if able >= needed:
            return
        who = "No node" if not able else f"Of {needed} nodes that a replica spans, only {able}"
        raise Refused(
            f"{who} of the Ray cluster has {shown(wanted)}, which --resources asks for each replica. Its "
            f"{len(nodes)} nodes have: {self.shown_nodes()}. Start a node with them (ray start --address … --resources "
            f"'{{\"NPU\": 8}}'), or wait for one with --ready-timeout SECONDS.",
            next_step="ray status",
        )

    def shown_nodes(self) -> str:
        return "; ".join(_shown(node) for node in self.nodes()) or "no node"

    def free(self, wanted: Mapping[str, float]) -> str:
        """Such as " (NPU: 0 of 16 are free)"; empty where nothing is wanted."""
        nodes, left = self.nodes(), self._ray.available_resources()
        there = {name: sum(node.get(name, 0.0) for node in nodes) for name in wanted}
        each = [f"{name}: {left.get(name, 0.0):g} of {number:g} are free" for name, number in there.items()]
        return f" ({', '.join(each)})" if each else ""

    def place(self, actor: type, wanted: Mapping[str, float], nodes: int) -> Placed:
        """One actor that starts as soon as a node has room, those that have none of these actors first; or several,
        each on a node of its own, which start as soon as all of them have room."""
        options: dict[str, Any] = {**_ACTOR, "num_cpus": 0, **_ray_options(wanted)}
        remote = self._ray.remote(actor)
        if nodes == 1:
            return Placed((remote.options(**options, scheduling_strategy="SPREAD").remote(),))
        groups = extras.load("ray.util.placement_group")
        group = groups.placement_group([dict(wanted)] * nodes, strategy="STRICT_SPREAD")
        in_group = extras.load("ray.util.scheduling_strategies").PlacementGroupSchedulingStrategy
        strategies = [in_group(group, placement_group_bundle_index=at) for at in range(nodes)]
        return Placed(tuple(remote.options(**options, scheduling_strategy=each).remote() for each in strategies), group)

    def release(self, placed: Placed) -> None:
        """Ends the actors, and gives their room back."""
        for actor in placed.actors:
            self._ray.kill(actor)
        if placed.group is not None:
            extras.load("ray.util.placement_group").remove_placement_group(placed.group)

    def place_on(self, node: str, actor: type, cpus: float, *arguments: object) -> Any:
        """An actor on this node and no other. It is started again, and its calls are repeated, if its process ends."""
        strategies = extras.load("ray.util.scheduling_strategies")
        strategy = strategies.NodeAffinitySchedulingStrategy(node, soft=False)
        again = {"max_restarts": 2, "max_task_retries": 1}
        options = {**_ACTOR, **again, "scheduling_strategy": strategy, "num_cpus": cpus}
        return self._ray.remote(actor).options(**options).remote(*arguments)

    def nodes_with_cpus(self) -> dict[str, float]:
        """Node → CPUs, of those that are up and have any."""
        found = {node["NodeID"]: node["Resources"].get("CPU", 0.0) for node in self._ray.nodes() if node["Alive"]}
        return {node: cpus for node, cpus in found.items() if cpus >= 1}

    def run_once(self, work: Any, wanted: Mapping[str, float], *arguments: object) -> Any:
        """The reference of the result of a function, called once on a node with room."""
        options = {"num_cpus": 0, "max_retries": 3, **_ray_options(wanted)}
        return self._ray.remote(work).options(**options).remote(*arguments)

    def share(self, data: bytes) -> Any:
        """The reference of bytes that are sent once to each node that asks for them."""
        return self._ray.put(data)

    def is_done(self, reference: Any) -> bool:
        return bool(self._ray.wait([reference], timeout=0)[0])

    def wait_all(self, references: Sequence[Any], seconds: float) -> None:
        if references:
            self._ray.wait(list(references), num_returns=len(references), timeout=seconds)

    def result(self, reference: Any) -> Any:
        """Raises `ActorLost`, or what the call has raised."""
        try:
            return self._ray.get(reference)
        except _gone() as error:
            raise ActorLost(_said(error)) from error

    async def result_of(self, reference: Any) -> Any:
        """The same, within an event loop; cancelling it cancels the call."""
        try:
            return await reference
        except asyncio.CancelledError:
            self._ray.cancel(reference)
            raise
        except _gone() as error:
            raise ActorLost(_said(error)) from error

    def cancel(self, reference: Any) -> None:
        self._ray.cancel(reference)

    def kill(self, actor: Any) -> None:
        self._ray.kill(actor)


def has_room(node: Mapping[str, float], wanted: Mapping[str, float]) -> bool:
    return all(node.get(name, 0.0) >= number for name, number in wanted.items())


def shown(wanted: Mapping[str, float]) -> str:
    return ", ".join(f"{name}={number:g}" for name, number in wanted.items())


def _shown(node: Mapping[str, float]) -> str:
    """Without what Ray counts for itself, and without the name of each node, which is a resource too."""
    own = {
        name: number for name, number in sorted(node.items()) if not re.match(r"node:|object_store_memory|memory", name)
    }
    return shown(own) or "nothing"


def _ray_options(wanted: Mapping[str, float]) -> dict[str, Any]:
    own = {_OWN_OPTIONS[name]: number for name, number in wanted.items() if name in _OWN_OPTIONS}
    return {**own, "resources": {name: number for name, number in wanted.items() if name not in _OWN_OPTIONS}}


def _gone() -> tuple[type[BaseException], ...]:
    errors = extras.load("ray.exceptions")
    return (
        errors.RayActorError,
        errors.ActorUnschedulableError,
        errors.ActorPlacementGroupRemoved,
        errors.WorkerCrashedError,
        errors.NodeDiedError,
        errors.ObjectLostError,
    )


def _said(error: BaseException) -> str:
    """What has happened, without Ray's many lines. A library that a node lacks is in one of them."""
    missing = re.search(r"No module named '[\w.]+'", str(error))
    if missing:
        return missing[0]
    if isinstance(error, extras.load("ray.exceptions").ActorUnavailableError):
        return "its node does not answer"
    return "its node or its process has ended"


# Weights that are measured and fetched where they are used: on the nodes.


_SAY_AFTER = 5.0
_LOOK_SECONDS = 5.0
"""Between looks whether there is a node still that could be free."""

MeasureWeights = Callable[[str, str], WeightsInfo | NodeTrouble]


class NodeWeights:
    """Implements `ports.WeightsSource`. `measure_there` is called on a node that has the resources."""

    def __init__(
        self,
        ray_connection: RayConnection,
        measure_there: MeasureWeights,
        wanted: Mapping[str, float],
        *,
        nodes: int,
        clock: Clock,
        say: Callable[[str], object],
        patience: float | None,
    ) -> None:
        """`nodes`: that a replica spans. `patience`: seconds for which nodes may come and become free; None: those
        that are there may be busy."""
        self._ray = ray_connection
        self._measure_there = measure_there
        self._wanted = wanted
        self._nodes = nodes
        self._clock = clock
        self._say = say
        self._patience = patience
        self._pinned: dict[str, str] = {}

    def measure(self, reference: str, limit: str) -> WeightsInfo:
        self._ray.open()
        self._refuse_impossible()
        absolute = reference if _is_of_hub(reference) else str(Path(reference).expanduser().absolute())
        result = self._ray.run_once(self._measure_there, self._wanted, absolute, limit)
        self._wait(result)
        try:
            found = self._ray.result(result)
        except ActorLost as lost:
            raise Refused(f"The node that looked at the weights is lost ({lost}); run again.") from lost
        if isinstance(found, NodeTrouble):
            raise Refused(found.sentence)
        info: WeightsInfo = found
        is_moving = info.commit is not None and _is_of_hub(info.reference)
        self._pinned[reference] = f"{info.reference.partition('@')[0]}@{info.commit}" if is_moving else info.reference
        return replace(info, reference=reference)

    def fetch(self, reference: str) -> str:
        """What every node fetches for itself: the same commit."""
        return self._pinned[reference]

    def _wait(self, result: object) -> None:
        began, said, next_look = self._clock.elapsed(), False, _LOOK_SECONDS
        while not self._ray.is_done(result):
            self._clock.sleep(0.05)
            waited = self._clock.elapsed() - began
            if not said and waited > _SAY_AFTER:
                said = True
                self._say(f"Waiting until a node of the Ray cluster is free{' with ' * bool(self._wanted)}"
                          f"{shown(self._wanted)}{self._ray.free(self._wanted)}.")  # fmt: skip
            if waited > next_look:
                next_look += _LOOK_SECONDS
                self._refuse_impossible()
            if self._patience is not None and waited > self._patience:
                self._ray.cancel(result)
                raise Refused(
                    f"For {self._patience:g} s, which --ready-timeout allows, no node of the Ray cluster has had "
                    f"{shown(self._wanted) or 'room'} free{self._ray.free(self._wanted)}. Its nodes have: "
                    f"{self._ray.shown_nodes()}."
                )

    def _refuse_impossible(self) -> None:
        if self._patience is None:
            self._ray.refuse_impossible(self._wanted, self._nodes)


def _is_of_hub(reference: str) -> bool:
    return reference.startswith(("hf:", "ms:"))


# The adapter's folder as bytes, which travel to nodes that share no disk with this machine.


_LARGEST = 256 << 20
_LEFT_OUT = {".git", "__pycache__"}


def pack(folder: str) -> bytes:
    """Files, links and modes, without what git and Python keep for themselves."""
    root = Path(folder)
    sent = (path for path in root.rglob("*") if not _LEFT_OUT & set(path.relative_to(root).parts))
    size = sum(path.lstat().st_size for path in sent)
    if size > _LARGEST:
        raise Refused(
            f"The adapter's folder '{folder}' has {size:,} bytes, and more than {_LARGEST:,} are not copied to the "
            "nodes: keep weights elsewhere, where every node finds them under one path, and name that with --model."
        )

    def kept(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if _LEFT_OUT & set(Path(entry.name).parts) else entry

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        archive.add(folder, arcname=".", filter=kept)
    return packed.getvalue()


def unpack(packed: bytes, folder: str) -> None:
    """The packed folder, under its new path."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        # It is the user's own folder, so links may lead anywhere. The newest Pythons want to be told.
        archive.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
        archive.extractall(folder)  # noqa: S202
