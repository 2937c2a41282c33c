"""Whether the head node of a Ray cluster answers.

Without it, Ray ends this process after a minute, in the middle of whatever it does, and many of Ray's functions wait
for that minute. Who notices earlier can say what has happened, and leave a report.
"""

import socket
import threading
import time

_BETWEEN = 1.0
_ANSWER_SECONDS = 5.0


class HeadWatch:
    """Looks from a thread of its own. `address`: HOST:PORT."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self.address = address
        self._place = host.strip("[]"), int(port)
        self._silent_since: float | None = None
        threading.Thread(target=self._look, name="head-watch", daemon=True).start()

    @property
    def silent_for(self) -> float:
        """Seconds; 0 while it answers."""
        since = self._silent_since
        return 0.0 if since is None else time.monotonic() - since

    def _look(self) -> None:
        while True:
            asked = time.monotonic()
            try:
                socket.create_connection(self._place, timeout=_ANSWER_SECONDS).close()
                self._silent_since = None
            except OSError:
                self._silent_since = self._silent_since or asked
            time.sleep(_BETWEEN)
