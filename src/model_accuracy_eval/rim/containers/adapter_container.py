"""An adapter's container that was started: its exit code, its output, its end."""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from model_accuracy_eval.rim.adapter.log_tail import News, tail
from model_accuracy_eval.rim.containers import engine, sweeping
from model_accuracy_eval.rim.containers.container_log import KILLED, Follower

if TYPE_CHECKING:
    from docker import DockerClient

_STOP_LIMIT = 4.0
_LAST_WORDS = 1.0
"""Seconds for the log to take what was printed before the end."""


class AdapterContainer:
    """Implements `ports.Running`: one container, and the thread that follows it."""

    def __init__(self, client: "DockerClient", environ: Mapping[str, str], name: str, log: str) -> None:
        self.name = name
        self._client, self._log = client, log
        self._news = News(log)
        self._follower: Follower | None = None
        self._ended = False
        self._ending = threading.Lock()
        self._remover = engine.connect(environ, timeout=_STOP_LIMIT)
        Path(log).open("ab").close()

    def follow(self) -> None:
        self._follower = Follower(self._client, self.name, self._log)

    def deploying(self) -> bool:
        """Whether deploy.sh has its turn."""
        return self._follower is not None and self._follower.deploying.is_set()

    def exit_code(self) -> int | None:
        return self._follower.code if self._follower else KILLED if self._ended else None

    def wait(self, seconds: float) -> None:
        """Returns early when it ends."""
        if self._follower:
            self._follower.ended.wait(seconds)

    def tail(self, lines: int) -> str:
        return tail(self._log, lines)

    def news(self) -> str:
        """What was printed since the last call, in whole lines."""
        return self._news.read()

    def stop(self) -> None:
        """Kills first: what is answered is kept already, and a cancelled job has seconds."""
        with self._ending:
            if self._ended:
                return
            self._ended = True
            if self._follower:
                self._follower.leaving = True
            sweeping.remove(self._remover, self.name)
            self.wait(_LAST_WORDS)
            for client in (self._client, self._remover):
                client.close()
