"""The process that a program runs in: it executes the code, then does what the tests' process asks of it.

Nothing here is secret or trusted: the program shares this memory and may change all of it. It gains nothing by that,
because expected values, tests and verdict are elsewhere, and whatever it answers is compared there, as plain data.
"""

import sys
import traceback
from collections import deque
from collections.abc import Callable
from os import _exit
from types import ModuleType
from typing import Any

from model_accuracy_eval.rim.sandbox.inside.codec import decode, encode
from model_accuracy_eval.rim.sandbox.inside.frames import Gone, TooLarge, receive, send

SOURCE = "<program>"

_MUTABLE = (list, dict, set, bytearray, deque)


def load(code: str) -> ModuleType:
    """Executes code as a module of its own, whose name is not `__main__`: its tests are elsewhere."""
    module = ModuleType("program")
    sys.modules[module.__name__] = module  # dataclasses and pickle look there
    exec(compile(code, SOURCE, "exec"), module.__dict__)  # noqa: S102 - that is what this process is for
    return module


def flush() -> None:
    """What was printed leaves with the answer: this process never ends in order."""
    sys.stdout.flush()
    sys.stderr.flush()


def told(error: BaseException) -> list[Any]:
    """What was raised: the names of its classes, what it says, and the line of the program it came from."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == SOURCE]
    said = str(error)[:2000] if not lines else f"{str(error)[:2000]} (line {lines[-1]})".strip()
    return [[kind.__name__ for kind in type(error).__mro__], said]


class Desk:
    """Answers requests about the program's names and objects."""

    def __init__(self, module: ModuleType) -> None:
        self._names = module.__dict__
        self._kept: list[Any] = []

    def keep(self, value: Any) -> list[Any]:
        self._kept.append(value)
        return ["handle", len(self._kept) - 1, type(value).__name__]

    def answer(self, request: list[Any]) -> list[Any]:
        action, *words = request
        return list(getattr(self, f"do_{action}")(*words))

    def do_name(self, name: str) -> list[Any]:
        if name not in self._names:
            return ["none"]
        value = self._names[name]
        return ["module"] if isinstance(value, ModuleType) else ["value", self._out(value)]

    def do_call(self, handle: int, args: list[Any], kwargs: dict[str, Any]) -> list[Any]:
        given, named = [self._in(one) for one in args], {name: self._in(one) for name, one in kwargs.items()}
        mutable = {str(number): one for number, one in enumerate(given) if isinstance(one, _MUTABLE)}
        before = {number: encode(one, self.keep) for number, one in mutable.items()}
        result = self._out(self._kept[handle](*given, **named))
        after = {number: encode(one, self.keep) for number, one in mutable.items()}
        changed = {number: now for number, now in after.items() if now != before[number]}
        return ["value", result, changed]

    def do_get(self, handle: int, name: str) -> list[Any]:
        return ["value", self._out(getattr(self._kept[handle], name))]

    def do_set(self, handle: int, name: str, value: Any) -> list[Any]:
        setattr(self._kept[handle], name, self._in(value))
        return ["value", None]

    def do_bool(self, handle: int) -> list[Any]:
        return ["value", bool(self._kept[handle])]

    def do_iter(self, handle: int) -> list[Any]:
        return ["value", self.keep(iter(self._kept[handle]))]

    def do_next(self, handle: int) -> list[Any]:
        for value in self._kept[handle]:
            return ["value", self._out(value)]
        return ["end"]

    def _in(self, data: Any) -> Any:
        return decode(data, lambda handle, _: self._kept[handle])

    def _out(self, value: Any) -> Any:
        return encode(value, self.keep)


def serve(code: str, link: int) -> None:
    """Never returns: what the program registered for its exit is not ours to wait for."""
    try:
        desk = None
        reply = _tried(lambda: ["ready", load(code)])
        if reply[0] == "ready":
            desk = Desk(reply.pop())
        send(link, reply)
        while desk:
            request = receive(link)
            _send(link, _tried(lambda: desk.answer(request)))  # noqa: B023 - called at once
    except Gone:
        pass
    _exit(0)


def _tried(work: Callable[[], list[Any]]) -> list[Any]:
    """What came of it; SystemExit and its like are answers too, because leaving is not passing."""
    try:
        result = work()
        flush()
    except BaseException as error:  # noqa: BLE001 - told to the other side
        return ["raise", *told(error)]
    return result


def _send(link: int, reply: list[Any]) -> None:
    try:
        send(link, reply)
    except TooLarge as error:
        send(link, ["raise", *told(error)])
