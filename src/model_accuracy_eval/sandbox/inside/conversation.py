"""How the tests' process and the program's process talk: one asks something of an object of the other one and waits;
meanwhile the other may ask back, because tests hand over functions and objects of their own.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from sys import getrefcount
from typing import Any

from model_accuracy_eval.sandbox.inside.class_codec import ClassCodec
from model_accuracy_eval.sandbox.inside.codec import Codec, NotPlain
from model_accuracy_eval.sandbox.inside.messages import Json, ObjectMessage, TooLarge, send
from model_accuracy_eval.sandbox.inside.mirrors import is_mirror
from model_accuracy_eval.sandbox.inside.shared_values import SharedValues

ANSWERS = frozenset({"ready", "value", "raised"})

Action = Callable[..., object]
"""Called with the side that is asked, the values, of which the first is the object meant, named values, and a name."""


class Conversation:
    """One side of it."""

    guarded: bool
    """Whether what the other side says must not be the verdict."""
    actions: Mapping[str, Action]

    def __init__(self, connection: int, step: int) -> None:
        self._connection = connection
        self._lock = threading.RLock()
        """Held by the thread that talks, also while it waits for the other side; not while it works out an answer."""
        self._turn = threading.Condition(self._lock)
        self._open: list[ObjectMessage] = []
        """What the other side has asked and waits for, the last one first to be answered."""
        self._shown: set[int] = set()
        self._differences: set[int] = set()
        self._relations: dict[int, tuple[type, ...]] = {}
        self._made_by_tests: set[int] = set()
        self._steps: set[int] = set()
        self.compared_objects = False
        self.shared = SharedValues(step)
        self.codec = Codec(self.shared, ClassCodec(self, self.shared))

    def ask(self, action: str, *values: object, name: str = "", kwargs: Mapping[str, object] | None = None) -> Any:
        """What the other side makes of it: a value, or what is raised there."""
        with self._lock:
            self.send_values(self.question(action)._replace(name=name), values, kwargs or {})
            while (message := self.receive()).kind not in ANSWERS:
                self.answer(message)
            return self.result(message)

    def question(self, action: str) -> ObjectMessage:
        return ObjectMessage(action)

    def receive(self) -> ObjectMessage:
        raise NotImplementedError

    def result(self, message: ObjectMessage) -> Any:
        raise NotImplementedError

    def reply(self, kind: str) -> ObjectMessage:
        return ObjectMessage(kind)

    def told(self, error: BaseException) -> None:
        """Called with what the other side is told to be raised."""

    def describe(self, error: BaseException) -> str:
        return f"{type(error).__name__}: {error}"[:2000]

    def answer(self, message: ObjectMessage) -> None:
        """Does what the other side asks. What is raised, an answer that cannot be sent included, is the answer then.

        The lock is held. Other threads may ask while the answer is worked out, because the other side waits for it, and
        answers until it comes. They may not between the answer and what this thread is asked next: that would come to
        another thread, which might be the one that this thread then waits for.
        """
        self._open.append(message)
        try:
            values, kwargs = self.read_values(message)
            self._lock.release()
            try:
                value = self.actions[message.kind](self, values, kwargs, message.name)
                del values, kwargs
                held = getrefcount(value) > _ALONE
            finally:
                self._lock.acquire()
                self._turn.wait_for(lambda: self._open[-1] is message)
            self.send_values(self.reply("value"), [value], held=held)
        except BaseException as error:  # noqa: BLE001 - the other side is told
            self.told(error)
            self._send_raised(error)
        finally:
            self._open.pop()
            self._turn.notify_all()

    def read_values(self, message: ObjectMessage) -> tuple[list[Any], dict[str, Any]]:
        """The values of a message, after the changes that it tells of."""
        self.shared.forget(message.forgotten)
        for change in message.changed:
            self.codec.decode_change(change)
        decode = self.codec.decode
        return [decode(data) for data in message.args], {name: decode(data) for name, data in message.kwargs.items()}

    def send_values(
        self,
        message: ObjectMessage,
        values: Sequence[Any],
        kwargs: Mapping[str, Any] | None = None,
        *,
        held: bool = True,
    ) -> None:
        """Sends values with the message, and what has changed of those that the other side knows."""
        encode = self.codec.encode
        numbers = self.shared.changed()
        point = self.shared.point(numbers)
        try:
            changed = [self.codec.encode_change(number) for number in numbers]
            args: list[Json] = [self.codec.encode_result(value, held=held) for value in values]
            named: dict[str, Json] = {str(name): encode(value) for name, value in (kwargs or {}).items()}
            send(self._connection, message._replace(changed=changed, args=args, kwargs=named))
        except BaseException:
            self.shared.take_back(point)
            raise

    def _send_raised(self, error: BaseException) -> None:
        """By its text alone, if there is no form for the exception."""
        with self._lock:
            message = self.reply("raised")._replace(text=self.describe(error))
            try:
                self.send_values(message, [error.with_traceback(None)])
            except (NotPlain, TooLarge):
                send(self._connection, message)

    def is_mirror(self, value: object) -> bool:
        return is_mirror(value)

    def has_been_shown(self, mirror: object) -> bool:
        return self.shared.number(mirror) in self._shown

    def mark_as_shown(self, mirror: object) -> None:
        self._shown.add(self.shared.number(mirror) or 0)

    def is_difference(self, mirror: object) -> bool:
        return self.shared.number(mirror) in self._differences

    def mark_as_difference(self, mirror: object) -> None:
        self._differences.add(self.shared.number(mirror) or 0)

    def related_types(self, mirror: object) -> tuple[type, ...]:
        return self._relations.get(self.shared.number(mirror) or 0, ())

    def mark_as_relation(self, mirror: object, types: tuple[type, ...]) -> None:
        self._relations[self.shared.number(mirror) or 0] = types if self.guarded else ()

    def mark_as_step(self, mirror: object) -> None:
        self._steps.add(self.shared.number(mirror) or 0)

    def is_step(self, mirror: object) -> bool:
        return self.shared.number(mirror) in self._steps

    def is_made_by_tests(self, mirror: object) -> bool:
        return self.shared.number(mirror) in self._made_by_tests

    def mark_as_made_by_tests(self, mirror: object) -> None:
        self._made_by_tests.add(self.shared.number(mirror) or 0)

    def came_back(self, error: object) -> None:
        """Only tests have checks."""

    def is_named(self, kind: type) -> bool:
        """Whether this side has asked for the class, or one that it is below, by its name."""
        return False

    def subclass(self, name: str, bases: tuple[type, ...], namespace: dict[str, object]) -> type:
        raise NotImplementedError


def _count_of_local() -> int:
    value = object()
    return getrefcount(value)


_ALONE = _count_of_local()
"""What Python counts for a value that only one variable holds."""
