"""The process that the tests run in: names that they do not define are asked of the program, in another process.

Only plain data comes back, and it is compared here. Of the program's own objects, the tests may ask what carries no
expected value with it (attributes, items one by one, truth, another call); to compare one is an error, because the
program would decide about it.
"""

import builtins
import importlib
import select
import sys
from collections.abc import Iterator
from typing import Any

from model_accuracy_eval.rim.sandbox.inside.codec import NotPlain, decode, encode
from model_accuracy_eval.rim.sandbox.inside.frames import Gone, TooLarge, receive, send


class ProgramError(Exception):
    """What the program raised, where Python has no class of that name that tests may catch."""


class Link:
    """Requests to the program's process; `lifeline` is closed when that process ends."""

    def __init__(self, link: int, lifeline: int) -> None:
        self._link, self._lifeline = link, lifeline
        self.calls = 0

    def load(self) -> None:
        self._answer()

    def ask(self, *request: Any) -> Any:
        send(self._link, request)
        return self._answer()

    def value(self, *request: Any) -> Any:
        return self.read(self.ask(*request)[1])

    def call(self, handle: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        words = [self.write(one) for one in args], {name: self.write(one) for name, one in kwargs.items()}
        _, result, changed = self.ask("call", handle, *words)
        self.calls += 1
        for number, now in changed.items():
            _become(args[int(number)], self.read(now))
        return self.read(result)

    def read(self, data: Any) -> Any:
        return decode(data, lambda handle, kind: Thing(self, handle, kind))

    def write(self, value: Any) -> Any:
        return encode(value, _handle)

    def _answer(self) -> list[Any]:
        # A descendant of the program may keep the connection open, so its end does not show there.
        select.select([self._link, self._lifeline], [], [])
        if not select.select([self._link], [], [], 0)[0]:
            raise Gone
        try:
            reply: list[Any] = receive(self._link)
        except (ValueError, RecursionError, TooLarge) as error:
            raise ProgramError(f"an answer that cannot be read: {error}") from error
        if reply[0] == "raise":
            raise _raised(reply[1], reply[2])
        return reply


class Thing:
    """An object that stays in the program's process."""

    __slots__ = ("_handle", "_kind", "_link", "_truth")

    def __init__(self, link: Link, handle: int, kind: str) -> None:
        for name, value in (("_link", link), ("_handle", handle), ("_kind", kind), ("_truth", None)):
            object.__setattr__(self, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._link.call(self._handle, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._link.value("get", self._handle, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._link.ask("set", self._handle, name, self._link.write(value))

    def __bool__(self) -> bool:
        """Asked once: an object is not true in one test and false in the next."""
        if self._truth is None:
            object.__setattr__(self, "_truth", bool(self._link.value("bool", self._handle)))
        return bool(self._truth)

    def __iter__(self) -> Iterator[Any]:
        items = self._link.value("iter", self._handle)
        while (reply := self._link.ask("next", items._handle))[0] != "end":  # noqa: SLF001 - of our own kind
            yield self._link.read(reply[1])

    def __eq__(self, other: object) -> bool:
        raise ProgramError(f"an object of its own type {self._kind} where the tests compare a value")

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = None  # type: ignore[assignment]


class Names(dict[str, Any]):
    """The names of the tests; those that they do not define are looked up when they are used."""

    def __init__(self, link: Link, entry_points: list[str]) -> None:
        super().__init__(__name__="tests")
        self._link, self._entry_points = link, frozenset(entry_points)

    def __missing__(self, name: str) -> Any:
        """An entry point is the program's, whatever it hides; else builtins, the program, then Python's modules."""
        own = name in self._entry_points
        if name.startswith("__") or (hasattr(builtins, name) and not own):
            raise KeyError(name)
        kind, *value = self._link.ask("name", name)
        if kind == "value":
            self[name] = self._link.read(value[0])
        elif name in sys.stdlib_module_names:  # a module that only the program imports, such as math
            self[name] = importlib.import_module(name)
        else:
            raise KeyError(name)
        return self[name]


def judge(tests: str, entry_points: list[str], link: Link) -> list[str]:
    """Verdict and detail. To pass, the tests must run to their end and have called the program at least once."""
    try:
        link.load()
        exec(compile(tests, "<tests>", "exec"), Names(link, entry_points))  # noqa: S102 - the task's own tests
    except Gone:
        return ["gone", ""]
    except AssertionError as error:
        return ["failed", _line(error)]
    except MemoryError as error:
        return ["out_of_memory", _line(error)]
    except NotPlain as error:
        return ["error", f"The tests hand over {error}, which cannot leave their process."]
    except BaseException as error:  # noqa: BLE001 - whatever it is, the tests did not end well
        return ["error", _line(error)]
    return ["passed", ""] if link.calls else ["failed", "The tests ended without a call of the program."]


def _line(error: BaseException) -> str:
    said = getattr(error, "program_said", None) or f"{type(error).__name__}: {error}"
    trace, line = error.__traceback__, 0
    while trace:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == "<tests>" else line
        trace = trace.tb_next
    return f"{said[:2000]} (line {line} of the tests)" if line else said[:2000]


def _raised(names: list[str], said: str) -> Exception:
    """The nearest class that Python itself has. An AssertionError of the program is none of the tests'."""
    error: Exception = ProgramError(said)
    for name in names:
        kind = getattr(builtins, str(name), None)
        if isinstance(kind, type) and issubclass(kind, Exception) and kind not in (Exception, AssertionError):
            try:
                error = kind(said)
            except TypeError:  # some want more than a sentence
                continue
            break
    error.program_said = f"{names[0]}: {said}"  # type: ignore[attr-defined]
    return error


def _become(mine: Any, now: Any) -> None:
    """Gives a list, set … the content that the program left in its copy."""
    if isinstance(mine, (list, bytearray)):
        mine[:] = now
    else:
        mine.clear()
        mine.extend(now) if hasattr(mine, "extend") else mine.update(now)


def _handle(value: Any) -> list[Any]:
    if type(value) is Thing:
        return ["handle", value._handle, value._kind]  # noqa: SLF001 - of our own kind
    raise NotPlain(f"an object of type {type(value).__name__}")
