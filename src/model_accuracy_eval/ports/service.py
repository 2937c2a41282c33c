"""The model service that is evaluated."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

from msgspec import field
from msgspec.structs import replace

from model_accuracy_eval.records import (
    ClientLimits,
    Fault,
    HubSplit,
    JSONObject,
    LoglikelihoodRequest,
    LoglikelihoodSetting,
    Outcome,
    Record,
    Reply,
    Report,
    Request,
    RequestMethod,
    RowsPin,
    RunPlan,
    Samplers,
    Service,
)
from model_accuracy_eval.records.code import Execution, Isolation, Program
from model_accuracy_eval.records.report import UploadedArtifact

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


# The folder of a run: open for writing, or read after the run has ended.


class Store(Protocol):
    """The folder of one run. Names are relative paths. A write leaves the whole file or nothing."""

    @property
    def root(self) -> str: ...

    def path(self, name: str) -> str:
        """Returns the absolute path of a file that another program will write, and makes its folder."""

    def append(self, name: str, data: bytes) -> None:
        """Adds whole lines at the end, in one write that survives the death of this process."""

    def write(self, name: str, data: bytes | Iterable[bytes]) -> None:
        """`data`: the whole file, or its parts in turn, so that it need not be in memory."""

    def read(self, name: str) -> bytes | None: ...

    def parts(self, name: str) -> Iterator[bytes]:
        """The file in parts of bounded size; none if it is not there."""

    def lines(self, name: str) -> Iterator[bytes]:
        """Yields the complete lines; a last line that a crash cut off is left out.

        Raises `NoHonestScore` if what was appended since the store was opened is not there any more as it was.
        """

    def lines_at(self, name: str, places: Iterable[int]) -> Iterator[bytes]:
        """The lines that begin at these bytes."""

    def remove(self, name: str) -> None: ...

    def names(self) -> list[str]:
        """Lists every file of the folder, sorted."""

    def close(self) -> None: ...


class Archive(Protocol):
    """The files of a run that has ended, for reading."""

    def names(self) -> list[str]:
        """Lists every file, sorted."""

    @property
    def root(self) -> str: ...

    def read(self, name: str) -> bytes | None: ...

    def parts(self, name: str) -> Iterator[bytes]:
        """The file in parts of bounded size; none if it is not there."""

    def lines(self, name: str) -> Iterator[bytes]:
        """Yields the complete lines, one at a time; a last line that a crash cut off is left out."""


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


# What rows were when they were first read.


class RowPins(Protocol):
    """The rows of a split are noted at their first use, in a lock file, and the same ever after."""

    lock: str
    """Path of the lock file."""

    def noted(self, split: HubSplit, fields: Collection[str]) -> RowsPin | None:
        """Returns a pin of the split that has these columns, if one was noted."""

    def pinned(self, split: HubSplit, found: RowsPin) -> tuple[RowsPin | None, bool]:
        """Returns the pin of the split, and whether it was noted just now; None if nothing is known of the split."""


# Replicas of an adapter on the nodes of a cluster.


class Cluster(Protocol):
    """Runs `deploy.sh` as often as the plan says, wherever there is room; `Ports.connect` reaches what it started."""

    def begin(self, plan: RunPlan, weights: str, log: Callable[[int], str]) -> None:
        """Places the replicas; each begins as soon as a node has room for it. `log` is where the output of one goes."""

    def poll(self) -> None:
        """Takes in what has happened; raises when no replica is left and none can come. To be called all the time."""

    def take_ready(self) -> list[Service]:
        """Returns the replicas that have become ready since the last call."""

    def dismiss(self, service: Service, reason: str) -> None:
        """Counts a replica as none any more, because its requests fail."""

    def end(self) -> None:
        """Ends all replicas, those included that have no node yet."""
