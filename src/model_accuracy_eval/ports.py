"""The outside world as a run sees it: small Protocols. `run/build.py` makes the real parts, tests play them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from msgspec import field
from msgspec.structs import replace

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.records import (
    ClientLimits,
    Counts,
    DataBytes,
    DataFile,
    Fault,
    FigureSoFar,
    JSONObject,
    LoglikelihoodRequest,
    LoglikelihoodSetting,
    Outcome,
    ReadAgain,
    Recipe,
    Record,
    Reply,
    Report,
    Request,
    RequestMethod,
    RowsPin,
    RunPlan,
    Samplers,
    ScoredReply,
    ScoredToken,
    Service,
    WeightsInfo,
)
from model_accuracy_eval.records.code import Execution, Isolation, Program
from model_accuracy_eval.records.report import UploadedArtifact

# The model service that is evaluated.


ServiceRole = Literal["model", "judge"]

API_KEYS: Mapping[ServiceRole, str] = {"model": "MODEL_ACCURACY_EVAL_API_KEY", "judge": "MODEL_ACCURACY_EVAL_JUDGE_KEY"}
"""Environment variable that holds the key for each service."""


class LoglikelihoodClient(Protocol):
    """Gets log-likelihoods from one service, by the method that was detected for it."""

    @property
    def method(self) -> RequestMethod: ...

    @property
    def findings(self) -> tuple[str, ...]:
        """One sentence for each method that was tried: why it does not work, or what is known of the one in use."""

    async def loglikelihood(self, request: LoglikelihoodRequest) -> Reply:
        """Returns a reply with `loglikelihoods`; methods that yield only an answer give its letter as the text."""


class Chat(Protocol):
    """Streaming chat and completions of one service. A failure is a `Reply` with a fault, never an exception."""

    async def ask(self, request: Request) -> Reply: ...

    async def loglikelihood_client(self, setting: LoglikelihoodSetting, extra: JSONObject) -> LoglikelihoodClient:
        """Detects how the service gives log-likelihoods; raises `NoHonestScore` if the chosen method does not work.

        `extra` holds request fields that the user wants sent.
        """

    async def models(self) -> tuple[str, ...]:
        """Returns the ids that `/v1/models` lists; none when the service does not answer it."""

    async def context_length(self) -> int | None:
        """Returns how many tokens the model can read and write, if `/v1/models` says so."""

    async def samplers(self, probes: Sequence[Request] = ()) -> Samplers | Fault:
        """Finds out which samplers the service applies on its own.

        With `probes`, each is sent with neutral values to see which of them the service accepts.
        """

    @property
    def sends_finish_reasons(self) -> bool | None:
        """Says whether the service has ever sent a finish_reason; None: it has not answered yet."""

    async def close(self) -> None: ...


class Connect(Protocol):
    """Makes the client of a service. `role` says what the service is there for: each role has an API key of its own."""

    def __call__(self, service: Service, limits: ClientLimits, *, role: ServiceRole) -> Chat: ...


class Subject(Protocol):
    """A service, as probes of its faults ask it. Answers come in the order of the requests."""

    salt: str
    """Digits that no other look at the service has: a prompt with them is in no cache."""

    async def ask(self, requests: Sequence[Request], at_once: int = 1) -> list[Reply]:
        """Streamed chat answers, so many requests in flight."""

    async def scored(self, requests: Sequence[Request], at_once: int = 1) -> list[ScoredReply | Fault]:
        """Answers in one piece, with the log-probabilities of their tokens if the service gives them."""

    async def answered(self, asked: Sequence[tuple[Request, bool]], at_once: int = 1) -> list[ScoredReply | Fault]:
        """Answers, streamed where the flag says so; only those in one piece have tokens."""

    async def rescored(self, prompt: str, tokens: int) -> ReadAgain | Fault:
        """What follows a text, as it was written and as it is read."""

    async def forced(
        self, asked: Sequence[tuple[Request, ScoredReply]], at_once: int = 1
    ) -> list[tuple[ScoredToken, ...] | Fault]:
        """The tokens of given answers, as they are read behind the prompts of the requests."""

    async def abandon(
        self, given_up: Sequence[tuple[Request, float]], beside: Sequence[tuple[Request, bool]], at_once: int
    ) -> list[ScoredReply | Fault]:
        """Begins to ask all of them, and hangs up on each after its seconds. Returns the answers to what is asked
        beside."""

    async def metrics(self) -> str:
        """What it counts of itself, in Prometheus' text format; empty where it does not tell."""

    async def close(self) -> None: ...


class OpenSubject(Protocol):
    """Makes the client with which probes ask a service."""

    def __call__(self, service: Service, limits: ClientLimits) -> Subject: ...


