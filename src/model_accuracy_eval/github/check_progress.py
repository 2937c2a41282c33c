"""Keeps a check run up to date with the newest state, from a thread of its own with a client of its own.

GitHub's client belongs to one thread, and the event loop must not wait for it. An update that fails is not repeated,
and after a refusal no more updates are sent.
"""

import threading
from collections.abc import Callable

from model_accuracy_eval.errors import PublishFailed, Refused
from model_accuracy_eval.github.api import GitHubRest
from model_accuracy_eval.records.github import OpenCheck

INTERVAL = 30.0
"""Seconds. A workflow's token has a thousand requests an hour, for all the jobs of a repository together."""
_JOIN_SECONDS = 1.0


class CheckProgress:
    """Implements `ports.action.Progress`. `newest` gives title and summary, and is called from the thread."""

    def __init__(
        self,
        connect: Callable[[], GitHubRest],
        newest: Callable[[], tuple[str, str]],
        warn: Callable[[str], object],
        *,
        interval: float = INTERVAL,
    ) -> None:
        self._connect = connect
        self._newest = newest
        self._warn = warn
        self._interval = interval
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, check: OpenCheck) -> None:
        self._thread = threading.Thread(target=self._run, args=(check,), daemon=True, name="check-progress")
        self._thread.start()

    def stop(self) -> bool:
        """Sends nothing more. False when an earlier request is still under way."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(_JOIN_SECONDS)
        return self._thread is None or not self._thread.is_alive()

    def _run(self, check: OpenCheck) -> None:
        shown: tuple[str, str] | None = None
        try:
            with self._connect() as github:
                while not self._stopped.wait(self._interval):
                    newest = self._newest()
                    if newest != shown:
                        github.update_check(check, title=newest[0], summary=newest[1])
                        shown = newest
        except (PublishFailed, Refused) as error:
            if not self._stopped.is_set():
                self._warn(f"The check shows no progress from now on: {error.sentence}")
