"""The ports of a run, on this machine or on a cluster."""

from collections.abc import Callable, Mapping
from typing import Concatenate, ParamSpec

from model_accuracy_eval.ports import Ports
from model_accuracy_eval.records import RunPlan
from model_accuracy_eval.wiring.ray_parts import on_ray
from model_accuracy_eval.wiring.run_parts import ports as local_ports

P = ParamSpec("P")
MakePorts = Callable[Concatenate[RunPlan, Mapping[str, str], P], Ports]


def _with_engines(make: MakePorts[P]) -> MakePorts[P]:
    def ports(plan: RunPlan, environment: Mapping[str, str], /, *others: P.args, **named: P.kwargs) -> Ports:
        parts = make(plan, environment, *others, **named)
        if "ray" not in (plan.settings.engine, plan.settings.judge_engine):
            return parts
        return on_ray(parts, plan, environment)

    return ports


ports = _with_engines(local_ports)
