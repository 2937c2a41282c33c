"""The process that a program runs in: it executes the code, then does what the tests' process asks of it.

Nothing here is secret or trusted: the program shares this memory and may change all of it. It gains nothing by that,
because expected values, tests and verdict are elsewhere, and whatever it replies is compared there, as plain data.
"""

import contextlib
import os
import random
import sys
import traceback
from os import _exit
from pathlib import Path
from types import ModuleType
from typing import Any

from model_accuracy_eval.sandbox.inside.codec import Codec, NamesForProgram, SharedValues
from model_accuracy_eval.sandbox.inside.messages import (
    FUNCTION,
    MISSING,
    NOT_DATA,
    RAISED,
    READY,
    VALUE,
    Gone,
    TooLarge,
    ValueMessage,
    receive,
    send,
)
from model_accuracy_eval.sandbox.inside.value_forms import NotData

FILE = "program.py"


def load(code: str) -> ModuleType:
    """Executes code as a module of its own, whose name is not `__main__`: its tests are elsewhere.

    The module has a file, which `inspect` reads, and processes that the program spawns import.
    """
    module = ModuleType("program")
    # This process was forked for the program alone, and dataclasses and pickle look for a class's module there.
    sys.modules[module.__name__] = module
    folder = os.getcwd()  # noqa: PTH109 - pathlib touches much memory, which is copied for each program
    path = f"{folder}/{FILE}"
    # A file of the task's own with that name is what the program expects there; and an image without a /tmp gets one
    # that only root may write to.
    with contextlib.suppress(FileExistsError, PermissionError):
        with open(path, "xb") as file:  # noqa: PTH123
            file.write(code.encode("utf-8", "surrogateescape"))
        module.__file__ = path
        sys.path.append(folder)
    exec(compile(code, path, "exec"), module.__dict__)  # noqa: S102 - that is what this process is for
    return module


def flush() -> None:
    """Sends printed text along with the reply: this process never ends in the ordinary way.

    That it cannot be flushed is no matter for the verdict: a program may close them, or put None in their places.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.flush()


def describe_error(error: BaseException) -> str:
    """Its class, and its text with the line of the program that it came from."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).name == FILE]
    text = f"{type(error).__name__}: {error}"[:2000]
    return f"{text.rstrip()} (line {lines[-1]})" if lines else text


class ProgramSide:
    """Answers requests about the program's names."""

    def __init__(self, connection: int) -> None:
        self._connection = connection
        self._names: dict[str, Any] = {}
        self.codec = Codec(SharedValues(step=-1), NamesForProgram(lambda name: self._names[name]))

    def load(self, code: str, imports: str) -> None:
        try:
            self._names = load(code).__dict__
            exec(imports, self._names)  # noqa: S102 - of the task's own tests
            flush()
            send(self._connection, ValueMessage(READY))
        except BaseException as error:  # noqa: BLE001 - leaving is not passing
            self._send_raised(error)

    def serve(self) -> None:
        while True:
            self._answer(receive(self._connection, ValueMessage))

    def _answer(self, message: ValueMessage) -> None:
        """Does what the tests ask. What is raised is the answer then."""
        try:
            kind, value = self._done(message)
            flush()
            send(self._connection, self.codec.write(ValueMessage(kind, name=message.name), [value]))
        except (NotData, TooLarge) as refusal:
            self._send_not_data(refusal)
        except BaseException as error:  # noqa: BLE001 - the tests are told
            self._send_raised(error)

    def _done(self, message: ValueMessage) -> tuple[str, Any]:
        """The kind of the answer, and a value. What can be called stays here, but for types that both sides have."""
        values, kwargs = self.codec.read(message)
        names, name = self._names, message.name
        match message.kind:
            case "call":
                return VALUE, names[name](*values, **kwargs)
            case "seed":
                _restore_generators(values[0])
                return VALUE, None
            case "has":
                return VALUE, name in names
            case "method" if "Solution" in names:
                names[name] = getattr(names["Solution"](), name.rpartition(".")[2])
                return FUNCTION, None
            case "find" if name in names:
                found = names[name]
                return (FUNCTION, None) if callable(found) and not isinstance(found, type) else (VALUE, found)
        return MISSING, None

    def _send_raised(self, error: BaseException) -> None:
        message = ValueMessage(RAISED, text=describe_error(error))
        try:
            send(self._connection, self.codec.write(message, [error.with_traceback(None)]))
        except (NotData, TooLarge) as refusal:
            self._send_not_data(refusal)

    def _send_not_data(self, refusal: BaseException) -> None:
        send(self._connection, ValueMessage(NOT_DATA, text=str(refusal)[:2000]))


def _restore_generators(state: Any) -> None:
    python, numpy = state
    random.setstate(python)
    if numpy is not None and "numpy" in sys.modules:
        sys.modules["numpy"].random.set_state(numpy)


def serve(code: str, link: int, imports: str = "") -> None:
    """Never returns: what the program registered for its exit is not waited for.

    `imports` are those of the tests, which plain Python would execute in the program's module.
    """
    try:
        side = ProgramSide(link)
        side.load(code, imports)
        side.serve()
    except Gone:
        pass
    _exit(0)
