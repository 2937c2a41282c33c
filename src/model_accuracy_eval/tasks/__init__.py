"""The table of datasets: name → where its TaskSpec stands. Modules are opened when they are asked for."""

from importlib import import_module

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import TaskSpec

TASKS: dict[str, str] = {
    "demo_arithmetic": "demo_arithmetic:TASK",
    "demo_gsm8k": "demo_gsm8k:TASK",
    "gsm8k": "gsm8k:ZERO_SHOT",
    "gsm8k_4shot": "gsm8k:FOUR_SHOT",
}


def find(name: str) -> TaskSpec:
    """The task of that name; an unknown one is answered with the nearest."""
    if name not in TASKS:
        raise UnknownName("dataset", name, TASKS)
    module, attribute = TASKS[name].split(":")
    task: TaskSpec = getattr(import_module(f"{__name__}.{module}"), attribute)
    return task
