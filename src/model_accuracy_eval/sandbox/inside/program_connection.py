"""The tests' side of the connection to a program: it asks for names, and calls functions by their names.

Only data comes from the program, and it is compared here.
"""

import json
import math
import os
import random
import select
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from model_accuracy_eval.sandbox.inside.codec import Codec, NamesForTests, ProgramFunction, SharedValues
from model_accuracy_eval.sandbox.inside.messages import (
    FUNCTION,
    MISSING,
    NOT_DATA,
    RAISED,
    Gone,
    JobOrder,
    TooLarge,
    ValueMessage,
    read_exactly,
    receive,
    send,
)
from model_accuracy_eval.sandbox.inside.value_forms import NotData

_NOT_RAISED = (AssertionError, KeyboardInterrupt, GeneratorExit, StopIteration, StopAsyncIteration)
"""What Python and tests raise themselves; of a program it means nothing. The last two end loops: with them
`all(map(check, cases))` would be true."""


class ProgramError(Exception):
    """What the program raised, or sent, where tests may not take it for an exception of Python."""


class OutOfTime(BaseException):
    """A call used more core time than these seconds; tests are not to take it for an error of their own."""


class ProgramConnection:
    """Asks the program's process; `lifeline` is closed when that process ends."""

    def __init__(self, connection: int, lifeline: int, pid: int) -> None:
        self._connection, self._lifeline = connection, lifeline
        self._clock = ~pid << 3 | 2  # how the kernel calls the core time of a process
        self._call_ends = math.inf
        """The program's core time at which the present call is over."""
        self._crossing: Callable[[], float] | None = None
        self._lock = threading.RLock()
        """Held by the thread that has asked, until its answer comes."""
        self._shared = SharedValues(step=1)
        self.codec = Codec(self._shared, NamesForTests())
        self._streams = (sys.stdin, sys.stdout, sys.stderr)
        self._seeds: GeneratorState | None = None
        """The state of the generators here that the program was told last; None: nobody seeds them."""
        self.calls = 0
        self.not_data = ""
        """What would have had to cross and is no data, whatever the tests made of that."""

    def follow_seeds(self) -> None:
        """From now on, what the tests seed is seeded in the program's process, too."""
        self._seeds = _generator_state()

    def wait_until_ready(self) -> None:
        self._result(self._receive())

    def has(self, name: str) -> bool:
        return bool(self._ask("has", name=name))

    def find(self, name: str) -> Any:
        """What the program has under that name. Raises KeyError if it has nothing."""
        found = self._ask("find", name=name)
        _refuse_catching(found, name)
        # What is called then is a type of Python's own, and not asked of the program.
        self.calls += isinstance(found, type)
        return found

    def method_of_solution(self, name: str) -> Any:
        """That method of a new object of the program's class Solution. Raises KeyError if there is no such class."""
        return self._ask("method", name=f"Solution().{name}")

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if (sys.stdin, sys.stdout, sys.stderr) != self._streams:  # the program's are others
            self.not_data = "standard streams of the tests' own"
            raise NotData(self.not_data)
        if self._seeds and _comparable(state := _generator_state()) != _comparable(self._seeds):
            self._seeds = state
            self._ask("seed", state)
        try:
            return self._ask("call", *args, name=name, kwargs=kwargs)
        finally:  # what it raises is an answer, too
            self.calls += 1

    def within(
        self, limit: float, crossing: Callable[[], float], function: Callable[..., Any], *arguments: Any
    ) -> tuple[Any, float]:
        """What a function of the program returns, and the core time that it used. Raises `OutOfTime` beyond the limit
        and what it takes the values to cross, which is asked only then."""
        begun = self._core_seconds()
        self._call_ends, self._crossing = begun + limit, crossing
        try:
            got = function(*arguments)
            self._seconds_left()  # or how soon we get a core would decide
            return got, self._core_seconds() - begun
        except OutOfTime as error:
            raise OutOfTime(limit) from error
        finally:
            self._call_ends = math.inf

    def _core_seconds(self) -> float:
        with suppress(OSError):  # it has ended
            return time.clock_gettime(self._clock)
        return 0.0

    def _seconds_left(self) -> float | None:
        """Of the call's core time; None where it has no limit."""
        left = self._call_ends - self._core_seconds()
        if left <= 0 and self._crossing:
            self._call_ends, self._crossing = self._call_ends + self._crossing(), None
            return self._seconds_left()
        if left <= 0:
            raise OutOfTime
        return None if left == math.inf else max(left, 0.001)

    def run(self, text: str) -> Any:
        """How a script with that input ended."""
        return self._ask("run", text)

    def _ask(self, action: str, *values: Any, name: str = "", kwargs: dict[str, Any] | None = None) -> Any:
        with self._lock:
            question = ValueMessage(action, name=name, forgotten=self._shared.drop_unused())
            try:
                send(self._connection, self.codec.write(question, values, kwargs))
                return self._result(self._receive())
            except (NotData, TooLarge) as error:
                self.not_data = str(error)
                raise

    def _receive(self) -> ValueMessage:
        # A descendant of the program may keep the connection open, so its end does not show there.
        while not (ready := select.select([self._connection, self._lifeline], [], [], self._seconds_left())[0]):
            pass  # it waits for a core, or sleeps: then its whole time will be over
        if self._connection not in ready and not select.select([self._connection], [], [], 0)[0]:
            raise Gone
        try:
            message = receive(self._connection, ValueMessage)
        except (ValueError, RecursionError, TooLarge) as error:
            raise _unreadable(error) from error
        return message

    def _result(self, message: ValueMessage) -> Any:
        if message.kind == NOT_DATA:
            raise NotData(message.text)
        if message.kind == FUNCTION:
            return ProgramFunction(message.name, self.call)
        if message.kind == MISSING:
            raise KeyError(message.name)
        try:
            values, _ = self.codec.read(message)
        except (ValueError, RecursionError) as error:
            raise _unreadable(error) from error
        if message.kind == RAISED:
            raise self._exception(values, message.text)
        return values[0] if values else None

    def _exception(self, values: list[Any], text: str) -> BaseException:
        """An AssertionError of the program is not one of the tests."""
        error = values[0] if values else None
        if not isinstance(error, BaseException) or isinstance(error, _NOT_RAISED):
            error = ProgramError(text)
        error.__dict__["program_text"] = text
        return error


