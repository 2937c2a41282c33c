"""The ports of a run that uses a Ray cluster: replicas and weights on its nodes, and sandboxes."""

from collections.abc import Mapping
from dataclasses import replace

from model_accuracy_eval.cluster.node_weights import NodeWeights
from model_accuracy_eval.cluster.ray_connection import RayConnection
from model_accuracy_eval.cluster.ray_replicas import RayReplicas
from model_accuracy_eval.cluster.ray_sandbox import RaySandbox
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.records import RunPlan, WeightsInfo
from model_accuracy_eval.records.cluster import NodeTrouble
from model_accuracy_eval.wiring.replica_node import ReplicaNode, measure_weights
from model_accuracy_eval.wiring.sandbox_node import SandboxNode


def on_ray(ports: Ports, plan: RunPlan, environment: Mapping[str, str]) -> Ports:
    """The same ports, but what the plan wants on the cluster is there."""
    ray_connection = RayConnection(environment)
    if plan.settings.engine == "ray":
        say = ports.progress.say
        replicas = RayReplicas(ray_connection, ReplicaNode, clock=ports.clock, say=say, otherwise=ports.connect)

        def measure_there(reference: str, limit: str) -> WeightsInfo | NodeTrouble:
            return measure_weights(plan, reference, limit)

        weights_source = NodeWeights(
            ray_connection,
            measure_there,
            plan.settings.resources,
            clock=ports.clock,
            say=say,
            patience=plan.client_limits.ready_timeout,
        )
        ports = replace(ports, cluster=replicas, connect=replicas.connect, weights_source=weights_source)
    if plan.settings.judge_engine == "ray":
        sandbox = RaySandbox(ray_connection, SandboxNode, plan, ports.clock, ports.progress.say)
        ports = replace(ports, open_sandbox=sandbox.open)
    return ports
