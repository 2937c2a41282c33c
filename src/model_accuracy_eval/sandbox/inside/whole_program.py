"""Programs that run as a whole. On standard input: compiled once, and forked anew for each case.

This process is the program's own user's and knows inputs alone. It cannot be read by the program, though nothing would
be gained by that: whatever it says the program printed is compared in another process.
"""

import atexit
import gc
import importlib
import linecache
import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import CodeType, ModuleType

from model_accuracy_eval.sandbox.inside.cleanup import ProcessEnd, end_processes, reap, wakeup_of_children
from model_accuracy_eval.sandbox.inside.messages import (
    COMPILED,
    Gone,
    JobReport,
    Json,
    Toolchain,
    ValueMessage,
    receive,
    send,
)

_ERRORS_KEPT = 4096
_CHUNK = 1 << 16

Start = Callable[[], None]
"""Becomes the program, in a process of its own whose standard streams are in place."""


class CompilerError(Exception):
    """The compiler's first error."""


class CaseRunner:
    """Runs a program on one input after the other."""

    def __init__(self, start: Start, max_output: int) -> None:
        self._start, self._max_output = start, max_output
        self._wakeup = wakeup_of_children()

    def run(self, text: str) -> list[Json]:
        """How it ended (empty: well), why, and what it printed."""
        streams = [os.pipe() for _ in range(3)]
        child = os.fork()
        if not child:
            self._become_program(streams)
        (theirs_in, stdin), (stdout, theirs_out), (stderr, theirs_err) = streams
        for descriptor in (theirs_in, theirs_out, theirs_err):
            os.close(descriptor)
        exchange = Exchange(stdin, stdout, stderr, text.encode("utf-8", "surrogatepass"), self._max_output)
        ended: dict[int, ProcessEnd] = {}
        while child not in ended and not exchange.overflowed:
            exchange.wait(self._wakeup)
            reap(ended)
        exchange.read_rest()
        end_processes("children", [None], ended)
        exchange.close()
        verdict, detail = _ending(ended[child].status, exchange, self._max_output)
        return [verdict, detail, exchange.output.decode("utf-8", "surrogateescape")]

    def _become_program(self, streams: list[tuple[int, int]]) -> None:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for number, descriptor in enumerate((streams[0][0], streams[1][1], streams[2][1])):
                os.dup2(descriptor, number)
            os.closerange(3, 256)
            self._start()
        except BaseException as error:  # noqa: BLE001 - such as a command that is not there
            os.write(2, f"{type(error).__name__}: {error}\n".encode("utf-8", "replace")[:500])
        os._exit(1)


class Exchange:
    """What goes into a running program and comes out of it."""

    def __init__(self, stdin: int, stdout: int, stderr: int, text: bytes, max_output: int) -> None:
        self._stdin, self._stdout, self._stderr = stdin, stdout, stderr
        self._rest = memoryview(text)
        self._max_output = max_output
        self._open = {stdin, stdout, stderr}
        self.output = bytearray()
        self.errors = bytearray()
        """The end of what it printed there."""
        self._error_bytes = 0
        for descriptor in self._open:
            os.set_blocking(descriptor, False)

    @property
    def overflowed(self) -> bool:
        return max(len(self.output), self._error_bytes) > self._max_output

    def wait(self, wakeup: int) -> None:
        """Moves what can be moved; returns at the latest when a child ends."""
        reading = [wakeup, *(self._open & {self._stdout, self._stderr})]
        writing = [self._stdin] if self._stdin in self._open else []
        readable, writable, _ = select.select(reading, writing, [])
        if wakeup in readable:
            os.read(wakeup, 4096)
        if writable:
            self._write()
        for descriptor in self._open & set(readable):
            self._read(descriptor)

    def read_rest(self) -> None:
        """What the program has left in its pipes when it has ended; others may hold them open."""
        for descriptor in self._open & {self._stdout, self._stderr}:
            while not self.overflowed and self._read(descriptor):
                continue

    def close(self) -> None:
        for descriptor in tuple(self._open):
            self._close(descriptor)

    def _write(self) -> None:
        try:
            self._rest = self._rest[os.write(self._stdin, self._rest[:_CHUNK]) :]
        except BrokenPipeError:
            self._rest = self._rest[:0]
        if not self._rest:
            self._close(self._stdin)

    def _read(self, descriptor: int) -> bool:
        """Whether there was something to read."""
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            self._close(descriptor)
        elif descriptor == self._stdout:
            self.output += chunk
        else:
            self._error_bytes += len(chunk)
            self.errors = (self.errors + chunk)[-_ERRORS_KEPT:]
        return bool(chunk)

    def _close(self, descriptor: int) -> None:
        self._open.remove(descriptor)
        os.close(descriptor)


def _ending(status: int, exchange: Exchange, max_output: int) -> tuple[str, str]:
    """The verdict and its reason; none for a program that ended well."""
    if exchange.overflowed:
        return "output_limit", f"More than {max_output:,} bytes were printed."
    code = os.waitstatus_to_exitcode(status)
    if not code:
        return "", ""
    lines = exchange.errors.decode("utf-8", "replace").strip().splitlines()
    last = lines[-1][:500] if lines else ""
    if code < 0:
        return "crashed", f"it was ended by signal {-code} ({signal.strsignal(-code)})."
    if last.startswith("MemoryError"):
        return "out_of_memory", last
    return "error", f"it ended with exit code {code}: {last or 'nothing on standard error'}"


