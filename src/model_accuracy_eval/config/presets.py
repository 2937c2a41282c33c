"""Protocols of code benchmarks under one word: how many samples, how they are drawn, which k is told."""

from collections.abc import Mapping
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import TaskSpec

_SAMPLED: dict[str, Any] = {"temperature": 0.8, "generation": {"top_k": 40}}
PRESETS: dict[str, dict[str, Any]] = {
    "greedy": {"num_return_sequences": 1, "temperature": 0.0, "k": (1,)},
    "pass@1": {"num_return_sequences": 10, "k": (1,), **_SAMPLED},
    "pass@10": {"num_return_sequences": 100, "k": (1, 10), **_SAMPLED},
}


def unfolded(layer: Mapping[str, Any]) -> dict[str, Any]:
    """The layer behind what its preset says; whatever is said beside the preset wins."""
    preset = layer.get("preset")
    return {**PRESETS[preset], **layer} if preset else dict(layer)


def asked_by(strategy: str, task: TaskSpec) -> TaskSpec:
    """The task with its question put in another manner; `standard` is the one that it has."""
    if strategy == "standard":
        return task
    offered = task.prompt.strategies
    if strategy not in offered:
        has = f"it has {', '.join(offered)}" if offered else "it has the standard one alone"
        raise BadValue(f"The dataset '{task.name}' has no prompt strategy '{strategy}'; {has}.")
    return msgspec.structs.replace(task, prompt=msgspec.structs.replace(task.prompt, question=offered[strategy]))
