"""When a service that takes requests and says nothing ends the run."""

from model_accuracy_eval.errors import AdapterFailed
from model_accuracy_eval.records import Fault

_LEAST = 16
"""Requests: few that are sent one by one may be long by chance."""


class Silences:
    """Counts requests in a row that were lost because all their tries got no answer in time.

    A server that hangs still accepts connections, so it is not gone. Each of its requests takes all its tries, and with
    the default limits one that hangs at the beginning of a night would keep a run waiting for weeks.
    """

    def __init__(self, concurrency: int) -> None:
        self._bound = max(_LEAST, 2 * concurrency)
        self._in_a_row = 0

    def end(self) -> None:
        """An answer has come."""
        self._in_a_row = 0

    def count(self, fault: Fault) -> None:
        """Any other fault shows that there is somebody, too."""
        self._in_a_row = self._in_a_row + 1 if fault.silent else 0
        if self._in_a_row >= self._bound:
            raise AdapterFailed(
                f"The service takes requests, but the last {self._in_a_row} in a row got no answer in time: "
                f"{fault.sentence} Start it again, or give it longer (--first-token-timeout, --idle-timeout).",
                stage="infer",
            )
