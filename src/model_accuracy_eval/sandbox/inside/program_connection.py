"""The tests' side of the conversation with a program.

Only plain data comes from the program, and it is compared here. What the program may ask of the tests' own objects is
in `use_of_tests`.
"""

import select
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from model_accuracy_eval.sandbox.inside.captured_streams import TestStreams
from model_accuracy_eval.sandbox.inside.conversation import Conversation
from model_accuracy_eval.sandbox.inside.messages import Gone, ObjectMessage, TooLarge, receive
from model_accuracy_eval.sandbox.inside.mirror_methods import ProgramWouldDecide
from model_accuracy_eval.sandbox.inside.mirrors import MirrorClass
from model_accuracy_eval.sandbox.inside.random_state import SeededGenerators
from model_accuracy_eval.sandbox.inside.use_of_tests import ACTIONS

_NOT_RAISED = (AssertionError, KeyboardInterrupt, GeneratorExit)
"""What Python and tests raise themselves; of a program it means nothing."""
_ENDING = (StopIteration, StopAsyncIteration)
"""They end loops, so an iterator alone may raise them: `all(map(check, cases))` would be true."""


class ProgramError(Exception):
    """What the program raised, or sent, where tests may not take it for an exception of Python."""


class ProgramConnection(Conversation):
    """Asks the program's process; `lifeline` is closed when that process ends."""

    guarded = True

    def __init__(self, connection: int, lifeline: int) -> None:
        super().__init__(connection, step=1)
        self.actions = ACTIONS
        self._lifeline = lifeline
        self._streams = TestStreams()
        self._generators: SeededGenerators | None = None
        self.calls = 0
        self._named_classes: list[MirrorClass] = []
        self.broke_check: Callable[[BaseException], bool] = lambda _: False
        """Whether an exception comes from a check of the tests."""
        self._kept: list[tuple[BaseException, TracebackType | None]] = []

    def follow_seeds(self) -> None:
        """From now on, what the tests seed is seeded in the program's process, too."""
        self._generators = SeededGenerators()

    def wait_until_ready(self) -> None:
        self.result(self.receive())

    def find(self, name: str) -> Any:
        """What the program has under that name. Raises KeyError if it has nothing."""
        found = self.ask("name", name=name)
        if type(found) is not list or len(found) != 1:
            raise KeyError(name)
        _refuse_catching(found[0], name)
        if isinstance(found[0], type) and not isinstance(found[0], MirrorClass):
            self.calls += 1  # a type of Python's own, whose calls are not asked of the program
        # Where tests call what is no class by its name, a program may still give them one.
        if isinstance(found[0], MirrorClass) and name[:1].isupper():
            self._named_classes.append(found[0])
        return found[0]

    def is_named(self, kind: type) -> bool:
        return any(named in kind.__mro__ for named in self._named_classes)

    def told(self, error: BaseException) -> None:
        if isinstance(error, _ENDING):
            return
        if isinstance(error, (AssertionError, ProgramWouldDecide)) or self.broke_check(error):
            self._kept.append((error, error.__traceback__))

    def came_back(self, error: object) -> None:
        self._kept = [check for check in self._kept if check[0] is not error]

    def kept_checks(self) -> list[BaseException]:
        """What checks of the tests have raised where the program was asked for something, in a function of theirs or
        within its context, and what it did not answer with: it has kept them from the tests."""
        return [error.with_traceback(trace) for error, trace in self._kept]

    def ask(self, action: str, *values: object, name: str = "", kwargs: Mapping[str, object] | None = None) -> Any:
        if self._generators and action == "call" and (state := self._generators.news()) is not None:
            super().ask("seed", state)
        with self._watching_checks(values):
            found = self._asked_for(action, values, name, kwargs)
            if action == "get":
                _refuse_catching(found, name)
            if name == "__exit__" and not (self.is_mirror(found) or found):
                self.came_back(values[2] if len(values) > 2 else None)  # the tests' own `with` raises it again
        return found

    @contextmanager
    def _watching_checks(self, values: tuple[object, ...]) -> Iterator[None]:
        """What fails, or is shown to the program as failed, is kept from the tests unless this answer is that it is
        raised. A later answer is too late: it may come where tests expect another check to fail."""
        before, flying = len(self._kept), sys.exc_info()[1]
        for value in values:
            if isinstance(value, BaseException) and value.__traceback__:
                self.told(value)
        try:
            yield
        except BaseException as error:
            self._kept[before:] = [check for check in self._kept[before:] if check[0] is not error]
            if flying is not None and error is not flying:
                self.told(flying)  # such as in a `finally`, where the tests would go on with this error
            raise

    def _asked_for(
        self, action: str, values: tuple[object, ...], name: str, kwargs: Mapping[str, object] | None
    ) -> Any:
        try:
            return super().ask(action, *values, name=name, kwargs=kwargs)
        except _ENDING as error:
            if name == "__next__" or action == "finish" or self.is_step(values[0]):
                raise
            raise ProgramError(f"{type(error).__name__} where nothing is gone through") from None
        finally:  # what it raises is an answer, too
            self.calls += action in {"call", "special"}

    def subclass(self, name: str, bases: tuple[type, ...], namespace: dict[str, object]) -> type:
        """Where its methods say `super()`, they mean the class that is made over there."""
        cell: Any = namespace.pop("__classcell__", None)
        own = {key: value for key, value in namespace.items() if key not in ("__module__", "__qualname__")}
        made: type = self.ask("subclass", own, _descriptors(own), *bases, name=name)
        if cell is not None:
            cell.cell_contents = made
        return made

    def question(self, action: str) -> ObjectMessage:
        forgotten = self.shared.drop_unused()
        return ObjectMessage(
            action, forgotten=forgotten, captured=self._streams.are_captured(), typed=self._streams.typed()
        )

    def receive(self) -> ObjectMessage:
        # A descendant of the program may keep the connection open, so its end does not show there.
        ready = select.select([self._connection, self._lifeline], [], [])[0]
        if self._connection not in ready and not select.select([self._connection], [], [], 0)[0]:
            raise Gone
        try:
            message = receive(self._connection, ObjectMessage)
        except (ValueError, RecursionError, TooLarge) as error:
            raise _unreadable(error) from error
        self._streams.write(message.printed)
        return message

    def result(self, message: ObjectMessage) -> Any:
        try:
            values, _ = self.read_values(message)
        except (ValueError, RecursionError) as error:
            raise _unreadable(error) from error
        if message.kind == "raised":
            raise self._exception(values, message.text)
        return values[0] if values else None

    def _exception(self, values: list[Any], text: str) -> BaseException:
        """An AssertionError of the program is not one of the tests."""
        error = values[0] if values else None
        if not isinstance(error, BaseException) or (isinstance(error, _NOT_RAISED) and not self.shared.is_own(error)):
            error = ProgramError(text)
        error.__dict__["program_text"] = text
        return error


def _descriptors(namespace: dict[str, object]) -> dict[str, tuple[object, ...]]:
    """Takes them out: what each is made of."""
    found: dict[str, tuple[object, ...]] = {}
    for key, value in namespace.items():
        if isinstance(value, property):
            found[key] = ("property", value.fget, value.fset, value.fdel)
        elif isinstance(value, (staticmethod, classmethod)):
            found[key] = (type(value).__name__, value.__func__)
    for key in found:
        del namespace[key]
    return found


def _refuse_catching(found: Any, name: str) -> None:
    """What tests except by the program's name for it is not to be what their own checks raise."""
    if type(found) in (tuple, list, set, frozenset):
        for kind in found:
            _refuse_catching(kind, name)
    elif type(found) is type and found is not object and issubclass(AssertionError, found):
        raise ProgramWouldDecide(f"{name}, which would catch checks that fail")


def _unreadable(error: Exception) -> ProgramError:
    return ProgramError(f"an answer that cannot be read: {error}")
