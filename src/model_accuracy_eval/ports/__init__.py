"""The outside world as a run sees it: small Protocols. `run/build.py` makes the real parts."""

from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.ports.service import (
    Archive,
    Chat,
    Cluster,
    Connect,
    LoglikelihoodClient,
    RowPins,
    Sandbox,
    ServiceRole,
    Store,
)
from model_accuracy_eval.records import Counts, DataBytes, DataFile, FigureSoFar, JSONObject, Recipe, WeightsInfo

__all__ = [
    "Activity",
    "Archive",
    "Chat",
    "Clock",
    "Cluster",
    "Connect",
    "DataHub",
    "Launcher",
    "LoglikelihoodClient",
    "MakeRows",
    "Ports",
    "ProgressDisplay",
    "RowPins",
    "RunAsync",
    "RunningAdapter",
    "Sandbox",
    "ServiceRole",
    "Store",
    "WeightsSource",
]

T = TypeVar("T")


class RunningAdapter(Protocol):
    """A `deploy.sh` that was started."""

    def exit_code(self) -> int | None:
        """Returns None while it runs."""

    def tail(self, lines: int) -> str:
        """Returns the end of its output."""

    def news(self) -> str:
        """Returns the whole lines that it printed since the last call."""

    def listening(self) -> dict[int, int]:
        """Returns the ports on which its processes listen, each with the process; empty where that cannot be seen."""

    def stop(self) -> None:
        """Ends it and everything that it started, daemons included; the port is free afterwards."""


class Launcher(Protocol):
    """Runs adapters on this machine."""

    def port_owner(self, port: int) -> str | None:
        """Returns who listens on the port ("python3, pid 4711"), or None when it is free."""

    def objection(self, folder: str) -> EvalError | None:
        """Returns why deploy.sh or requirements.txt of the folder cannot be used, or None."""

    def start(
        self, *, folder: str, model_path: str, port: int, log: str, npus: tuple[int, ...] | None = None
    ) -> RunningAdapter:
        """Installs `requirements.txt`, then runs `sh deploy.sh` in `folder`; all its output goes to `log`.

        `npus`: which of the NPUs that it would see it may use; None: all.
        """


class DataHub(Protocol):
    """Finds and fetches data files."""

    pins: RowPins

    def shards(self, file: DataFile, data_dir: str | None) -> tuple[DataFile, ...]:
        """Returns the files that together have the rows, in order: itself, or those that a hub names for its split."""

    def read(self, file: DataFile, data_dir: str | None) -> DataBytes:
        """Returns the file's bytes. Others than the pinned ones are refused, unless the pin of its rows can tell."""

    def lies_in(self, file: DataFile, folder: str) -> bool:
        """Whether the folder has the file by its name."""

    def prepare(self, file: DataFile) -> str:
        """Fetches a pinned file unless it is here already; returns its path."""


class MakeRows(Protocol):
    """Runs the Python of a task that the user trusts."""

    def __call__(
        self, recipe: Recipe, rows: list[JSONObject], read: Callable[[str], list[JSONObject]]
    ) -> list[JSONObject]:
        """Returns the rows that the recipe makes of the file's rows; `read` gives it the rows of another file."""


class WeightsSource(Protocol):
    """Weights, in a local path or on a hub."""

    def measure(self, reference: str, limit: str) -> WeightsInfo:
        """Returns size and commit before anything is fetched; refuses weights above the limit or the free disk."""

    def fetch(self, reference: str) -> str:
        """Returns the folder of weights that were measured, and fetches what is missing."""


class Clock(Protocol):
    """Time, and the request to stop, which ends every wait."""

    def now(self) -> float:
        """Returns the seconds since the epoch."""

    def elapsed(self) -> float:
        """Returns seconds that only grow, from an arbitrary start."""

    def local(self, form: str) -> str:
        """Returns the local time, formatted as by strftime."""

    def sleep(self, seconds: float) -> None:
        """Waits; raises `Stopped` as soon as a stop is requested."""

    def check(self) -> None:
        """Raises `Stopped` if a stop was requested."""

    def overdue(self) -> bool:
        """Says whether a stop was requested so long ago that work under way must be left unfinished."""

    def interruptible(self) -> AbstractContextManager[None]:
        """While entered, a stop ends whatever is under way at once, with `Stopped`: for work that only computes."""

    def on_stop(self, callback: Callable[[], object]) -> AbstractContextManager[None]:
        """While entered, a stop calls `callback` once, in the thread of the running event loop."""


class Activity(Protocol):
    """What is known of a dataset while it is asked, besides its counts. Any thread may read it."""

    @property
    def first_asked(self) -> float | None:
        """Returns when its first request was sent; None: it waits for its turn."""

    @property
    def may_end_early(self) -> bool:
        """Whether not all of it may be needed."""

    @property
    def tokens(self) -> int:
        """Returns how many tokens its answers had."""

    @property
    def request_seconds(self) -> float:
        """Returns how long its requests took, those that are under way included."""

    @property
    def so_far(self) -> Callable[[], FigureSoFar | str | None]:
        """Returns the figure of what is judged, or why there is none; None: there is not enough yet."""


class ProgressDisplay(Protocol):
    """Shows how far the run is, to a person or in a CI log."""

    def enter(self, stage: str) -> None:
        """Shows that a stage of the run begins."""

    def say(self, sentence: str) -> None: ...

    def begin(self, dataset: str, counts: Counts, activity: Activity | None = None) -> None: ...

    def tick(self) -> None:
        """Shows what is due; called several times a second while the asking lasts."""

    def update(self, dataset: str, counts: Counts) -> None: ...

    def end(self, dataset: str, counts: Counts) -> None: ...

    def close(self) -> None: ...


class RunAsync(Protocol):
    """Runs a coroutine to its end, on the fastest event loop that is installed."""

    def __call__(self, coroutine: Coroutine[Any, Any, T]) -> T: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Ports:
    """Everything outside the program that a run may use."""

    connect: Connect
    launcher: Launcher
    hub: DataHub
    make_rows: MakeRows
    weights_source: WeightsSource
    open_store: Callable[[str], Store]
    """Opens the folder of a run, and makes it if needed."""
    open_archive: Callable[[str], Archive]
    """Opens the folder of a run that has ended, or a zip of one."""
    run_async: RunAsync
    clock: Clock
    progress: ProgressDisplay
    facts: Mapping[str, str]
    """Versions and machine, for the report."""
    open_sandbox: Callable[[], Sandbox] | None = None
    """Opens the sandbox, within a running event loop; None: there is none."""
    cluster: Cluster | None = None
    """Where deploy.sh runs in place of this machine; None: it runs here."""
