"""The messages between host, fork server, tests and program: their types, and how they cross a file descriptor.

A message is four bytes with the length, then JSON: an array of the fields of one of the types below. Whoever reads a
message names the type that it expects, and gets a ValueError for anything else: a program may write what it likes.
"""

# ruff: noqa: RUF012 - nobody changes the lists of a message, its defaults included

import json
import struct
import types

# By name, and before any untrusted code runs: a program that replaces os.write must not change what others send.
from os import read, write
from typing import Any, NamedTuple, TypeVar, get_args

MAX_BYTES = 32 << 20

Json = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

_LENGTH = struct.Struct(">I")
# Escaped, the halves of a letter beyond the first plane would be read as that letter, and one object is every NaN.
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
_decode = json.JSONDecoder(parse_constant=float).decode

AnyMessage = TypeVar("AnyMessage", bound=tuple[object, ...])


class ServerSettings(NamedTuple):
    """Host → fork server, once: where and as whom programs run."""

    folder: str
    """The working directory of every program."""
    places: list[str]
    """Folders that a program may leave files in, which are emptied after each job."""
    sweep: str
    """How the processes of a job are ended: a key of `cleanup.SWEEPS`."""
    uid: int | None
    judge_uid: int | None
    own_processes: int | None
    """Processes of ours that count against the limit of the same user; None: the limit is not set here."""
    preload: list[str] = []
    """Modules that are imported before the first job."""
    tools: list[str] = []
    """Commands to look for on the PATH."""


class ServerInfo(NamedTuple):
    """Fork server → host, once: it is ready."""

    python: str
    filters: bool
    """Whether system calls can be filtered on this machine."""
    tools: list[str]


class Toolchain(NamedTuple):
    """How a program of another language is run: code and tests go into one file, and the exit code decides."""

    file: str
    running: list[str]
    compiling: list[str] = []


class JobOrder(NamedTuple):
    """Host → fork server. Tests, code and files are not in it: they follow, and only the job's own processes read them.

    The files are a JSON object, path → text, or nothing.
    """

    kind: str
    """A key of `fork_server.KINDS`."""
    entry_points: list[str]
    toolchain: Toolchain | None
    wall_seconds: float
    compile_seconds: float
    memory_mb: int
    processes: int
    file_mb: int
    output_bytes: int
    borrowed: list[str] = []
    """Names beside the entry points that the tests take from the program."""
    first_case: int = 0
    """Of a list of cases, the first that is run."""
    all_cases: bool = False
    """Whether those after the first one that fails are run too."""
    helpers: str = ""
    """Source that the tests' process executes before the tests, in the mode `split`."""
    imports: str = ""
    """Source that the program's process executes after the program, in the mode `split`: the imports of the tests."""
    ends: list[int] = []
    """The numbers that the ends of the tests report."""
    alone: bool = False
    """Whether nothing else runs in the sandbox."""
    tests_size: int = 0
    code_size: int = 0
    files_size: int = 0


class CheckOutcome(NamedTuple):
    """What was reported under a number: whether the check was met; of the end of a test, that it was reached."""

    number: int
    held: bool


class CaseOutcome(NamedTuple):
    """One case of a program that is judged by what it prints or returns."""

    number: int
    verdict: str
    detail: str = ""
    cpu_seconds: float = 0.0


class JobResult(NamedTuple):
    """Fork server → host, one for each order."""

    verdict: str
    detail: str
    checks: list[CheckOutcome]
    wall_seconds: float
    limit_seconds: float
    """The limit that these are compared with: the program's, or its compiler's."""
    cpu_seconds: float
    """Of all processes of the job."""
    waited_seconds: float
    """How long the job wanted a core and had none."""
    memory_kb: int
    output: str
    output_bytes: int
    doubtful: bool
    """Whether something outside may have ended the program."""
    starved: bool
    """Whether its time was over because it had waited for a core, and not because it had used its limit."""
    output_end: str = ""
    cases: list[CaseOutcome] = []
    """Those that ended, and the one in which the job ended."""
    all_cases: int = 0
    """How many the task has."""
    clean: bool = False
    """Whether nothing of the job is left, so that the server may run another one: known after `SweepResult`."""


class SweepResult(NamedTuple):
    """Fork server → host, after each result: a verdict waits for no file that its program left."""

    clean: bool


READY, COMPILED, PROGRAM_ENDED = "ready", "compiled", "program ended"
CASE_BEGINS, CASE_ENDS = "case begins", "case ends"
"""Reports that are no verdicts: the tests' process is confined; the compiler is done; the program's process is gone;
the program has got a case; it is done with it, and what it gave is being compared."""


