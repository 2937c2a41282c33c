"""Replicas of an adapter on the nodes of a cluster."""

from collections.abc import Callable
from typing import Protocol

from model_accuracy_eval.records import RunPlan, Service


class Cluster(Protocol):
    """Runs `deploy.sh` as often as the plan says, wherever there is room; `Ports.connect` reaches what it started."""

    def begin(self, plan: RunPlan, weights: str, log: Callable[[int], str]) -> None:
        """Places the replicas; each begins as soon as a node has room for it. `log` is where the output of one goes."""

    def poll(self) -> None:
        """Takes in what has happened; raises when no replica is left and none can come. To be called all the time."""

    def take_ready(self) -> list[Service]:
        """Returns the replicas that have become ready since the last call."""

    def dismiss(self, service: Service, reason: str) -> None:
        """Counts a replica as none any more, because its requests fail."""

    def end(self) -> None:
        """Ends all replicas, those included that have no node yet."""
