"""A check run kept up to date: by a thread of its own with a client of its own, and only ever with the newest state.

GitHub's client belongs to one thread, and the event loop must not wait for it. Progress is worth no patience: what
cannot be told at once is dropped, and after a refusal nothing more is tried.
"""

import threading
from collections.abc import Callable

from model_accuracy_eval.errors import PublishFailed, Refused
from model_accuracy_eval.records.forge import Check
from model_accuracy_eval.rim.forge.github import GitHub

INTERVAL = 30.0
"""A workflow's token has a thousand requests an hour, for all the jobs of a repository together."""
_LAST_ANSWER = 1.0


class CheckProgress:
    """Implements `ports.action.Progress`. `newest` gives title and summary, and is called from the thread."""

    def __init__(
        self,
        connect: Callable[[], GitHub],
        newest: Callable[[], tuple[str, str]],
        warn: Callable[[str], object],
        *,
        interval: float = INTERVAL,
    ) -> None:
        self._connect = connect
        self._newest = newest
        self._warn = warn
        self._interval = interval
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, check: Check) -> None:
        self._thread = threading.Thread(target=self._run, args=(check,), daemon=True, name="check-progress")
        self._thread.start()

    def stop(self) -> bool:
        """Nothing is sent from now on. False when GitHub is still busy with what was sent before."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(_LAST_ANSWER)
        return self._thread is None or not self._thread.is_alive()

    def _run(self, check: Check) -> None:
        told: tuple[str, str] | None = None
        try:
            with self._connect() as forge:
                while not self._over.wait(self._interval):
                    newest = self._newest()
                    if newest != told:
                        forge.update_check(check, title=newest[0], summary=newest[1])
                        told = newest
        except (PublishFailed, Refused) as failure:
            if not self._over.is_set():
                self._warn(f"The check shows no progress from now on: {failure.sentence}")
