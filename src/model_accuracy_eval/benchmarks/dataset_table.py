"""The table of datasets: everything that can be evaluated by its name alone.

A family is a module of this folder and its name below. It has `TASKS`; where it has them, `GROUPS` of its tasks and
`VIEWS` of its rows.
"""

from collections.abc import Callable
from importlib import import_module

from model_accuracy_eval.benchmarks import aisbench_names, folder_places, known_rows
from model_accuracy_eval.benchmarks.dataset_names import DatasetNames
from model_accuracy_eval.records import DataRow, TaskGroup, TaskSpec

View = Callable[..., list[DataRow]]

INDEX = {
    "Comes with the package": "demo",
    "Mathematics": "gsm8k mgsm svamp math500 aime hmmt olympiadbench cmath",
    "Knowledge and thought": "mmlu mmlu_pro mmlu_redux gpqa supergpqa arc bbh bbeh musr zebralogic agieval truthfulqa",
    "Graded by a judge": "simpleqa mt_bench hle harmbench",
    "Function calls": "bfcl",
    "Long texts": "longbench longbench_v2",
    "Long texts made here": "ruler",
    "Knowledge in Chinese": "ceval cmmlu gaokao",
    "Everyday thought": "hellaswag winogrande piqa siqa commonsenseqa openbookqa",
    "Following instructions": "ifeval multi_if",
    "Translation": "wmt24pp flores",
    "Reading and spelling": "boolq race drop squad triviaqa nq_open tydiqa lambada spelling",
    "Code": "humaneval mbpp bigcodebench cruxeval humaneval_x multipl_e livecodebench apps codecontests",
    "Pictures": "mmmu mmstar mmbench mathvista ai2d realworldqa yes_or_no_pictures ocrbench textvqa docvqa chartqa",
    "Sound and video": "mmau mmvu",
    "Base models (CORE)": "core",
}
"""Heading → the families under it, in the order in which they are listed."""

_FAMILIES = {
    heading: [import_module(f"{__package__}.{name}") for name in names.split()] for heading, names in INDEX.items()
}
_MODULES = [module for modules in _FAMILIES.values() for module in modules]

SECTIONS: dict[str, tuple[TaskSpec, ...]] = {
    heading: tuple(
        task.with_data(known_rows.pinned).with_data(folder_places.placed) for module in modules for task in module.TASKS
    )
    for heading, modules in _FAMILIES.items()
}
"""Heading → the datasets under it."""

TASKS = {task.name: task for section in SECTIONS.values() for task in section}

GROUPS: dict[str, TaskGroup] = {group.name: group for module in _MODULES for group in getattr(module, "GROUPS", ())}
"""Names that stand for several datasets."""

VIEWS: dict[str, View] = {name: view for module in _MODULES for name, view in getattr(module, "VIEWS", {}).items()}
"""The views of rows that single families need."""


NAMES = DatasetNames(SECTIONS, GROUPS, aisbench_names.NAMES)


def canonical(name: str) -> str | None:
    """The table's own name of a dataset or group that may be written as another tool writes it."""
    return name if name in TASKS or name in GROUPS else NAMES.canonical(name)


def find(name: str) -> TaskSpec:
    """The task of that name; the error for an unknown one tells its kind, and how to bring it."""
    known = canonical(name)
    if known is None or known not in TASKS:
        raise NAMES.unknown(name)
    return TASKS[known]


def members(name: str) -> tuple[TaskSpec, ...]:
    """The tasks of a group, or the one of that name."""
    group = GROUPS.get(canonical(name) or name)
    return tuple(map(find, group.members)) if group else (find(name),)