# The adapter, on this machine or on the nodes of a cluster.


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

    def stack(self, port: int) -> str:
        """Returns what `stack_reader` prints where it runs; empty where that cannot be run."""

    def stop(self) -> None:
        """Ends it and everything that it started, daemons included; the port is free afterwards."""


class Launcher(Protocol):
    """Runs adapters on this machine."""

    def image(self) -> str:
        """Fetches the image that deploy.sh will run in, and holds to it; returns its name with the digest. Empty where
        it runs in none."""

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


class ReplicaSource(Protocol):
    """Where the replicas of one service come from, some of them later: the nodes of a cluster, on which it runs
    `deploy.sh` as often as the plan says, or addresses that the user named. `Ports.connect` reaches them."""

    def begin(self, plan: RunPlan, weights: str, log: Callable[[int, int], str]) -> None:
        """Places or looks for the replicas. `log` is where the output of one on its first, second … node goes."""

    def poll(self) -> None:
        """Takes in what has happened; raises when no replica is left and none can come. To be called all the time."""

    def take_ready(self) -> list[Service]:
        """Returns the replicas that have become ready since the last call."""

    def dismiss(self, service: Service, reason: str, *, gone: bool) -> None:
        """Counts a replica as none any more: it is `gone`, and might come back, or requests fail that others answer."""

    def end(self) -> None:
        """Ends all replicas that it started, those included that have no node yet."""


# Data and weights.


class RowPins(Protocol):
    """The rows of a source are noted at their first use, in a lock file, and the same ever after."""

    lock: str
    """Path of the lock file."""

    def accepted(self, file: DataFile) -> bool:
        """Whether the user has taken what the file's source had, whatever it was."""

    def noted(self, file: DataFile) -> RowsPin | None:
        """Returns what was noted of the file's rows."""

    def sums(self, file: DataFile) -> str:
        """Returns two characters for each of these rows."""

    def note(self, file: DataFile, found: RowsPin, sums: str) -> tuple[RowsPin | None, bool]:
        """Returns the pin of the file's rows, and whether it was noted just now; None if its source was never read."""


class DataHub(Protocol):
    """Finds and fetches data files."""

    pins: RowPins

    def parts(self, file: DataFile, data_dir: str | None) -> Iterator[DataBytes]:
        """Yields what has the file's own rows, in order: itself, or the files that a hub names for its split."""

    def lies_in(self, file: DataFile, folder: str) -> bool:
        """Whether the folder has the file by its name, or a copy of its dataset."""


MakeRows = Callable[[Recipe, list[JSONObject], Callable[[str], list[JSONObject]]], list[JSONObject]]
"""Runs the Python of a task that the user trusts: a recipe, the rows of its file, and what brings the rows of another
file → the rows that it makes of them."""


class WeightsSource(Protocol):
    """Weights, in a local path or on a hub."""

    def measure(self, reference: str, limit: str) -> WeightsInfo:
        """Returns size and commit before anything is fetched; refuses weights above the limit or the free disk."""

    def fetch(self, reference: str) -> str:
        """Returns the folder of weights that were measured, and fetches what is missing."""


# The folder of a run: open for writing, or read after the run has ended.


class Archive(Protocol):
    """The files of a run that has ended, for reading. Names are relative paths."""

    @property
    def root(self) -> str: ...

    def names(self) -> list[str]:
        """Lists every file, sorted."""

    def read(self, name: str) -> bytes | None: ...

    def parts(self, name: str) -> Iterator[bytes]:
        """The file in parts of bounded size; none if it is not there."""

    def lines(self, name: str) -> Iterator[bytes]:
        """Yields the complete lines, one at a time; a last line that a crash cut off is left out."""


class Store(Archive, Protocol):
    """The folder of one run. A write leaves the whole file or nothing.

    `lines` raises `NoHonestScore` if what was appended since the store was opened is not there any more as it was.
    """

    def path(self, name: str) -> str:
        """Returns the absolute path of a file that another program will write, and makes its folder."""

    def append(self, name: str, data: bytes) -> None:
        """Adds whole lines at the end, in one write that survives the death of this process."""

    def write(self, name: str, data: bytes | Iterable[bytes]) -> None:
        """`data`: the whole file, or its parts in turn, so that it need not be in memory."""

    def lines_at(self, name: str, places: Iterable[int]) -> Iterator[bytes]:
        """The lines that begin at these bytes."""

    def remove(self, name: str) -> None: ...

    def close(self) -> None: ...


# Where the result of a run is published, as a run sees it.


class SinkFailure(Record, frozen=True, kw_only=True):
    """Why a sink could not publish, or not all of it."""

    sink: str
    sentence: str


