"""A container's output, copied to a file as it comes, and how the container ended: one thread that follows it."""

import contextlib
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model_accuracy_eval.rim.containers.sibling import DEPLOYING

if TYPE_CHECKING:
    from docker import DockerClient

_PATIENCE = 30.0
"""Seconds for which the engine may be away, as when it is restarted."""
_ENGINE_GONE = 125
"""What `docker run` itself ends with when the engine fails."""
KILLED = -9


class Follower:
    """Follows a container that was started, until it ends; then `code` is its exit code."""

    def __init__(self, client: "DockerClient", name: str, log: str) -> None:
        self._client, self._name = client, name
        self._written = 0
        self._last = b""
        self._output = Path(log).open("ab", buffering=0)  # noqa: SIM115 - as long as the thread
        self.leaving = False
        """Set before we remove the container ourselves."""
        self.code: int | None = None
        self.deploying = threading.Event()
        self.ended = threading.Event()
        threading.Thread(target=self._follow, daemon=True, name="container-log").start()

    def note(self, sentence: str) -> None:
        """A line of ours; a log that cannot be written (full disk) must not end the watch over the container."""
        with contextlib.suppress(OSError, ValueError):
            self._output.write(f"── {sentence}\n".encode())

    def _follow(self) -> None:
        from docker.errors import DockerException  # noqa: PLC0415
        from requests import RequestException  # noqa: PLC0415
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        heard = time.monotonic()
        code = None
        while code is None:
            try:
                self._copy()
                code = self._outcome()
                heard = time.monotonic()
            except (DockerException, RequestException, HTTPError, OSError, ValueError) as error:
                if self.leaving or time.monotonic() - heard > _PATIENCE:
                    self.note(f"the container engine has not answered for {_PATIENCE:g} s: {error}")
                    code = KILLED if self.leaving else _ENGINE_GONE
            if code is None:
                time.sleep(0.1)
        self.code = code
        self._output.close()
        self.ended.set()

    def _copy(self) -> None:
        """Until the output ends; after a broken connection the engine tells it all again from the start."""
        from docker.errors import NotFound  # noqa: PLC0415

        skip = self._written
        with contextlib.suppress(NotFound):
            stream = self._client.containers.get(self._name).logs(stream=True, follow=True)
            try:
                for chunk in stream:
                    self._take(chunk[skip:])
                    skip = max(0, skip - len(chunk))
            finally:
                with contextlib.suppress(OSError):
                    stream.close()  # its connection is not the pool's again before

    def _take(self, fresh: bytes) -> None:
        self._written += len(fresh)
        with contextlib.suppress(OSError):
            self._output.write(fresh)
        self._last = (self._last + fresh)[-8192:]
        if f"{DEPLOYING}\n".encode() in self._last:
            self.deploying.set()

    def _outcome(self) -> int | None:
        """None while it runs. Minus the signal's number if it was ended from outside."""
        from docker.errors import NotFound  # noqa: PLC0415

        try:
            facts = self._client.containers.get(self._name).attrs
        except NotFound:
            if not self.leaving:
                self.note("the container was removed by somebody else")
            return KILLED
        state: dict[str, Any] = facts["State"]
        if self.leaving:
            return KILLED
        if state["Running"] or state["Status"] == "created":
            return None
        if state.get("OOMKilled"):
            limit = facts["HostConfig"].get("Memory") or 0
            much = f"its limit of {limit / 2**20:.0f} MiB" if limit else "the memory of its host"
            self.note(f"the container was killed because it used more than {much} (out of memory)")
        return int(state["ExitCode"])
