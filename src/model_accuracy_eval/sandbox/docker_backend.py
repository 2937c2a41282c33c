"""The strongest isolation: a container without network, capabilities or anything to write on but memory."""

import contextlib
import itertools
import random
import socket
import struct
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from model_accuracy_eval import extras
from model_accuracy_eval.errors import EvalError, Refused
from model_accuracy_eval.records.code import Isolation
from model_accuracy_eval.sandbox.inside.cleanup import MAX_FILES
from model_accuracy_eval.sandbox.inside.messages import ServerSettings
from model_accuracy_eval.sandbox.program_environment import VARIABLES
from model_accuracy_eval.sandbox.worker import BOOTSTRAP, START_LIMIT, WorkerConnection, WorkerSize
from model_accuracy_eval.system import docker_engine
from model_accuracy_eval.system.docker_engine import MARK, Labels, owner_name, remove, sweep_orphans

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

_NOBODY_GROUP = 65534
_OURS_MB = 128
"""For the fork server and the tests' process, in addition to what the program may use."""
_LIBRARIES_MB = 1024
"""For preloaded libraries: an upper limit, as a container takes only what it uses."""
_OURS_PROCESSES = 3
_CGROUP_PARENTS = {"cgroupfs": "/"}
"""By the engine's driver; None is its own. This one puts all containers into one control group, which gets as much of a
busy machine as a single process: there, 4 programs a second were judged where others were given 30."""
_CPU_SHARES = {"1": 2048}
"""By the version of control groups: there, a container counts as one process beside those that are in no container, and
a worker is two or three. In the second version every process is in a group."""
_STDERR = 2
_BUILT_FROM = {"mae-bigcodebench": "docker/bigcodebench", "mae-humaneval-x": "docker/humaneval_x"}
"""Images with what some datasets need, by the names that the guide gives them: no registry has them."""
PRELOAD = f"{MARK}.preload"
"""The label in which an image names the modules that are imported before the first program, separated by blanks."""
_STREAM_HEAD = struct.Struct(">BxxxI")
"""In front of each piece of output, where there is no terminal: which stream, how many bytes."""


class DockerBackend:
    """Implements `worker.Backend`."""

    isolation: Isolation = "container"

    def __init__(
        self,
        environment: Mapping[str, str],
        image: str,
        labels: Labels,
        say: Callable[[str], None],
        check: Callable[[], None],
    ) -> None:
        self._client = docker_engine.connect(environment, timeout=START_LIMIT)
        try:
            if not docker_engine.has_image(self._client, image):
                if folder := _BUILT_FROM.get(image.partition(":")[0]):
                    raise Refused(
                        f"The engine has no image {image}, and no registry has: it is built from {folder} of this "
                        "repository.",
                        next_step=f"docker build -t {image} {folder}",
                    )
                with contextlib.closing(docker_engine.connect(environment)) as patient:
                    docker_engine.pull(patient, image, say, check)
            with docker_engine.engine_errors(f"The image {image} could not be looked up"):
                facts = self._client.images.get(image)
                engine = self._client.info()
                self._cgroup_parent = _CGROUP_PARENTS.get(engine.get("CgroupDriver", ""))
                self._cpu_shares = _CPU_SHARES.get(str(engine.get("CgroupVersion", "1")))
            self._id = str(facts.id)
            self.preload = tuple((facts.labels or {}).get(PRELOAD, "").split())
            self.image = docker_engine.digest(facts)
            own = docker_engine.find_own_container(self._client)
            sweep_orphans(labels, environment)
        except EvalError:
            self._client.close()
            raise
        self._labels = labels.written(owner_name(own.id if own else None))
        self._users = itertools.count(random.SystemRandom().randrange(10_000, 50_000))

    def start(self, size: WorkerSize) -> WorkerConnection:
        docker = extras.load("docker")
        memory = f"{size.memory_mb + _OURS_MB + (_LIBRARIES_MB if self.preload else 0)}m"
        with docker_engine.engine_errors("A container for generated code could not be started"):
            container = self._client.containers.create(
                self._id,
                command=["-s", "-c", BOOTSTRAP],
                entrypoint="python3",
                environment=VARIABLES,
                labels=self._labels,
                # The kernel counts pipes and watches by user. Engines that map users know 65,536 of them.
                user=f"{next(self._users)}:{_NOBODY_GROUP}",
                working_dir="/tmp",  # noqa: S108 - the container's own
                network_mode="none",
                hostname="sandbox",
                ipc_mode="private",
                read_only=True,
                tmpfs=dict.fromkeys(
                    PLACES, f"rw,nosuid,nodev,exec,mode=1777,size={size.disk_mb}m,nr_inodes={MAX_FILES}"
                ),
                cap_drop=["ALL"],
                security_opt=["no-new-privileges:true"],
                mem_limit=memory,
                memswap_limit=memory,
                pids_limit=size.processes + _OURS_PROCESSES,
                # Each answer would be written to the engine's log, too.
                log_config=docker.types.LogConfig(type="none"),
                init=False,
                cgroup_parent=self._cgroup_parent,
                cpu_shares=self._cpu_shares,
                stdin_open=True,
                auto_remove=True,
            )
            return DockerConnection(self._client, container)

    def close(self) -> None:
        self._client.close()


PLACES = ("/tmp", "/dev/shm")  # noqa: S108 - the container's own
_QUEUES = "/dev/mqueue"
"""Engines mount this folder, and any user may write there."""


class DockerConnection(WorkerConnection):
    """Over the attached streams."""

    def __init__(self, client: "DockerClient", container: "Container") -> None:
        settings = ServerSettings(
            folder=PLACES[0], places=[*PLACES, _QUEUES], sweep="namespace",
            uid=None, judge_uid=None, own_processes=None,
        )  # fmt: skip
        self._client, self._container = client, container
        self._stderr = bytearray()
        self._stdout = bytearray()
        # Before the start, and the server prints nothing before it gets a message: bytes that came with the engine's
        # own answer would be lost in a buffer of the SDK.
        streams = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        try:
            self._attached = container.attach_socket(params=streams)
            super().__init__(settings, cast("socket.socket", getattr(self._attached, "_sock", self._attached)))
            container.start()
        except BaseException:
            self._hang_up()
            remove(client, container.id)
            raise

    def receive(self, count: int, deadline: float) -> bytes:
        while len(self._stdout) < count:
            stream, length = _STREAM_HEAD.unpack(super().receive(_STREAM_HEAD.size, deadline))
            piece = super().receive(length, deadline)
            if stream == _STDERR:
                self._stderr += piece[: 65536 - len(self._stderr)]
            else:
                self._stdout += piece
        data = bytes(self._stdout[:count])
        del self._stdout[:count]
        return data

    def stderr(self) -> str:
        return self._stderr.decode("utf-8", "replace")

    def kill(self) -> None:
        self.disconnect()
        self._hang_up()
        remove(self._client, self._container.id)

    def _hang_up(self) -> None:
        """Closes what is open; a container that does not start may have nothing yet."""
        for one in (getattr(self, name, None) for name in ("_attached", "_socket", "_sender")):
            if one is not None:
                one.close()
