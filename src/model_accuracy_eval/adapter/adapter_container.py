"""The adapter in a container of its own: how it is started, its exit code, its output, its end."""

import contextlib
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model_accuracy_eval import extras
from model_accuracy_eval.adapter import container_spec, supervisor
from model_accuracy_eval.adapter.adapter_files import (
    DEPLOYING,
    STACK_READER,
    STACK_SECONDS,
    AdapterOutput,
    check_installed,
    port_owner,
    read_script,
    refuse_replacing,
    visible_npus,
)
from model_accuracy_eval.errors import BadValue, EvalError, Refused
from model_accuracy_eval.records import Record
from model_accuracy_eval.system import docker_engine
from model_accuracy_eval.system.clock import in_background
from model_accuracy_eval.system.docker_engine import Labels, OwnContainer

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.images import Image


_STOP_LIMIT = 4.0
_LOG_SECONDS = 1.0
"""For the log to take what was printed before the end."""
_ENGINE_SECONDS = 30.0
"""For which the engine may be away, as when it is restarted."""
_ENGINE_GONE = 125
"""The exit code of `docker run` when the engine fails."""
_KILLED = -9
_KILLED_INSIDE = 137
"""128 and the number of SIGKILL. The engine is not always told that the kernel wanted memory."""
_MOST_SAID = 1 << 20
"""Bytes of what a program in the container says about its stack."""


class AdapterContainer(AdapterOutput):
    """Implements `ports.RunningAdapter`: one container, and a thread that copies its output until it ends."""

    def __init__(self, client: "DockerClient", environ: Mapping[str, str], name: str, log: str) -> None:
        super().__init__(log)
        self.name = name
        self.deploying = threading.Event()
        """Set when deploy.sh has started."""
        self._client = client
        self._stop_client = docker_engine.connect(environ, timeout=_STOP_LIMIT)
        Path(log).touch()
        self._written = 0
        self._last_bytes = b""
        self._code: int | None = None
        self._thread = threading.Thread(target=self._follow, daemon=True, name="container-log")
        self._stopping = False
        """Set before we remove the container ourselves."""
        self._stop_lock = threading.Lock()

    def follow(self) -> None:
        self._output = Path(self.log).open("ab", buffering=0)  # noqa: SIM115 - as long as the thread
        self._thread.start()

    def exit_code(self) -> int | None:
        return self._code

    def wait(self, seconds: float) -> None:
        """Returns early when it ends."""
        if self._thread.ident is not None:
            self._thread.join(seconds)

    def listening(self) -> dict[int, int]:
        """Nothing: the ports of its network are not to be seen from here."""
        return {}

    def stack(self, port: int) -> str:
        """Who made the image may have replaced its python3: it gets neither more time nor more room than it needs."""
        future = in_background(lambda: self._said(["python3", "-c", STACK_READER, str(port)]), "stack")
        return future.result() if wait([future], STACK_SECONDS).done else ""

    def _said(self, command: list[str]) -> str:
        said, api = b"", self._client.api
        with contextlib.suppress(EvalError, OSError), docker_engine.engine_errors("The container was not asked"):
            # With a terminal, the stream is what the program writes and nothing else.
            exec_id = api.exec_create(self.name, command, stderr=False, tty=True)["Id"]
            stream: Any = api.exec_start(exec_id, tty=True, socket=True)
            try:
                while len(said) <= _MOST_SAID and (part := stream.read(65536)):
                    said += part
            finally:
                stream._sock.close()  # noqa: SLF001 - nothing else of the SDK closes it
                stream.close()
        return "" if len(said) > _MOST_SAID else said.decode(errors="replace").strip()

    def stop(self) -> None:
        """Kills at once: every answer is saved already, and a cancelled job has only seconds."""
        with self._stop_lock:
            if self._stopping:
                return
            self._stopping = True
            docker_engine.remove(self._stop_client, self.name)
            self.wait(_LOG_SECONDS)
            if self._code is None:
                self._code = _KILLED
            for client in (self._client, self._stop_client):
                client.close()

    def _follow(self) -> None:
        docker = extras.load("docker")
        urllib3 = extras.load("urllib3")
        last_answer = time.monotonic()
        code = None
        engine_errors = (
            docker.errors.DockerException, urllib3.exceptions.HTTPError, OSError, ValueError
        )  # fmt: skip
        while code is None:
            try:
                self._copy(follow=True)
                code = self._ended_with()
                if code is not None and not self._stopping:
                    self._copy(follow=False)
                last_answer = time.monotonic()
            except engine_errors as error:
                if self._stopping or time.monotonic() - last_answer > _ENGINE_SECONDS:
                    self._note(f"the container engine has not answered for {_ENGINE_SECONDS:g} s: {error}")
                    code = _KILLED if self._stopping else _ENGINE_GONE
            if code is None:
                time.sleep(0.1)
        self._output.close()
        self._code = code

    def _copy(self, *, follow: bool) -> None:
        """Runs until the output ends; after a broken connection the engine sends it all again from the start.

        Followed, some engines leave out what was printed last, if they are behind when the container ends.
        """
        docker = extras.load("docker")
        skip = self._written
        with contextlib.suppress(docker.errors.NotFound):
            stream = self._client.containers.get(self.name).logs(stream=True, follow=follow)
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
            supervisor.shorten(self._output.fileno())
        self._last_bytes = (self._last_bytes + data)[-8192:]
        if f"{DEPLOYING}\n".encode() in self._last_bytes:
            self.deploying.set()

    def _note(self, sentence: str) -> None:
        """Writes a line of ours; a log that cannot be written (full disk) must not end the thread."""
        with contextlib.suppress(OSError, ValueError):
            self._output.write(f"── {sentence}\n".encode())

    def _ended_with(self) -> int | None:
        """None while it runs. Minus the signal's number if it was ended from outside."""
        docker = extras.load("docker")
        try:
            attributes = self._client.containers.get(self.name).attrs
        except docker.errors.NotFound:
            if not self._stopping:
                self._note("the container was removed by another program")
            return _KILLED
        state = attributes["State"]
        if self._stopping:
            return _KILLED
        if state["Running"] or state["Status"] == "created":
            return None
        is_certain, code = bool(state.get("OOMKilled")), int(state["ExitCode"])
        if is_certain or code == _KILLED_INSIDE:
            limit = attributes["HostConfig"].get("Memory") or 0
            memory = f"its limit of {limit / 2**20:.0f} MiB" if limit else "the memory of its host"
            doubt = "" if is_certain else ", or by another program: the engine does not say why"
            self._note(f"the container was killed because it used more than {memory} (out of memory){doubt}")
        return code


