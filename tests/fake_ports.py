"""An in-memory fake of every port: the real pipeline runs on them, without a network, a process or a disk.

ports = fake_ports(chat=ScriptedChat(lambda request, choice: "42"))
report = pipeline.run(plan, ports)
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from msgspec.structs import replace

from model_accuracy_eval.errors import BadData, EvalError, MissingData, NoHonestScore, Refused, Stopped
from model_accuracy_eval.ports import (
    Activity,
    Chat,
    LoglikelihoodClient,
    Ports,
    ProgressDisplay,
    RowPins,
    RunningAdapter,
    ServiceRole,
)
from model_accuracy_eval.records import (
    Candidate,
    Choice,
    ClientLimits,
    Counts,
    DataBytes,
    DataFile,
    Fault,
    JSONObject,
    Loglikelihood,
    LoglikelihoodRequest,
    LoglikelihoodSetting,
    ReadAgain,
    Reply,
    Request,
    RequestMethod,
    RowsPin,
    Samplers,
    ScoredReply,
    ScoredToken,
    Service,
    Timings,
    WeightsInfo,
)
from model_accuracy_eval.records.code import Execution, ExecutionVerdict, Isolation, Program
from model_accuracy_eval.run_folder import manifest
from model_accuracy_eval.run_folder.run_archive import FolderArchive

ScriptedAnswer = Callable[[Request, int], str | Choice | Fault | None]
"""What the service says to a request's choice of that number; a Fault fails the whole request, and None is a choice
that does not come."""


LogprobOf = Callable[[Candidate], Loglikelihood | Fault]
"""How likely the service finds a candidate's ending; a Fault fails the whole problem."""


class ScriptedLoglikelihoodClient:
    """Weighs by a function; below `top-logprobs` the letter of the likeliest option is the answer."""

    def __init__(self, weight: LogprobOf, method: RequestMethod) -> None:
        self._weight = weight
        self.method = method
        self.findings = (f"{method}: as scripted.",)
        self.likelihood_requests: list[LoglikelihoodRequest] = []

    async def loglikelihood(self, request: LoglikelihoodRequest) -> Reply:
        self.likelihood_requests.append(request)
        await asyncio.sleep(0)
        number = f"{len(self.likelihood_requests):032x}"
        told = [self._weight(candidate) for candidate in request.candidates]
        fault = next((one for one in told if isinstance(one, Fault)), None)
        if fault is not None:
            return Reply(id=number, fault=fault)
        weighed = tuple(one for one in told if not isinstance(one, Fault))
        if self.method != "extracted":
            return Reply(
                id=number,
                loglikelihoods=weighed[: request.options] if self.method == "top-logprobs" else weighed,
            )
        best = max(range(request.options), key=lambda place: weighed[place].logprob)
        said = Choice(text=chr(ord("A") + best), finish_reason="stop", timings=Timings(e2e=0.02))
        return Reply(id=number, choices=(said,))


class ScriptedChat:
    """A service that says what a function says. `served` caps the choices it gives to one request.

    `weight` and `method`: what it finds likely, and how that can be found out.
    """

    def __init__(
        self,
        answer: ScriptedAnswer,
        *,
        served: int | None = None,
        names: tuple[str, ...] = ("fake-model",),
        weight: LogprobOf = lambda candidate: Loglikelihood(logprob=-float(len(candidate.continuation))),
        method: RequestMethod = "echo",
    ) -> None:
        self._answer = answer
        self.loglikelihoods = ScriptedLoglikelihoodClient(weight, method)
        self._served = served
        self._names = names
        self.sends_finish_reasons: bool | None = None
        self.known_samplers = Samplers()
        self.sampler_probes: Sequence[Request] = ()
        self.requests: list[Request] = []

    async def ask(self, request: Request) -> Reply:
        self.requests.append(request)
        await asyncio.sleep(0)
        said = [self._answer(request, choice) for choice in range(min(request.n, self._served or request.n))]
        number = f"{len(self.requests):032x}"
        for one in said:
            if isinstance(one, Fault):
                return Reply(id=number, fault=one)
        choices = tuple(
            replace(one, index=place)
            if isinstance(one, Choice)
            else Choice(
                index=place, text=str(one), finish_reason="stop", timings=Timings(e2e=0.02, ttft=0.01, chunks=1)
            )
            for place, one in enumerate(said)
            if one is not None
        )
        finished = any(choice.finish_reason for choice in choices)
        self.sends_finish_reasons = self.sends_finish_reasons or finished
        return Reply(id=number, choices=choices)

    async def loglikelihood_client(self, wish: LoglikelihoodSetting, extra: JSONObject) -> LoglikelihoodClient:
        if wish not in ("auto", self.loglikelihoods.method):
            raise NoHonestScore(f"Nothing can be weighed by {wish}; {self.loglikelihoods.findings[0]}")
        return self.loglikelihoods

    async def models(self) -> tuple[str, ...]:
        return self._names

    async def samplers(self, probes: Sequence[Request] = ()) -> Samplers | Fault:
        self.sampler_probes = probes
        return self.known_samplers

    async def context_length(self) -> int | None:
        """Nothing is told."""
        return None

    async def close(self) -> None:
        """Nothing is open."""


