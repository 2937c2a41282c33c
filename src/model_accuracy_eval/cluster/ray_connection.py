"""The Ray cluster that a run uses: how it is reached, what its nodes have, and actors on them.

Nothing is started here: `RAY_ADDRESS` says where a cluster is, otherwise one that runs on this machine is used.
"""

import asyncio
import contextlib
import re
import signal
import socket
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from model_accuracy_eval import extras
from model_accuracy_eval.errors import Refused, UsageError

_ANSWER_SECONDS = 5.0


def _silence(address: str) -> OSError | None:
    """Why nobody answers at HOST:PORT."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER_SECONDS).close()
    except OSError as error:
        return error
    return None


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
        # Ray itself would try for ever to reach a head node that does not answer.
        if address.rpartition(":")[2].isdigit() and (error := _silence(address)):
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

    def refuse_impossible(self, wanted: Mapping[str, float]) -> None:
        """Refuses resources that no node has, even if nothing else runs on it."""
        nodes = self.nodes()
        if any(has_room(node, wanted) for node in nodes):
            return
        raise Refused(
            f"No node of the Ray cluster has {shown(wanted)}, which --resources asks for each replica. Its "
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

    def place(self, actor: type, wanted: Mapping[str, float]) -> Any:
        """An actor that starts as soon as a node has room; nodes that have none of these actors come first."""
        options: dict[str, Any] = {"num_cpus": 0, "scheduling_strategy": "SPREAD", **_ray_options(wanted)}
        return self._ray.remote(actor).options(**_ACTOR, **options).remote()

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


def amounts(resources: Sequence[str]) -> dict[str, float]:
    """`NPU=2` as a name and a number."""
    pairs = (each.partition("=") for each in resources)
    return {name.strip(): float(number) for name, _, number in pairs}


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
