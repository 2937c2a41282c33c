"""A dataset of the test's own, with as little said about it as a task needs."""

from typing import Any

from model_accuracy_eval.records import DataFile, Prompt, TaskSpec


def small_task(name: str, question: str = "?", reference: str = "", **more: Any) -> TaskSpec:
    least: dict[str, Any] = {"data": DataFile(name=f"{name}.jsonl"), "fields": (), "prompt": Prompt(question=question)}
    return TaskSpec(name=name, about="", reference=reference, **(least | more))
