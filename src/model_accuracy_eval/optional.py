"""Libraries that are imported when they are first used: those of an extra, and those that few commands need.

    from model_accuracy_eval.optional import numpy

    numpy.median(values)    # imports NumPy; where it is missing, a UsageError has the command that installs it

Importing the name does not import the library, so modules do it at their top. `installed` says whether a library that
the program can do without is there.
"""

# ruff: noqa: TC004 - `__all__` names them for those who import them from here

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec

from model_accuracy_eval.errors import UsageError

if TYPE_CHECKING:
    import docker.errors
    import docker.models.containers
    import docker.types
    import emoji
    import httpx
    import jinja2
    import markupsafe
    import numpy
    import psutil
    import requests
    import rich.console
    import rich.live
    import rich.progress_bar
    import rich.table
    import rich.text
    import urllib3.exceptions
    import uvloop
    import yaml

    # These libraries are not typed.
    arro3: Any
    evaluate: Any
    jieba: Any
    langdetect: Any
    nltk: Any
    punkt: Any
    ray: Any
    sacrebleu: Any

__all__ = [
    "LIBRARIES", "OptionalLibrary", "arro3", "docker", "emoji", "evaluate", "httpx", "installed", "jieba",
    "jinja2", "langdetect", "markupsafe", "nltk", "numpy", "psutil", "punkt", "ray", "requests", "require", "rich",
    "sacrebleu", "urllib3", "uvloop", "yaml",
]  # fmt: skip


class OptionalLibrary(msgspec.Struct, frozen=True):
    purpose: str
    extra: str = ""
    """The extra of ours that brings it; none for what every installation has and for what comes with another one."""
    package: str = ""
    """What it is called where it is installed from, if not as it is imported."""

    @property
    def command(self) -> str:
        """Installs it."""
        return f"pip install 'model-accuracy-eval[{self.extra}]'" if self.extra else f"pip install {self.package}"


LIBRARIES = {
    "arro3": OptionalLibrary("Reading Parquet and Arrow files", package="arro3-io"),
    "docker": OptionalLibrary("Running containers", "action"),
    "emoji": OptionalLibrary("Counting emoji as words", "ifeval"),
    "evaluate": OptionalLibrary("A metric of the evaluate library", package="evaluate"),
    "httpx": OptionalLibrary("Talking HTTP", package="httpx"),
    "jieba": OptionalLibrary("Cutting Chinese into words", "chinese"),
    "jinja2": OptionalLibrary("Rendering templates", package="jinja2"),
    "langdetect": OptionalLibrary("Telling a text's language", "ifeval"),
    "markupsafe": OptionalLibrary("Rendering templates", package="markupsafe"),
    "nltk": OptionalLibrary("Splitting texts into sentences and words", "ifeval"),
    "numpy": OptionalLibrary("Computing with arrays", package="numpy"),
    "psutil": OptionalLibrary("Looking at processes and ports", package="psutil"),
    "punkt": OptionalLibrary("Splitting texts into sentences", "ifeval"),
    "ray": OptionalLibrary("Running on a cluster", "ray"),
    "requests": OptionalLibrary("Talking to container engines", "action"),
    "rich": OptionalLibrary("Showing progress on a terminal", package="rich"),
    "sacrebleu": OptionalLibrary("BLEU, chrF and TER", "text"),
    "urllib3": OptionalLibrary("Talking to container engines", "action"),
    "uvloop": OptionalLibrary("A faster event loop", "fast"),
    "yaml": OptionalLibrary("Reading YAML", package="pyyaml"),
}
"""What each is for, and what installs it."""


def installed(name: str) -> bool:
    return find_spec(name) is not None


def require(name: str, *, needed_by: str = "") -> None:
    """Imports the library; where it is missing, the error says for what and the command that installs it."""
    library = LIBRARIES[name]
    try:
        import_module(name)
    except ImportError as error:
        raise UsageError(
            f"{needed_by or library.purpose} needs {library.package or name}, which is not installed: "
            f"{library.command}."
        ) from error


class _LazyModule:
    """A library, or a module inside one, that is imported when it is first used."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if sys.modules.get(self._name) is None:
            require(self._name.partition(".")[0])
            import_module(self._name)
        module = sys.modules[self._name]
        try:
            value = getattr(module, attribute)
        except AttributeError:
            inside = f"{self._name}.{attribute}"
            if attribute.startswith("__") or not hasattr(module, "__path__") or find_spec(inside) is None:
                raise
            return _LazyModule(inside)
        return _LazyModule(value.__name__) if isinstance(value, ModuleType) else value


if not TYPE_CHECKING:
    globals().update({name: _LazyModule(name) for name in LIBRARIES})
