"""The outside world as a run sees it: small Protocols. The real ones live in `rim`, their twins in `testing`."""

from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.ports.sandbox import Sandbox
from model_accuracy_eval.records import (
    Ballot,
    Counts,
    DataFile,
    JSONObject,
    Patience,
    Recipe,
    Reply,
    Request,
    Rung,
    Service,
    Stock,
    Weigh,
)

T = TypeVar("T")


class Scale(Protocol):
    """The way in which one service weighs texts, found out once."""

    @property
    def rung(self) -> Rung: ...

    @property
    def findings(self) -> tuple[str, ...]:
        """A sentence for every way that was tried: why not this one, and what is known of the one that was taken."""

    async def weigh(self, ballot: Ballot) -> Reply:
        """A reply with `weighed`, or below `top-logprobs` with the letter that was chosen as its text."""


class Chat(Protocol):
    """One service's streaming chat and completions. Failure is a `Reply` with a fault, never an exception."""

    async def ask(self, request: Request) -> Reply: ...

    async def scale(self, wish: Weigh, extra: JSONObject) -> Scale:
        """The best way of weighing that is offered; `NoHonestScore` when the one that is wished for is not.

        `extra`: request fields that the user wants sent.
        """

    async def models(self) -> tuple[str, ...]:
        """Ids that `/v1/models` lists; empty when the service does not say."""

    async def context(self) -> int | None:
        """Tokens that the model reads and writes at most, if `/v1/models` says so."""

    async def close(self) -> None: ...


class Connect(Protocol):
    """Makes the client of a service; `patience` holds its retries and time limits."""

    def __call__(self, service: Service, patience: Patience) -> Chat: ...


class Running(Protocol):
    """A `deploy.sh` that was started."""

    def exit_code(self) -> int | None:
        """None while it runs."""

    def tail(self, lines: int) -> str:
        """The end of what it printed."""

    def news(self) -> str:
        """What it printed since the last call, in whole lines."""

    def stop(self) -> None:
        """Ends it and everything it ever started, daemons included; the port is free afterwards."""


class Launcher(Protocol):
    """Runs adapters on this machine."""

    def port_owner(self, port: int) -> str | None:
        """Who listens on the port ("python3, pid 4711"), or None when it is free."""

    def objection(self, folder: str) -> EvalError | None:
        """Why deploy.sh or requirements.txt of the folder could not be used, or None."""

    def start(self, *, folder: str, model_path: str, port: int, log: str) -> Running:
        """Installs `requirements.txt`, then runs `sh deploy.sh` in `folder`; all it prints goes to `log`."""


class Hub(Protocol):
    """Where data files come from."""

    def read(self, file: DataFile, data_dir: str | None) -> tuple[str, bytes]:
        """Where the file was found, and its uncompressed bytes, checked against the pinned hash. Never goes out."""

    def prepare(self, file: DataFile) -> str:
        """Fetches a pinned file unless it is here already; returns where it lies."""


class MakeRows(Protocol):
    """Runs Python that belongs to a task and that the user trusts."""

    def __call__(
        self, recipe: Recipe, rows: list[JSONObject], read: Callable[[str], list[JSONObject]]
    ) -> list[JSONObject]:
        """The rows that the recipe makes of those of its file; `read` gives those of a file that it names itself."""


class Warehouse(Protocol):
    """Where weights come from: a path, or a hub."""

    def measure(self, reference: str, limit: str) -> Stock:
        """Size and commit before a byte is fetched; refuses what is too large, or has no room on the disk."""

    def fetch(self, reference: str, limit: str) -> str:
        """The folder of weights that were measured; what is there already is not fetched again."""


class Store(Protocol):
    """One run folder. Names are relative paths; writes are whole or not at all."""

    @property
    def root(self) -> str: ...

    def path(self, name: str) -> str:
        """Absolute path of a file to be written by somebody else; its folder exists afterwards."""

    def append(self, name: str, data: bytes) -> None:
        """Adds whole lines at the end, in one write that survives the death of this process."""

    def write(self, name: str, data: bytes) -> None: ...

    def read(self, name: str) -> bytes | None: ...

    def lines(self, name: str) -> Iterator[bytes]:
        """The complete lines; a last line that was cut off by a crash is left out."""

    def remove(self, name: str) -> None: ...

    def names(self) -> list[str]:
        """Every file of the folder, sorted."""

    def close(self) -> None: ...


class Archive(Protocol):
    """The files of a run that has ended, to look at."""

    @property
    def root(self) -> str: ...

    def read(self, name: str) -> bytes | None: ...


class Clock(Protocol):
    """Time, and the wish to stop, which every wait listens to."""

    def now(self) -> float:
        """Seconds since the epoch."""

    def elapsed(self) -> float:
        """Seconds that only ever grow."""

    def local(self, form: str) -> str:
        """Local time, in the form of strftime."""

    def sleep(self, seconds: float) -> None:
        """Waits; raises `Stopped` as soon as somebody asks the run to end."""

    def check(self) -> None:
        """Raises `Stopped` if somebody asked the run to end."""

    def overdue(self) -> bool:
        """Whether a stop was asked so long ago that what is under way must be left unfinished."""

    def on_stop(self, callback: Callable[[], object]) -> AbstractContextManager[None]:
        """While entered, `callback` is called once, from the running event loop's thread, on a stop."""


class Screen(Protocol):
    """Tells a person, or a CI log, how far things are."""

    def enter(self, stage: str) -> None:
        """A stage of the run begins."""

    def say(self, sentence: str) -> None: ...

    def begin(self, dataset: str, counts: Counts) -> None: ...

    def update(self, dataset: str, counts: Counts) -> None: ...

    def end(self, dataset: str, counts: Counts) -> None: ...

    def close(self) -> None: ...


class RunAsync(Protocol):
    """Runs a coroutine to its end, on the fastest event loop there is."""

    def __call__(self, coroutine: Coroutine[Any, Any, T]) -> T: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Ports:
    """Everything outside that a run may touch, in one hand."""

    connect: Connect
    launcher: Launcher
    hub: Hub
    make_rows: MakeRows
    warehouse: Warehouse
    open_store: Callable[[str], Store]
    """Opens (and makes) the folder of a run."""
    open_archive: Callable[[str], Archive]
    """Opens the folder of a run that has ended, or a zip of one."""
    run_async: RunAsync
    clock: Clock
    screen: Screen
    facts: Mapping[str, str]
    """Versions and machine, for the report."""
    open_sandbox: Callable[[], Sandbox] | None = None
    """Opens, within a running event loop, the place where programs run; None: there is none."""
