"""The gates of a plan: lines as users write them, matched with the figures that a run will have, or has."""

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from model_accuracy_eval.config import inputs
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import Gate, RunPlan, Settings
from model_accuracy_eval.scoring import gate_lines
from model_accuracy_eval.scoring.gate_lines import Units
from model_accuracy_eval.tasks import dataset_table


def parsed(settings: Settings) -> tuple[Gate, ...]:
    """The gates as they are written."""
    return tuple(gate for line in settings.gate for gate in gate_lines.parse(line))


def resolved(settings: Settings, datasets: Units, groups: Mapping[str, Collection[str]]) -> tuple[Gate, ...]:
    """The gates, each for a figure of these datasets and groups; of groups the names are given, and datasets have their
    units."""
    unit_of = {name: unit for figures in datasets.values() for name, unit in figures.items()}
    of_groups = {group: {name: unit_of[name] for name in figures} for group, figures in groups.items()}
    own = {*datasets, *groups}
    gates = gate_lines.resolve([_named(gate, own) for gate in parsed(settings)], datasets, of_groups)
    if not settings.baseline and (relative := [gate for gate in gates if gate.from_baseline]):
        raise BadValue(f"The gate '{relative[0]}' speaks of a baseline: name that run with --baseline.")
    return gates


def _named(gate: Gate, own: Collection[str]) -> Gate:
    """The gate of a dataset that is called as another tool calls it."""
    known = dataset_table.canonical(gate.dataset)
    return msgspec.structs.replace(gate, dataset=known) if gate.dataset not in own and known in own else gate


def settings_with(plan: RunPlan, values: Mapping[str, Any]) -> Settings:
    """The settings of a run that has ended, with what is given now; the others are as they were."""
    return msgspec.structs.replace(plan.settings, **inputs.read(values, "the arguments"))


def gated(plan: RunPlan, settings: Settings, datasets: Units, groups: Mapping[str, Collection[str]]) -> RunPlan:
    """The plan of a run that has ended, with the gates of these settings."""
    gates = resolved(settings, datasets, groups)
    if not gates:
        raise BadValue("There is no gate to decide: give one with --gate, such as 'gsm8k: avg@5 >= 60'.")
    return msgspec.structs.replace(plan, settings=settings, gates=gates)