class ScriptedSandbox:
    """Runs nothing: a function says what comes of a program. `programs` are those that were asked about."""

    isolation: Isolation = "none"
    image = "no image"
    passed_over: tuple[str, ...] = ()

    def __init__(self, judge: Callable[[Program], ExecutionVerdict]) -> None:
        self._judge = judge
        self.programs: list[Program] = []
        self.closed = False

    async def run(self, program: Program) -> Execution:
        await asyncio.sleep(0)
        if not program.code:  # by which tasks are tried before anything is asked
            return Execution(verdict="failed", isolation="none", integrity="split")
        self.programs.append(program)
        return Execution(verdict=self._judge(program), isolation=self.isolation, integrity=program.mode)

    async def close(self) -> None:
        self.closed = True


class FakeRunningAdapter:
    """An adapter that runs until a test sets `code`."""

    def __init__(self) -> None:
        self.code: int | None = None
        self.log = "serving"
        self.said_of_stack = ""
        self.stopped = False

    def exit_code(self) -> int | None:
        return self.code

    def tail(self, lines: int) -> str:
        return "\n".join(self.log.splitlines()[-lines:])

    def news(self) -> str:
        return ""

    def listening(self) -> dict[int, int]:
        return {}

    def stack(self, port: int) -> str:
        return self.said_of_stack

    def stop(self) -> None:
        self.stopped = True


class FakeLauncher:
    """Starts nothing; remembers what it was asked to start."""

    image_now = ""

    def __init__(self, owner: str | None = None) -> None:
        self.owner = owner
        self.running = FakeRunningAdapter()
        self.started: list[dict[str, Any]] = []

    def image(self) -> str:
        return self.image_now

    def port_owner(self, port: int) -> str | None:
        return self.owner

    def objection(self, folder: str) -> EvalError | None:
        return None

    def start(
        self, *, folder: str, model_path: str, port: int, log: str, npus: tuple[int, ...] | None = None
    ) -> RunningAdapter:
        order = {"folder": folder, "model_path": model_path, "port": port, "log": log}
        self.started.append(order if npus is None else {**order, "npus": npus})
        return self.running


class NoPins:
    """Nothing is known of any rows."""

    lock = "accuracy-data.lock"

    def accepted(self, file: DataFile) -> bool:
        return False

    def noted(self, file: DataFile) -> RowsPin | None:
        return None

    def sums(self, file: DataFile) -> str:
        return ""

    def note(self, file: DataFile, found: RowsPin, sums: str) -> tuple[RowsPin | None, bool]:
        return None, False


class MemoryHub:
    """Data files by name."""

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.files = files or {}
        self.pins: RowPins = NoPins()

    def parts(self, file: DataFile, data_dir: str | None) -> Iterator[DataBytes]:
        if file.name not in self.files:
            raise MissingData(f"There is no data file '{file.name}'.")
        yield DataBytes(place=file.name, content=self.files[file.name], is_known=True)

    def lies_in(self, file: DataFile, folder: str) -> bool:
        return file.name in self.files


class MemoryTaskFiles:
    """Task files by path."""

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.files = files or {}

    def read(self, path: str) -> bytes:
        if path not in self.files:
            raise BadData(f"There is no task file '{path}'.")
        return self.files[path]

    def holds(self, path: str) -> bool:
        return path in self.files

    def under(self, folder: str, kind: Literal["yaml", "json"] = "yaml") -> list[str]:
        found = [path for path in self.files if path.startswith(f"{folder}/")]
        return sorted(path for path in found if path.endswith(".json") == (kind == "json"))


class FakeWeightsSource:
    """Weights that are where their reference says; `refusal` is what stands against them."""

    def __init__(self, refusal: str = "") -> None:
        self.refusal = refusal

    def measure(self, reference: str, limit: str) -> WeightsInfo:
        if self.refusal:
            raise Refused(self.refusal)
        return WeightsInfo(reference=reference, commit="c" * 40, size=1, shown="1 byte")

    def fetch(self, reference: str) -> str:
        return reference


