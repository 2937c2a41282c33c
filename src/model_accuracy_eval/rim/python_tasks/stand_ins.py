"""What task files import, where it is not installed: `datasets` over rows in memory, lm-eval's folder of tasks as
packages, and placeholders for all else, which fail as soon as something would be made of them.
"""

import importlib.abc
import importlib.machinery
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from model_accuracy_eval.rim.python_tasks import filters
from model_accuracy_eval.rim.python_tasks.dataset import Dataset, concatenate
from model_accuracy_eval.rim.python_tasks.placeholders import Placeholder


def _members_of(name: str) -> Callable[[str], Placeholder]:
    """What a module of placeholders answers when it is asked for a member."""

    def member(attribute: str) -> Placeholder:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return Placeholder(f"{name}.{attribute}")

    return member


class _Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Asked last: whatever no other finder knows becomes a module of placeholders, but no part of a package that is
    installed: such packages ask for parts that may be missing."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        whole = sys.modules.get(fullname.partition(".")[0])
        if whole is not None and whole.__spec__ is not None and whole.__spec__.loader is not self:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        _fill(module)


def _fill(module: ModuleType, **members: Any) -> None:
    vars(module).update(members, __getattr__=_members_of(module.__name__))


def _package(name: str, folder: Path | None, **members: Any) -> None:
    module = ModuleType(name)
    module.__path__ = [str(folder)] if folder else []
    _fill(module, **members)
    sys.modules[name] = module
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, module)


def _tasks_root(folder: Path) -> Path | None:
    """The folder `lm_eval/tasks` above, if there is one."""
    return next((one for one in [folder, *folder.parents] if one.parts[-2:] == ("lm_eval", "tasks")), None)


def module_name(file: Path) -> str:
    """The name under which lm-eval knows the file, for the sake of imports that are relative to it."""
    root = _tasks_root(file.parent)
    if root is None:
        return f"task_python.{file.stem}"
    return ".".join(["lm_eval", "tasks", *file.relative_to(root).with_suffix("").parts])


def install(folder: str, **members: Any) -> None:
    """Makes the stand-ins importable, and the task's own folder; `members` are further ones of `datasets`."""
    _package("datasets", None, Dataset=Dataset, concatenate_datasets=concatenate, **members)
    _package("lm_eval", None)
    for name, own in filters.MODULES.items():
        _package(name, None, **own)
    _package("lm_eval.tasks", _tasks_root(Path(folder)))
    sys.path.append(folder)
    sys.meta_path.append(_Missing())
    random.seed(0)  # as lm-eval does before it makes its rows
