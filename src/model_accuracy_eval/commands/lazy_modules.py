"""Modules that commands need only when they run: each is imported at its first use, so that `--help` stays fast."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model_accuracy_eval import action as action
    from model_accuracy_eval import catalogue as catalogue
    from model_accuracy_eval import compare_page as compare_page
    from model_accuracy_eval import doctor as doctor
    from model_accuracy_eval import late_gates as late_gates
    from model_accuracy_eval import python_api as python_api
    from model_accuracy_eval import python_rescore as python_rescore
    from model_accuracy_eval import rerender as rerender
    from model_accuracy_eval import size_plan as size_plan
    from model_accuracy_eval import tasks as tasks
    from model_accuracy_eval import wiring as wiring
    from model_accuracy_eval.commands import next_command as next_command
    from model_accuracy_eval.reporting import comparison as comparison
    from model_accuracy_eval.reporting import history as history
    from model_accuracy_eval.reporting import history_page as history_page
    from model_accuracy_eval.reporting import history_text as history_text
    from model_accuracy_eval.reporting import manifest as manifest
    from model_accuracy_eval.reporting import runfile as runfile
    from model_accuracy_eval.reporting import terminal as terminal
    from model_accuracy_eval.rescoring import tables as tables
    from model_accuracy_eval.rescoring.shapes import field_map as field_map
    from model_accuracy_eval.scoring import contracts as contracts
    from model_accuracy_eval.scoring import gate_lines as gate_lines
    from model_accuracy_eval.scoring import scorecard as scorecard
    from model_accuracy_eval.stages import previous_run as previous_run
    from model_accuracy_eval.wiring import action_parts as action_parts
    from model_accuracy_eval.wiring import batch_parts as batch_parts
    from model_accuracy_eval.wiring import check_parts as check_parts
    from model_accuracy_eval.wiring import export_parts as export_parts
    from model_accuracy_eval.wiring import history_parts as history_parts
    from model_accuracy_eval.wiring import machine_checks as machine_checks
    from model_accuracy_eval.wiring import merge_parts as merge_parts
    from model_accuracy_eval.wiring import network_checks as network_checks
    from model_accuracy_eval.wiring import service_checks as service_checks
    from model_accuracy_eval.wiring import view_parts as view_parts

_PACKAGES = {
    "": (
        "action",
        "catalogue",
        "compare_page",
        "doctor",
        "late_gates",
        "python_api",
        "python_rescore",
        "rerender",
        "size_plan",
        "tasks",
        "wiring",
    ),
    ".commands": ("next_command",),
    ".reporting": (
        "comparison",
        "history",
        "history_page",
        "history_text",
        "manifest",
        "runfile",
        "terminal",
    ),
    ".rescoring": ("tables",),
    ".rescoring.shapes": ("field_map",),
    ".scoring": ("contracts", "gate_lines", "scorecard"),
    ".stages": ("previous_run",),
    ".wiring": (
        "action_parts",
        "batch_parts",
        "check_parts",
        "export_parts",
        "history_parts",
        "machine_checks",
        "merge_parts",
        "network_checks",
        "service_checks",
        "view_parts",
    ),
}
MODULES = {name: f"model_accuracy_eval{package}.{name}" for package, names in _PACKAGES.items() for name in names}
"""The modules above, which only the type checker imports there: name → where it is imported from."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> ModuleType:
        if name not in MODULES:
            raise AttributeError(name)
        return import_module(MODULES[name])
