"""The process that a program runs in: it executes the code, then does what the tests' process asks of it.

Nothing here is secret or trusted: the program shares this memory and may change all of it. It gains nothing by that,
because expected values, tests and verdict are elsewhere, and whatever it replies is compared there, as plain data.
"""

import contextlib
import copy
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from os import _exit
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from model_accuracy_eval.sandbox.inside.captured_streams import ProgramStreams
from model_accuracy_eval.sandbox.inside.conversation import Action, Conversation
from model_accuracy_eval.sandbox.inside.figures import end_figures
from model_accuracy_eval.sandbox.inside.messages import Gone, ObjectMessage, receive, send
from model_accuracy_eval.sandbox.inside.random_state import restore_generators
from model_accuracy_eval.sandbox.inside.special_methods import use

if TYPE_CHECKING:
    import asyncio

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


def describe_error(error: BaseException) -> tuple[list[str], str]:
    """The names of the exception's classes, and its text with the line of the program that it came from."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).name == FILE]
    text = str(error)[:2000] if not lines else f"{str(error)[:2000]} (line {lines[-1]})".strip()
    return [kind.__name__ for kind in type(error).__mro__], text


class ProgramSide(Conversation):
    """Answers requests about the program's names and objects."""

    guarded = False

    def __init__(self, connection: int) -> None:
        super().__init__(connection, step=-1)
        self.actions = ACTIONS
        self._streams = ProgramStreams()
        self._names: dict[str, Any] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: dict[int, asyncio.Task[Any]] = {}
        self._asked = 0

    def load(self, code: str, imports: str) -> None:
        try:
            self._names = load(code).__dict__
            exec(imports, self._names)  # noqa: S102 - of the task's own tests
            flush()
            send(self._connection, ObjectMessage("ready"))
        except BaseException as error:  # noqa: BLE001 - leaving is not passing
            self._send_raised(error)

    def serve(self) -> None:
        while True:
            message = self.receive()
            with self._lock:
                self.answer(message)

    def answer(self, message: ObjectMessage) -> None:
        self._streams.begin(captured=message.captured, typed=message.typed)
        self._asked += 1
        super().answer(message)
        self._asked -= 1

    def receive(self) -> ObjectMessage:
        return receive(self._connection, ObjectMessage)

    def question(self, action: str) -> ObjectMessage:
        if not self._asked:
            raise RuntimeError("the tests wait for nothing at the moment")
        return ObjectMessage(action, printed=self._streams.take_printed())

    def reply(self, kind: str) -> ObjectMessage:
        if kind == "value":
            flush()
        printed = self._streams.end() if self._asked == 1 else self._streams.take_printed()
        return ObjectMessage(kind, printed=printed)

    def result(self, message: ObjectMessage) -> Any:
        values, _ = self.read_values(message)
        if message.kind != "raised":
            return values[0]
        raise values[0] if values else RuntimeError(message.text)

    def describe(self, error: BaseException) -> str:
        classes, text = describe_error(error)
        return f"{classes[0]}: {text}"

    def find(self, name: str) -> list[object]:
        """Nothing, or what the program has under that name; of modules, that they are there."""
        found = [self._names[name]] if name in self._names else []
        return [it.__name__ if isinstance(it, ModuleType) else it for it in found]

    def start(self, awaitable: Any) -> None:
        async def awaited() -> object:
            return await awaitable

        self._tasks[id(awaitable)] = self._event_loop().create_task(awaited())

    def finish(self, awaitable: Any) -> object:
        return self._event_loop().run_until_complete(self._tasks.pop(id(awaitable)))

    def _event_loop(self) -> "asyncio.AbstractEventLoop":
        import asyncio  # noqa: PLC0415 - it takes megabytes, which would be copied for each program

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        return self._loop


def _attributes(value: Any) -> object:
    """What objects of one class differ in; None where that is not known."""
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value) if field.compare]
    slots = {name for kind in type(value).__mro__ for name in vars(kind).get("__slots__", ())}
    if not (slots or hasattr(value, "__dict__")):
        return None
    return {**getattr(value, "__dict__", {}), **{name: getattr(value, name) for name in slots if hasattr(value, name)}}


_DESCRIPTORS: dict[str, Callable[..., object]] = {
    "property": property,
    "staticmethod": staticmethod,
    "classmethod": classmethod,
}


def _subclass(name: str, namespace: dict[str, Any], descriptors: dict[str, tuple[Any, ...]], *bases: type) -> type:
    """A class that tests have written below one of the program; its functions are theirs."""
    made = {key: _DESCRIPTORS[kind](*functions) for key, (kind, *functions) in descriptors.items()}
    return type(bases[0])(name, bases, {**namespace, **made, "__module__": "tests"})


ACTIONS: dict[str, Action] = {
    "name": lambda side, values, named, name: side.find(name),
    "seed": lambda side, values, named, name: restore_generators(values[0]),
    "figures": lambda side, values, named, name: end_figures(name, values),
    "call": lambda side, values, named, name: values[0](*values[1:], **named),
    "special": lambda side, values, named, name: use(values[0], name, values[1:]),
    "get": lambda side, values, named, name: getattr(values[0], name),
    "set": lambda side, values, named, name: setattr(values[0], name, values[1]),
    "delete": lambda side, values, named, name: delattr(values[0], name),
    "copy": lambda side, values, named, name: copy.copy(values[0]),
    "deepcopy": lambda side, values, named, name: copy.deepcopy(values[0]),
    "data": lambda side, values, named, name: _attributes(values[0]),
    "start": lambda side, values, named, name: side.start(values[0]),
    "finish": lambda side, values, named, name: side.finish(values[0]),
    "subclass": lambda side, values, named, name: _subclass(name, *values),
    "super": lambda side, values, named, name: getattr(super(values[0], values[1]), name),
}


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