class Published(Record, frozen=True, kw_only=True):
    """What has been published so far. Each sink gets it from those before it and returns it with its own part."""

    links: dict[str, str] = field(default_factory=dict)
    """Name of a sink → the address where readers find what it published."""
    artifact: UploadedArtifact | None = None
    failures: tuple[SinkFailure, ...] = ()
    objections: tuple[str, ...] = ()
    """Why the run may not start: what it would publish is published, or is about to be."""

    def with_link(self, sink: str, address: str) -> "Published":
        return replace(self, links={**self.links, sink: address})

    def with_failures(self, sink: str, *sentences: str) -> "Published":
        """Each sentence once: a server that is away is away for every sink."""
        told = {failure.sentence for failure in self.failures}
        failures = [SinkFailure(sink=sink, sentence=sentence) for sentence in sentences if sentence not in told]
        return replace(self, failures=(*self.failures, *failures))


class Sink(Protocol):
    """One place where results are published: the files of the run folder, a comment, a check, a web hook."""

    @property
    def name(self) -> str: ...

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        """Publishes how a run ended; raises `PublishFailed` or `Refused` if it cannot.

        A run that was refused has no report, only an outcome, and no folder.
        """


@runtime_checkable
class LiveSink(Sink, Protocol):
    """A sink that also shows that a run is under way."""

    def begin(self, published: Published) -> Published:
        """Called once, before anything else is done."""


# The sandbox in which programs that a model wrote are run.


class Sandbox(Protocol):
    """Runs programs, as many at a time as it has slots. Whatever a program does is an `Execution`, not an exception."""

    @property
    def isolation(self) -> Isolation: ...

    @property
    def image(self) -> str:
        """Names what programs run on, so that a score can name it."""

    @property
    def passed_over(self) -> tuple[str, ...]:
        """Gives one sentence for each stronger kind of isolation that could not be used."""

    async def run(self, program: Program) -> Execution:
        """Waits for a free slot and runs the program. Cancelling the call leaves nothing of the program behind."""

    async def close(self) -> None:
        """Ends every worker and what runs in it."""


# The run itself: its clock, its progress, and all of these together.


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


class Activity:
    """What is known of a dataset while it is asked, besides its counts: its figure so far, its tokens, its requests.
    Any thread may read it."""

    def __init__(
        self, elapsed: Callable[[], float], so_far: Callable[[], FigureSoFar | str | None], *, may_end_early: bool
    ) -> None:
        """`so_far`: returns the figure of what is judged, or why there is none; None: there is not enough yet."""
        self._elapsed = elapsed
        self.may_end_early = may_end_early
        self.so_far = so_far
        self.first_asked: float | None = None
        """When its first request was sent; None: it waits for its turn."""
        self.tokens = 0
        """Of its answers."""
        self._under_way = 0
        self._changed = 0.0
        self._request_seconds = 0.0

    @contextmanager
    def request(self) -> Iterator[None]:
        """While a request is under way."""
        if self.first_asked is None:
            self.first_asked = self._elapsed()
        self._change(+1)
        try:
            yield
        finally:
            self._change(-1)

    def _change(self, number: int) -> None:
        self._request_seconds, self._changed = self.request_seconds, self._elapsed()
        self._under_way += number

    @property
    def request_seconds(self) -> float:
        """How long its requests took, those that are under way included."""
        return self._request_seconds + self._under_way * (self._elapsed() - self._changed)


class ProgressDisplay:
    """Shows how far the run is, to a person or in a CI log. A display inherits what it has nothing to do for."""

    def enter(self, stage: str) -> None:
        """Shows that a stage of the run begins."""

    def say(self, sentence: str) -> None: ...

    def begin(self, dataset: str, counts: Counts, activity: Activity | None = None) -> None: ...

    def tick(self) -> None:
        """Shows what is due; called several times a second while the asking lasts."""

    def update(self, dataset: str, counts: Counts) -> None: ...

    def end(self, dataset: str, counts: Counts) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Ports:
    """Everything outside the program that a run may use."""

    connect: Connect
    open_subject: OpenSubject
    launcher: Launcher
    hub: DataHub
    make_rows: MakeRows
    weights_source: WeightsSource
    open_store: Callable[[str], Store]
    """Opens the folder of a run, and makes it if needed."""
    open_archive: Callable[[str], Archive]
    """Opens the folder of a run that has ended, or a zip of one."""
    clock: Clock
    progress: ProgressDisplay
    facts: Mapping[str, str]
    """Versions and machine, for the report."""
    finds_causes: bool = False
    """Whether the service is looked at where a gate failed, which takes up to two minutes."""
    open_sandbox: Callable[[], Sandbox] | None = None
    """Opens the sandbox, within a running event loop, or gives the one that the run has opened; None: there is none."""
    cluster: ReplicaSource | None = None
    """Where deploy.sh runs in place of this machine; None: it runs here."""