def _refuse_catching(found: Any, name: str) -> None:
    """What tests except by the program's name for it is not to be what their own checks raise."""
    if type(found) in (tuple, list, set, frozenset):
        for kind in found:
            _refuse_catching(kind, name)
    elif type(found) is type and found is not object and issubclass(AssertionError, found):
        raise ProgramError(f"{name} is a name for {found.__name__}, which would catch checks that fail")


def _unreadable(error: Exception) -> ProgramError:
    return ProgramError(f"an answer that cannot be read: {error}")


# The random generators of Python and numpy: tests seed them in their process, for a program that draws in another.


GeneratorState = tuple[object, ...]


def _generator_state() -> GeneratorState:
    numpy = sys.modules.get("numpy")
    return random.getstate(), numpy.random.get_state() if numpy else None


def _comparable(state: GeneratorState) -> object:
    python, numpy = state
    return python, numpy and [it.tobytes() if hasattr(it, "tobytes") else it for it in numpy]  # type: ignore[attr-defined]


# The files of a task as its tests find them: a copy that was there before the program, and that nobody has changed.
#
# Tests and program may be the same user, so nothing locks the copy. But it is read-only: whoever writes to it, moves or
# replaces it changes what the kernel alone writes, the time of an entry's last change.


_COARSE_CLOCK = 5
"""By which the kernel writes these times: CLOCK_REALTIME_COARSE."""


def read_files(order: JobOrder) -> dict[str, str]:
    """What the host sends last: tests and code have been read by then."""
    files = read_exactly(0, order.files_size)
    return json.loads(files) if files else {}


def write_files(files: dict[str, str]) -> None:
    """Into the working folder."""
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")


class PristineFiles:
    """Those of one job."""

    def __init__(self, place: str, files: dict[str, str]) -> None:
        """Writes them into a new folder there, which becomes this process's working folder."""
        root = Path(place, f"tests-{os.getpid()}")
        root.mkdir()
        os.chdir(root)
        write_files(files)
        self._root, self._names = str(root), {str(root / name) for name in files}
        self._entries = [root, *root.rglob("*")]
        for entry in self._entries:
            entry.chmod(0o555 if entry.is_dir() else 0o444)
        self._seen = self._look()
        begun = time.clock_gettime_ns(_COARSE_CLOCK)
        while time.clock_gettime_ns(_COARSE_CLOCK) == begun:  # a change within the same tick would not show
            time.sleep(0.001)

    def watch(self, connection: ProgramConnection) -> None:
        """From now on, any other file in this folder is one that the program should see, too, and cannot."""

        def look(event: str, args: tuple[Any, ...]) -> None:
            if event == "open" and isinstance(args[0], (str, bytes)):
                path = os.path.normpath(os.path.join(self._root, os.fsdecode(args[0])))  # noqa: PTH118
                is_read = path in self._names and not set(str(args[1])) & set("wax+")
                if path.startswith(f"{self._root}/") and not is_read:
                    connection.not_data = "a file that tests and program share"
                    raise NotData(connection.not_data)

        sys.addaudithook(look)

    def changed(self) -> bool:
        """Whether anybody has touched them."""
        return self._look() != self._seen

    def _look(self) -> list[tuple[int, int]]:
        try:
            return [(found.st_ino, found.st_ctime_ns) for found in map(Path.lstat, self._entries)]
        except OSError:
            return []
