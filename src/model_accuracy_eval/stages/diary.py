"""When things happened, and how long each stage took; whoever watches is told when one begins."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from model_accuracy_eval.ports import Clock


class Diary:
    """`seconds` names each stage that was entered; a stage inside another counts for itself alone."""

    def __init__(self, clock: Clock, tell: Callable[[str], object]) -> None:
        self._clock = clock
        self._tell = tell
        self._inner = 0.0
        self.seconds: dict[str, float] = {}
        self.started = self.now()

    def now(self) -> str:
        return self._clock.local("%Y-%m-%dT%H:%M:%S%z")

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self._tell(name)
        began, outer_inner, self._inner = self._clock.elapsed(), self._inner, 0.0
        try:
            yield
        finally:
            whole = self._clock.elapsed() - began
            self.seconds[name] = round(self.seconds.get(name, 0.0) + whole - self._inner, 3)
            self._inner = outer_inner + whole