class JobReport(NamedTuple):
    """The tests' process → fork server. Where it holds the program too, the program can forge this."""

    verdict: str
    detail: str = ""
    checks: list[CheckOutcome] = []
    cases: list[CaseOutcome] = []
    """Those that no report before this one had."""
    all_cases: int = 0
    """How many the task has."""
    limit_seconds: float = 0.0
    """What a call may take, where that is what its time was over for."""


class ValueMessage(NamedTuple):
    """Between the tests' process and the program's: what the tests ask, or what came of it. The program may forge
    every field."""

    kind: str
    """What is asked (see `program_process`), or how it was answered: READY, or one of the kinds below."""
    args: list[Json] = []
    """Values as `codec` encodes them."""
    kwargs: dict[str, Json] = {}
    name: str = ""
    """The function that is called, or the name that is asked for."""
    changed: list[Json] = []
    """Containers that both sides know and that are different now."""
    forgotten: list[int] = []
    """Numbers of values that the tests do not use any more."""
    text: str = ""
    """What was raised, with the line of the program that it came from; or what is no data."""


VALUE, RAISED = "value", "raised"
FUNCTION, MISSING = "function", "missing"
"""Answers where a name is asked for: it can be called; there is none."""
NOT_DATA = "not data"
"""The answer would be no data; as a verdict: something else than data would have to go between tests and program."""
EXECUTES = "executes"
"""As a verdict: the tests would have executed something that they have not written."""


class Gone(Exception):
    """The other side has ended."""


class TooLarge(Exception):
    """A message beyond what any honest one needs."""


def parse(kind: type[AnyMessage], data: object) -> AnyMessage:
    """The message in decoded JSON; every field must have its declared type."""
    types_of_fields = kind.__annotations__.values()
    if not isinstance(data, list) or len(data) != len(types_of_fields):
        raise ValueError(f"it is no {kind.__name__}")
    return tuple.__new__(kind, map(_checked, types_of_fields, data))


def _checked(hint: object, value: object) -> object:
    """The value, if it is of that type; messages within the message are made of their arrays."""
    if hint is type(value) or hint is Json:
        return value
    if isinstance(hint, types.UnionType):
        (hint,) = set(get_args(hint)) - {type(None)}
        return None if value is None else _checked(hint, value)
    if isinstance(hint, type) and hasattr(hint, "_fields"):
        return parse(hint, value)
    if type(value) is getattr(hint, "__origin__", None):
        return _checked_items(hint.__args__[-1], value)  # type: ignore[attr-defined]
    if hint is float and type(value) is int:
        return value
    raise ValueError(f"a {type(value).__name__} is where {hint} is declared")


def _checked_items(hint: object, values: Any) -> object:
    """A list, or a dictionary by its values. Most messages have nothing in most of theirs."""
    if hint is Json or not values:
        return values
    if isinstance(values, list):
        return [_checked(hint, item) for item in values]
    return {key: _checked(hint, item) for key, item in values.items()}


def pack(message: tuple[object, ...]) -> bytes:
    body = _encode(message).encode("utf-8", "surrogatepass")
    if len(body) > MAX_BYTES:
        raise TooLarge(f"{len(body):,} bytes where at most {MAX_BYTES:,} may cross")
    return _LENGTH.pack(len(body)) + body


def body_size(head: bytes) -> int:
    """How long the body is that follows these four bytes."""
    size = int(_LENGTH.unpack(head)[0])
    if size > MAX_BYTES:
        raise TooLarge(f"{size:,} bytes announced where at most {MAX_BYTES:,} may cross")
    return size


def unpack(kind: type[AnyMessage], body: bytes) -> AnyMessage:
    return parse(kind, _decode(body.decode("utf-8", "surrogatepass")))


def send(fd: int, *messages: tuple[object, ...]) -> None:
    try:
        rest = memoryview(b"".join(map(pack, messages)))
        while rest:
            rest = rest[write(fd, rest) :]
    except (BrokenPipeError, ConnectionResetError) as error:
        raise Gone from error


def receive(fd: int, kind: type[AnyMessage]) -> AnyMessage:
    return unpack(kind, read_exactly(fd, body_size(read_exactly(fd, 4))))


def read_exactly(fd: int, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        try:
            chunk = read(fd, min(count - len(data), 1 << 20))
        except ConnectionResetError:
            chunk = b""
        if not chunk:
            raise Gone
        data += chunk
    return bytes(data)