def serve(code: str, toolchain: Toolchain | None, link: int, max_output: int, free: Callable[[], None]) -> None:
    """Never returns. `free` undoes what this process alone needs against the program."""
    try:
        start = _compiled(code, toolchain) if toolchain else prepare_script(code)
    except CompilerError as error:
        send(link, ValueMessage("raised", text=f"It does not compile: {error}"))
        os._exit(0)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        send(link, ValueMessage("raised", text=f"{type(error).__name__}: {error}"))
        os._exit(0)
    send(link, ValueMessage("ready"))

    def become() -> None:
        free()
        start()

    runner = CaseRunner(become, max_output)
    try:
        while True:
            request = receive(link, ValueMessage)
            send(link, ValueMessage("value", [["list", 0, *runner.run(str(request.args[0]))]]))
    except Gone:
        os._exit(0)


def _compiled(code: str, toolchain: Toolchain) -> Start:
    """The command that runs the compiled program. Raises `CompilerError`."""
    Path(toolchain.file).write_text(code, encoding="utf-8", errors="replace")
    if toolchain.compiling and (fault := compile_file(toolchain.compiling)):
        raise CompilerError(fault)

    def start() -> None:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execvp(toolchain.running[0], toolchain.running)  # noqa: S606 - from our own table

    return start


# Runs a program in another language: one file, perhaps compiled, then run. Only its exit code is known.


_COMPILER_LOG = Path(".compiler")
_MAX_LOG = 4096


def run_compiled(source: str, toolchain: Toolchain, report: Callable[[JobReport], None]) -> None:
    """Becomes the program, which has no way to report."""
    Path(toolchain.file).write_text(source, encoding="utf-8")
    if toolchain.compiling and (fault := compile_file(toolchain.compiling)):
        report(JobReport("error", f"It does not compile: {fault}"))
        os._exit(1)
    report(JobReport(COMPILED))
    os.set_inheritable(3, False)
    os.execvp(toolchain.running[0], toolchain.running)  # noqa: S606 - from our own table


def compile_file(command: list[str]) -> str:
    """The compiler's first error, after its log was printed; empty if there was none."""
    import subprocess  # noqa: PLC0415 - it loads `locale`, whose half a megabyte each fork would pay for

    with _COMPILER_LOG.open("wb") as log:
        done = subprocess.run(command, check=False, stdout=log, stderr=log)  # noqa: S603 - from our own table
    if not done.returncode:
        return ""
    text = _COMPILER_LOG.read_bytes()[:_MAX_LOG]
    os.write(1, text)
    return _first_error(text.decode("utf-8", "replace"))


def _first_error(log: str) -> str:
    """The first line that contains the word error, else the first of all."""
    lines = [line.strip() for line in log.splitlines() if line.strip()] or ["the compiler printed nothing"]
    return next((line for line in lines if "error" in line.lower()), lines[0])[:300]


# A Python program as a script: run as `__main__` in a process that was forked for it.


FILE = "main.py"
_COMMON = (
    "array", "bisect", "collections", "copy", "datetime", "decimal", "fractions", "functools", "heapq", "itertools",
    "json", "math", "operator", "queue", "random", "re", "statistics", "string", "typing",
)  # fmt: skip
"""Modules of contest programs. Those that a program names are loaded once, and not for each of its cases."""


def prepare_script(code: str) -> Callable[[], None]:
    """Compiles it once, and writes it where its own tools look for its source. Raises SyntaxError."""
    compiled = compile(code, FILE, "exec", dont_inherit=True)
    for name in _COMMON:
        if name in code:
            importlib.import_module(name)
    if not Path(FILE).exists():
        Path(FILE).write_text(code, encoding="utf-8", errors="replace")
    return lambda: _run_script(compiled)


def _run_script(compiled: CodeType) -> None:
    """Never returns: ends the process as Python ends a script."""
    # Those of the server that this process was forked from are buffered, and may hold what is not the program's.
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, f"__{name}__", getattr(sys, name))
    sys.argv = [FILE]
    sys.path.insert(0, str(Path.cwd()))
    linecache.clearcache()
    module = ModuleType("__main__")
    module.__dict__["__file__"] = FILE
    sys.modules["__main__"] = module
    exit_code = _exit_code(compiled, module)
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - waits for threads, as the interpreter does
    atexit._run_exitfuncs()  # noqa: SLF001
    # As the interpreter does: objects may print when they go, and files of their own write what they hold.
    sys.modules.pop("__main__", None)
    del module
    gc.collect()
    try:
        if sys.stdout:
            sys.stdout.flush()
    except (OSError, ValueError):
        exit_code = exit_code or 120
    os._exit(exit_code)


def _exit_code(compiled: CodeType, module: ModuleType) -> int:
    try:
        exec(compiled, module.__dict__)  # noqa: S102 - that is what this process is for
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException as error:  # noqa: BLE001 - printed, as Python does
        traceback.print_exception(type(error), error, error.__traceback__ and error.__traceback__.tb_next)
        return 1
    return 0
