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
from typing import Any, NoReturn

from model_accuracy_eval.rim.python_tasks.dataset import Dataset, concatenate


class Placeholder:
    """Something of a library that is not installed: may be named, called and inherited from, but never looked at."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> "Placeholder":
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder(f"{self._name}.{name}")

    def __call__(self, *_: Any, **__: Any) -> "Placeholder":
        return Placeholder(f"{self._name}()")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (object,)


def _refuse(self: Placeholder, *_: Any) -> NoReturn:
    raise ImportError(f"{self._name} is not installed where the task's Python runs")


_LOOKS = (
    "str",
    "repr",
    "format",
    "iter",
    "bool",
    "len",
    "eq",
    "lt",
    "contains",
    "getitem",
    "float",
    "int",
    "add",
    "enter",
)
for _look in _LOOKS:
    setattr(Placeholder, f"__{_look}__", _refuse)


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


def _tasks_root(folder: Path) -> Path | None:
    """The folder `lm_eval/tasks` above, if there is one."""
    return next((one for one in [folder, *folder.parents] if one.parts[-2:] == ("lm_eval", "tasks")), None)


def module_name(file: Path) -> str:
    """The name under which lm-eval knows the file, for the sake of imports that are relative to it."""
    root = _tasks_root(file.parent)
    if root is None:
        return f"task_python.{file.stem}"
    return ".".join(["lm_eval", "tasks", *file.relative_to(root).with_suffix("").parts])


def install(folder: str) -> None:
    """Makes the stand-ins importable, and the task's own folder."""
    _package("datasets", None, Dataset=Dataset, concatenate_datasets=concatenate)
    _package("lm_eval", None)
    _package("lm_eval.tasks", _tasks_root(Path(folder)))
    sys.path.append(folder)
    sys.meta_path.append(_Missing())
    random.seed(0)  # as lm-eval does before it makes its rows