# Starts adapters in a container of their own image, through the engine's socket.
#
# If this process runs in a container, the adapter's container shares its network namespace: `localhost:<port>` is the
# adapter, and no port of the host opens. Otherwise the port is published on 127.0.0.1 and nowhere else. The adapter's
# container gets no socket, no token, and of the host's files only the weights, read-only. It outlives our SIGKILL,
# unlike a process below a supervisor: see `docker_engine.sweep`.


class ContainerOptions(Record, frozen=True, kw_only=True):
    """Image and limits of the adapter's container, and the labels that say whose it is."""

    image: str
    devices: str = "auto"
    shm_size: str = "1g"
    memory: str | None = None
    """None: nine tenths of what the host has, so that an adapter out of bounds ends before the runner does."""
    processes: int = 32_768
    """And threads; a serving framework has some thousands."""
    labels: Labels = Labels(repository="")


class ContainerLauncher:
    """Implements `ports.Launcher`. `check` is called every 0.1 s of a wait, and may raise to end it."""

    def __init__(
        self,
        environ: Mapping[str, str],
        options: ContainerOptions,
        *,
        check: Callable[[], None] = lambda: None,
        say: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._environ, self._options, self._check, self._say = environ, options, check, say
        self._image_id = ""

    def image(self) -> str:
        with contextlib.closing(docker_engine.connect(self._environ)) as client:
            return docker_engine.digest(self._fetched(client), self._options.image)

    def _fetched(self, client: "DockerClient") -> "Image":
        """The image as it was when it was first looked at, whatever its tag has been moved to since."""
        if not self._image_id and not docker_engine.has_image(client, self._options.image):
            docker_engine.pull(client, self._options.image, self._say, self._check)
        with docker_engine.engine_errors(f"The image {self._options.image} could not be looked up"):
            image = client.images.get(self._image_id or self._options.image)
        self._image_id = str(image.id)
        return image

    def port_owner(self, port: int) -> str | None:
        return port_owner(port)

    def objection(self, folder: str) -> EvalError | None:
        """Returns what is wrong before anything is fetched; a missing image is fetched by `start`."""
        try:
            read_script(Path(folder) / "deploy.sh")
            _check_options(self._options)
            docker_engine.connect(self._environ).close()
            refuse_replacing(Path(folder) / "requirements.txt")
        except (Refused, BadValue) as refusal:
            return refusal
        return None

    def lacks_npus(self) -> str:
        """Returns why the adapter's container would see no NPU; empty when it would see one."""
        try:
            _check_options(self._options)
            client = docker_engine.connect(self._environ)
        except (Refused, BadValue):
            return ""  # more is wrong than that, and `objection` reports it
        with contextlib.closing(client):
            try:
                devices, _ = self._devices(client, docker_engine.find_own_container(client))
            except Refused as refusal:
                return refusal.sentence
        return "" if devices.any else "The engine's host has no /dev/davinci<N>."

    def start(
        self, *, folder: str, model_path: str, port: int, log: str, npus: tuple[int, ...] | None = None
    ) -> AdapterContainer:
        _check_options(self._options)
        command = container_spec.start_command(folder)
        name = f"{docker_engine.MARK}-{secrets.token_hex(6)}"
        client = docker_engine.connect(self._environ)
        try:
            self._fetched(client)
            own = docker_engine.find_own_container(client)
            settings = self._settings(client, own, folder=folder, model_path=model_path, port=port, npus=npus)
            running = AdapterContainer(client, self._environ, name, log)
        except BaseException:
            client.close()
            raise
        try:
            with docker_engine.engine_errors(f"A container of {self._options.image} could not be started"):
                container = client.containers.create(
                    self._image_id, command[1:], entrypoint=command[:1], name=name, **settings
                )
                if (copy := container_spec.archive(folder, model_path, log)) is not None:
                    with copy:
                        docker_engine.run_attended(lambda: container.put_archive("/", copy), self._check)
                container.start()
                if own is None:
                    # In an image without python3, the server has to listen on the container's address.
                    with contextlib.suppress(extras.load("docker").errors.APIError):
                        container.exec_run(container_spec.forward_command(port), detach=True)
            running.follow()
            if "packages" in command:
                self._await_packages(running, folder, log)
        except BaseException:
            running.stop()
            raise
        return running

    def _settings(
        self, client: "DockerClient", own: OwnContainer | None,
        *, folder: str, model_path: str, port: int, npus: tuple[int, ...] | None,
    ) -> dict[str, Any]:  # fmt: skip
        """Returns what the container is created with."""
        docker = extras.load("docker")
        socket = (self._environ.get("DOCKER_HOST") or docker_engine.DEFAULT_SOCKET).partition("unix://")[2]
        places = container_spec.weights(model_path, own, socket, self._environ.get("GITHUB_WORKSPACE", ""))
        devices, labels = self._devices(client, own)
        places |= {path: path for path in devices.driver}
        memory = self._options.memory or int(client.info()["MemTotal"]) * 9 // 10
        variables = container_spec.variables(self._environ, own, folder=folder, model_path=model_path, port=port)
        return {
            "working_dir": folder,
            "environment": variables | dict(devices.environment) | visible_npus(variables, npus),
            "mounts": [docker.types.Mount(at, source, type="bind", read_only=True) for at, source in places.items()],
            "devices": [f"{node}:{node}:rwm" for node in devices.nodes],
            "network_mode": f"container:{own.id}" if own else None,
            "ports": None if own else {f"{port}/tcp": ("127.0.0.1", port)},
            "shm_size": self._options.shm_size,
            "mem_limit": memory,
            "memswap_limit": memory,
            "pids_limit": self._options.processes,
            "cap_drop": ["ALL"],
            "cap_add": list(container_spec.CAPABILITIES),
            "security_opt": ["no-new-privileges:true"],
            "labels": labels,
            "init": True,
            # Readable while it runs, whatever the engine's default is, and never all of the disk.
            "log_config": docker.types.LogConfig(type="json-file", config={"max-size": "100m", "max-file": "2"}),
        }

    def _devices(
        self, client: "DockerClient", own: OwnContainer | None
    ) -> tuple[container_spec.Devices, dict[str, str]]:
        """Returns the NPUs, and the labels of what is started to find them, and afterwards."""
        labels = self._options.labels.written(docker_engine.owner_name(own.id if own else None))
        return container_spec.choose_npus(self._options.devices, client, own, self._environ, labels), labels

    def _await_packages(self, container: AdapterContainer, folder: str, log: str) -> None:
        while container.exit_code() is None and not container.deploying.is_set():
            self._check()
            container.wait(0.1)
        if not container.deploying.is_set():
            check_installed(container.exit_code() or 0, folder, log, place=f"the image {self._options.image}")


def _check_options(options: ContainerOptions) -> None:
    container_spec.npu_numbers(options.devices)
    for name, size in (("shm-size", options.shm_size), ("memory", options.memory or "1g")):
        if not re.fullmatch(r"\d+[bkmg]?", size, re.IGNORECASE):
            raise BadValue(f"{name} is '{size}'; it takes a number with a unit, such as 1g or 512m.")
