"""What is known of a dataset while it is asked, besides its counts: its figure so far, its tokens, its requests."""

from collections.abc import Callable

from model_accuracy_eval.records import FigureSoFar, Reply


class DatasetActivity:
    """Implements `ports.Activity`."""

    def __init__(
        self, elapsed: Callable[[], float], so_far: Callable[[], FigureSoFar | str | None], *, may_end_early: bool
    ) -> None:
        self._elapsed = elapsed
        self.may_end_early = may_end_early
        self.so_far = so_far
        self.first_asked: float | None = None
        self.tokens = 0
        self._under_way = 0
        self._changed = 0.0
        self._request_seconds = 0.0

    def begin_request(self) -> None:
        now = self._elapsed()
        if self.first_asked is None:
            self.first_asked = now
        self._request_seconds = self._seconds(now)
        self._changed = now
        self._under_way += 1

    def end_request(self) -> None:
        now = self._elapsed()
        self._request_seconds = self._seconds(now)
        self._changed = now
        self._under_way -= 1

    def answered(self, reply: Reply) -> None:
        if reply.usage is not None:
            self.tokens += reply.usage.completion_tokens or 0

    @property
    def request_seconds(self) -> float:
        return self._seconds(self._elapsed())

    def _seconds(self, now: float) -> float:
        return self._request_seconds + self._under_way * (now - self._changed)
