"""What can be evaluated: the table of datasets (`dataset_table`), task files, own questions; and their prompts.

The names of the table stand here too. It is loaded when one of them is first used, because files of own questions do
without it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model_accuracy_eval.tasks.dataset_table import GROUPS as GROUPS
    from model_accuracy_eval.tasks.dataset_table import NAMES as NAMES
    from model_accuracy_eval.tasks.dataset_table import SECTIONS as SECTIONS
    from model_accuracy_eval.tasks.dataset_table import TASKS as TASKS
    from model_accuracy_eval.tasks.dataset_table import canonical as canonical
    from model_accuracy_eval.tasks.dataset_table import find as find
    from model_accuracy_eval.tasks.dataset_table import members as members

_OF_THE_TABLE = ("GROUPS", "NAMES", "SECTIONS", "TASKS", "canonical", "find", "members")


def __getattr__(name: str) -> Any:
    if name not in _OF_THE_TABLE:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"{__name__}.dataset_table"), name)
    return value
