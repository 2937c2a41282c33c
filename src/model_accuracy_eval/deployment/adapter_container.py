"""An adapter's container that was started: its exit code, its output, its end."""

import contextlib
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from model_accuracy_eval import extras
from model_accuracy_eval.deployment.container_spec import DEPLOYING
from model_accuracy_eval.deployment.log_tail import NewLines, shorten, tail
from model_accuracy_eval.system import container_labels, docker_engine

if TYPE_CHECKING:
    from docker import DockerClient

_STOP_LIMIT = 4.0
_LOG_SECONDS = 1.0
"""For the log to take what was printed before the end."""
_ENGINE_SECONDS = 30.0
"""For which the engine may be away, as when it is restarted."""
_ENGINE_GONE = 125
"""The exit code of `docker run` when the engine fails."""
_KILLED = -9


class AdapterContainer:
    """Implements `ports.RunningAdapter`: one container, and the thread that follows it."""

    def __init__(self, client: "DockerClient", environ: Mapping[str, str], name: str, log: str) -> None:
        self.name = name
        self._client, self._log = client, log
        self._new_lines = NewLines(log)
        self._follower: _LogFollower | None = None
        self._ended = False
        self._end_lock = threading.Lock()
        self._stop_client = docker_engine.connect(environ, timeout=_STOP_LIMIT)
        Path(log).open("ab").close()

    def follow(self) -> None:
        self._follower = _LogFollower(self._client, self.name, self._log)

    def deploying(self) -> bool:
        """Whether deploy.sh has started."""
        return self._follower is not None and self._follower.deploying.is_set()

    def exit_code(self) -> int | None:
        return self._follower.code if self._follower else _KILLED if self._ended else None

    def wait(self, seconds: float) -> None:
        """Returns early when it ends."""
        if self._follower:
            self._follower.ended.wait(seconds)

    def tail(self, lines: int) -> str:
        return tail(self._log, lines)

    def news(self) -> str:
        """What was printed since the last call, in whole lines."""
        return self._new_lines.read()

    def stranger(self, port: int) -> str | None:
        """Nobody: the network is that of our own container, or the engine holds the port as long as this runs."""
        return None

    def listening(self) -> dict[int, int]:
        """Nothing: the ports of its network are not to be seen from here."""
        return {}

    def stop(self) -> None:
        """Kills at once: every answer is saved already, and a cancelled job has only seconds."""
        with self._end_lock:
            if self._ended:
                return
            self._ended = True
            if self._follower:
                self._follower.stopping = True
            container_labels.remove(self._stop_client, self.name)
            self.wait(_LOG_SECONDS)
            for client in (self._client, self._stop_client):
                client.close()


class _LogFollower:
    """A thread that copies a container's output to a file until the container ends; then `code` is its exit code."""

    def __init__(self, client: "DockerClient", name: str, log: str) -> None:
        self._client, self._name = client, name
        self._written = 0
        self._last_bytes = b""
        self._output = Path(log).open("ab", buffering=0)  # noqa: SIM115 - as long as the thread
        self.stopping = False
        """Set before we remove the container ourselves."""
        self.code: int | None = None
        self.deploying = threading.Event()
        self.ended = threading.Event()
        threading.Thread(target=self._follow, daemon=True, name="container-log").start()

    def _note(self, sentence: str) -> None:
        """Writes a line of ours; a log that cannot be written (full disk) must not end the thread."""
        with contextlib.suppress(OSError, ValueError):
            self._output.write(f"── {sentence}\n".encode())

    def _follow(self) -> None:
        docker = extras.load("docker")
        requests = extras.load("requests")
        urllib3 = extras.load("urllib3")
        last_answer = time.monotonic()
        code = None
        engine_errors = (
            docker.errors.DockerException, requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError
        )  # fmt: skip
        while code is None:
            try:
                self._copy(follow=True)
                code = self._exit_code()
                if code is not None and not self.stopping:
                    self._copy(follow=False)
                last_answer = time.monotonic()
            except engine_errors as error:
                if self.stopping or time.monotonic() - last_answer > _ENGINE_SECONDS:
                    self._note(f"the container engine has not answered for {_ENGINE_SECONDS:g} s: {error}")
                    code = _KILLED if self.stopping else _ENGINE_GONE
            if code is None:
                time.sleep(0.1)
        self.code = code
        self._output.close()
        self.ended.set()

    def _copy(self, *, follow: bool) -> None:
        """Runs until the output ends; after a broken connection the engine sends it all again from the start.

        Followed, some engines leave out what was printed last, if they are behind when the container ends.
        """
        docker = extras.load("docker")
        skip = self._written
        with contextlib.suppress(docker.errors.NotFound):
            stream = self._client.containers.get(self._name).logs(stream=True, follow=follow)
            try:
                for chunk in stream:
                    self._write(chunk[skip:])
                    skip = max(0, skip - len(chunk))
            finally:
                with contextlib.suppress(OSError):
                    stream.close()  # else its connection does not go back to the pool

    def _write(self, data: bytes) -> None:
        self._written += len(data)
        with contextlib.suppress(OSError):
            self._output.write(data)
            shorten(self._output.fileno())
        self._last_bytes = (self._last_bytes + data)[-8192:]
        if f"{DEPLOYING}\n".encode() in self._last_bytes:
            self.deploying.set()

    def _exit_code(self) -> int | None:
        """None while it runs. Minus the signal's number if it was ended from outside."""
        docker = extras.load("docker")
        try:
            attributes = self._client.containers.get(self._name).attrs
        except docker.errors.NotFound:
            if not self.stopping:
                self._note("the container was removed by another program")
            return _KILLED
        state = attributes["State"]
        if self.stopping:
            return _KILLED
        if state["Running"] or state["Status"] == "created":
            return None
        if state.get("OOMKilled"):
            limit = attributes["HostConfig"].get("Memory") or 0
            memory = f"its limit of {limit / 2**20:.0f} MiB" if limit else "the memory of its host"
            self._note(f"the container was killed because it used more than {memory} (out of memory)")
        return int(state["ExitCode"])
