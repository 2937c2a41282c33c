"""The strongest isolation: a container without network, capabilities or anything to write on but memory."""

import contextlib
import socket
import struct
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from model_accuracy_eval.errors import EvalError, Refused
from model_accuracy_eval.records.code import Isolation
from model_accuracy_eval.rim.containers import engine, own_container
from model_accuracy_eval.rim.containers.sweeping import MARK, Labels, owner_name, remove, sweep_orphans
from model_accuracy_eval.rim.sandbox.shipping import BOOT
from model_accuracy_eval.rim.sandbox.surroundings import VARIABLES
from model_accuracy_eval.rim.sandbox.worker import START_LIMIT, Line, Room

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

_NOBODY = 65534
_OURS_MB = 128
"""For the fork server and the judge, beside what the program may use."""
_LIBRARIES_MB = 1024
"""For what is loaded beforehand: at most, as a container takes only what it uses."""
_OURS_PROCESSES = 3
_STDERR = 2
PRELOAD = f"{MARK}.preload"
"""The label by which an image names the modules that are loaded before the first program, with blanks between them."""
_HEAD = struct.Struct(">BxxxI")
"""Before each piece of output, where there is no terminal: which stream, how long."""


class DockerBackend:
    """Implements `worker.Backend`."""

    isolation: Isolation = "container"

    def __init__(self, environment: Mapping[str, str], image: str, labels: Labels) -> None:
        self._client = engine.connect(environment, timeout=START_LIMIT)
        try:
            if not engine.has_image(self._client, image):
                raise Refused(f"The sandbox's image {image} is not on this machine; type: docker pull {image}.")
            with engine.told(f"The image {image} could not be looked up"):
                facts = self._client.images.get(image)
            self._id = str(facts.id)
            self.preload = tuple((facts.labels or {}).get(PRELOAD, "").split())
            self.image = (facts.attrs.get("RepoDigests") or [self._id])[0]
            own = own_container.find(self._client)
            sweep_orphans(labels, environment)
        except EvalError:
            self._client.close()
            raise
        self._labels = labels.written(owner_name(own.id if own else None))

    def start(self, room: Room) -> Line:
        with engine.told("A container for generated code could not be started"):
            return DockerLine(self._client, self._client.containers.create(**self._options(room)))

    def close(self) -> None:
        self._client.close()

    def _options(self, room: Room) -> dict[str, Any]:
        memory = f"{room.memory_mb + _OURS_MB + (_LIBRARIES_MB if self.preload else 0)}m"
        return {
            "image": self._id,
            "command": ["-s", "-c", BOOT],
            "entrypoint": "python3",
            "environment": VARIABLES,
            "labels": self._labels,
            "user": f"{_NOBODY}:{_NOBODY}",
            "working_dir": "/tmp",  # noqa: S108 - the container's own
            "network_mode": "none",
            "ipc_mode": "private",
            "read_only": True,
            "tmpfs": dict.fromkeys(PLACES, f"rw,nosuid,nodev,exec,mode=1777,size={room.disk_mb}m"),
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges:true"],
            "mem_limit": memory,
            "memswap_limit": memory,
            "pids_limit": room.processes + _OURS_PROCESSES,
            # Each answer would be written to the engine's log, too.
            "log_config": {"type": "none"},
            "init": False,
            "stdin_open": True,
            "auto_remove": True,
        }


PLACES = ("/tmp", "/dev/shm")  # noqa: S108 - the container's own
_QUEUES = "/dev/mqueue"
"""Engines mount it, and anybody may make files there."""


class DockerLine:
    """Implements `worker.Line` over the attached streams."""

    def __init__(self, client: "DockerClient", container: "Container") -> None:
        self.settings = {
            "folder": PLACES[0], "places": (*PLACES, _QUEUES), "sweep": "namespace",
            "uid": None, "judge_uid": None, "own_processes": None,
        }  # fmt: skip
        self._client, self._container = client, container
        self._said = bytearray()
        self._answers = bytearray()
        # Before the start, and the server is silent until it is spoken to: bytes that came with the engine's own
        # answer would be lost in a buffer of the SDK.
        streams = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        try:
            attached: Any = container.attach_socket(params=streams)
            self._attached = attached
            self._socket: socket.socket = getattr(attached, "_sock", attached)
            container.start()
        except BaseException:
            remove(client, container.id)
            raise

    def send(self, data: bytes) -> None:
        self._socket.settimeout(START_LIMIT)
        self._socket.sendall(data)

    def receive(self, count: int, deadline: float) -> bytes:
        while len(self._answers) < count:
            stream, length = _HEAD.unpack(self._exactly(_HEAD.size, deadline))
            piece = self._exactly(length, deadline)
            if stream == _STDERR:
                self._said += piece[: 65536 - len(self._said)]
            else:
                self._answers += piece
        found = bytes(self._answers[:count])
        del self._answers[:count]
        return found

    def last_words(self) -> str:
        return self._said.decode("utf-8", "replace")

    def hang_up(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def kill(self) -> None:
        self.hang_up()
        self._attached.close()
        self._socket.close()
        remove(self._client, self._container.id)

    def _exactly(self, count: int, deadline: float) -> bytes:
        found = bytearray()
        while len(found) < count:
            self._socket.settimeout(max(0.01, deadline - time.monotonic()))
            chunk = self._socket.recv(count - len(found))
            if not chunk:
                raise EOFError("the container has ended")
            found += chunk
        return bytes(found)