class MemoryStore:
    """A run folder in a dictionary."""

    def __init__(self, root: str = "memory") -> None:
        self.root = root
        self.files: dict[str, bytes] = {}

    def path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def append(self, name: str, data: bytes) -> None:
        self.files[name] = self.files.get(name, b"") + data

    def write(self, name: str, data: bytes | Iterable[bytes]) -> None:
        self.files[name] = data if isinstance(data, bytes) else b"".join(data)

    def read(self, name: str) -> bytes | None:
        return self.files.get(name)

    def parts(self, name: str) -> Iterator[bytes]:
        return iter([self.files[name]] if name in self.files else [])

    def lines_at(self, name: str, places: Iterable[int]) -> Iterator[bytes]:
        return (self.files[name][place:].partition(b"\n")[0] + b"\n" for place in places)

    def lines(self, name: str) -> Iterator[bytes]:
        whole, _, _ = self.files.get(name, b"").rpartition(b"\n")
        return (line + b"\n" for line in whole.split(b"\n") if line)

    def remove(self, name: str) -> None:
        self.files.pop(name, None)

    def names(self) -> list[str]:
        return sorted(self.files)

    def seal(self) -> "MemoryStore":
        """As it is, it is what the run left."""
        self.files[manifest.MANIFEST] = manifest.as_text(self.names(), self.parts)
        return self

    def close(self) -> None:
        """Nothing is open."""


def seal(folder: Path) -> None:
    """As it is, the folder is what its run left."""
    archive = FolderArchive(str(folder))
    (folder / manifest.MANIFEST).write_bytes(manifest.as_text(archive.names(), archive.parts))


class ManualClock:
    """Time that passes only in `sleep`; `stop()` is the signal."""

    def __init__(self) -> None:
        self.time = 1_700_000_000.0
        self._stopped = False
        self._callback: Callable[[], object] | None = None

    def stop(self) -> None:
        self._stopped = True
        if self._callback is not None:
            self._callback()

    def now(self) -> float:
        return self.time

    def elapsed(self) -> float:
        return self.time

    def local(self, form: str) -> str:
        return form.replace(".%f", "")

    def sleep(self, seconds: float) -> None:
        self.check()
        self.time += seconds

    def overdue(self) -> bool:
        return False

    def check(self) -> None:
        if self._stopped:
            raise Stopped(15, "SIGTERM")

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        self.check()
        yield

    @contextmanager
    def on_stop(self, callback: Callable[[], object]) -> Iterator[None]:
        self.check()
        self._callback = callback
        try:
            yield
        finally:
            self._callback = None


class RecordingProgress(ProgressDisplay):
    """A screen that remembers what was said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, sentence: str) -> None:
        self.said.append(sentence)

    def begin(self, dataset: str, counts: Counts, activity: Activity | None = None) -> None:
        self.said.append(f"{dataset} begins")


class MuteSubject:
    """A service that shows no log-probabilities, which no probe can look into."""

    salt = "00000000"

    async def ask(self, requests: Sequence[Request], at_once: int = 1) -> list[Reply]:
        return [Reply(id="", fault=_MUTE) for _ in requests]

    async def scored(self, requests: Sequence[Request], at_once: int = 1) -> list[ScoredReply | Fault]:
        return [_MUTE for _ in requests]

    async def rescored(self, prompt: str, tokens: int) -> ReadAgain | Fault:
        return _MUTE

    async def answered(self, asked: Sequence[tuple[Request, bool]], at_once: int = 1) -> list[ScoredReply | Fault]:
        return [_MUTE for _ in asked]

    async def forced(
        self, asked: Sequence[tuple[Request, ScoredReply]], at_once: int = 1
    ) -> list[tuple[ScoredToken, ...] | Fault]:
        return [_MUTE for _ in asked]

    async def abandon(
        self, given_up: Sequence[tuple[Request, float]], beside: Sequence[tuple[Request, bool]], at_once: int
    ) -> list[ScoredReply | Fault]:
        return await self.answered(beside)

    async def metrics(self) -> str:
        return ""

    async def close(self) -> None:
        """Nothing is open."""


_MUTE = Fault(kind="rejected", sentence="it shows no log-probabilities.")


def fake_ports(**parts: Any) -> Ports:
    """Ports made of fakes; `chat` is the service's client, every other part goes by its name in `Ports`."""
    chat: Chat = parts.pop("chat", None) or ScriptedChat(lambda _request, _choice: "")

    def connect(_service: Service, _limits: ClientLimits, *, role: ServiceRole) -> Chat:
        return chat

    whole: dict[str, Any] = {
        "connect": connect,
        "open_subject": lambda _service, _limits: MuteSubject(),
        "launcher": FakeLauncher(),
        "hub": MemoryHub(),
        "make_rows": lambda recipe, rows, read: rows,
        "weights_source": FakeWeightsSource(),
        "open_store": MemoryStore,
        "open_archive": MemoryStore,
        "clock": ManualClock(),
        "progress": RecordingProgress(),
        "facts": {"pid": "1"},
    }
    return Ports(**(whole | parts))
