"""Adapters in a container of their own image, beside ours: a sibling, started through the engine's socket.

In a container ourselves, we share our network namespace with it: `localhost:<port>` is the adapter, and no port of the
host opens. Outside one, its port is published on 127.0.0.1 and nowhere else. It gets no socket, no token, and of the
host's files the weights alone, read-only. It outlives our SIGKILL, unlike a process below a warden: see `sweeping`.
"""

import contextlib
import re
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model_accuracy_eval.errors import AdapterFailed, BadValue, EvalError, Refused
from model_accuracy_eval.records import Record
from model_accuracy_eval.rim.adapter.adapter_python import refuse_replacing
from model_accuracy_eval.rim.adapter.deploy_script import read_script
from model_accuracy_eval.rim.adapter.listener import port_owner
from model_accuracy_eval.rim.adapter.log_tail import tail
from model_accuracy_eval.rim.containers import devices, engine, own_container, sibling, sweeping
from model_accuracy_eval.rim.containers.adapter_container import AdapterContainer
from model_accuracy_eval.rim.containers.own_container import OwnContainer
from model_accuracy_eval.rim.containers.sweeping import Labels

if TYPE_CHECKING:
    from docker import DockerClient

_DETAIL_LINES = 40


class ContainerOptions(Record, frozen=True, kw_only=True):
    """What the adapter's container is like, and whose it is."""

    image: str
    devices: str = "auto"
    shm_size: str = "1g"
    memory: str | None = None
    """None: all that the host has."""
    labels: Labels = Labels(repository="")


class ContainerLauncher:
    """Implements `ports.Launcher`. `check` is called every 0.1 s of a wait, and may raise to end it."""

    def __init__(
        self, environ: Mapping[str, str], options: ContainerOptions, *, check: Callable[[], None] = lambda: None
    ) -> None:
        self._environ, self._options, self._check = environ, options, check

    def port_owner(self, port: int) -> str | None:
        return port_owner(port)

    def objection(self, folder: str) -> EvalError | None:
        """What can be told before anything is fetched: a missing image is fetched by `start`."""
        try:
            read_script(Path(folder) / "deploy.sh")
            _check_options(self._options)
            engine.connect(self._environ).close()
            refuse_replacing(Path(folder) / "requirements.txt")
        except (Refused, BadValue) as refusal:
            return refusal
        return None

    def lacks_npus(self) -> str:
        """Why the adapter's container would see no NPU; empty when it would see one."""
        try:
            _check_options(self._options)
            client = engine.connect(self._environ)
        except (Refused, BadValue):
            return ""  # more is wrong than that, and `objection` tells it
        with contextlib.closing(client):
            own = own_container.find(client)
            try:
                given = self._devices(client, own, self._labels(own))
            except Refused as refusal:
                return refusal.sentence
        return "" if given.any else "The engine's host has no /dev/davinci<N>."

    def start(self, *, folder: str, model_path: str, port: int, log: str) -> AdapterContainer:
        _check_options(self._options)
        command = sibling.entry(folder)
        name = f"{sweeping.MARK}-{secrets.token_hex(6)}"
        client = engine.connect(self._environ)
        try:
            request = self._prepare(client, folder=folder, model_path=model_path, port=port, log=log)
            box = AdapterContainer(client, self._environ, name, log)
        except BaseException:
            client.close()
            raise
        try:
            with engine.told(f"A container of {self._options.image} could not be started"):
                client.containers.create(self._options.image, command[1:], entrypoint=command[:1], name=name, **request)
                self._fill(client, name, folder, model_path, log)
                client.containers.get(name).start()
                if "ports" in request:
                    _open_door(client, name, port)
            box.follow()
            if "packages" in command:
                self._await_packages(box, folder, log)
        except BaseException:
            box.stop()
            raise
        return box

    def _prepare(self, client: "DockerClient", *, folder: str, model_path: str, port: int, log: str) -> dict[str, Any]:
        """Sees to the image, then gives all that the engine is asked for."""
        if not engine.has_image(client, self._options.image):
            engine.pull(client, self._options.image, log, self._check)
        own = own_container.find(client)
        socket = (self._environ.get("DOCKER_HOST") or engine.DEFAULT_SOCKET).partition("unix://")[2]
        places = sibling.weights(model_path, own, socket)
        labels = self._labels(own)
        given = self._devices(client, own, labels)
        places |= {path: path for path in given.driver}
        seen = sibling.variables(self._environ, own, folder=folder, model_path=model_path, port=port)
        network = {"network_mode": f"container:{own.id}"} if own else {"ports": {f"{port}/tcp": ("127.0.0.1", port)}}
        return (
            self._request(places, given, labels)
            | network
            | {
                "working_dir": folder,
                "environment": seen | dict(given.environment),
            }
        )

    def _labels(self, own: OwnContainer | None) -> dict[str, str]:
        return self._options.labels.written(sweeping.owner_name(own.id if own else None))

    def _devices(self, client: "DockerClient", own: OwnContainer | None, labels: dict[str, str]) -> devices.Devices:
        return devices.choose(self._options.devices, client, own, self._environ, labels)

    def _request(self, places: dict[str, str], given: devices.Devices, labels: dict[str, str]) -> dict[str, Any]:
        from docker.types import LogConfig, Mount  # noqa: PLC0415

        memory = self._options.memory
        return {
            "mounts": [Mount(path, source, type="bind", read_only=True) for path, source in places.items()],
            "devices": [f"{node}:{node}:rwm" for node in given.nodes],
            "shm_size": self._options.shm_size,
            "labels": labels,
            "init": True,
            # Readable while it runs, whatever the engine's default is, and never all of the disk.
            "log_config": LogConfig(type="json-file", config={"max-size": "100m", "max-file": "2"}),
            **({"mem_limit": memory, "memswap_limit": memory} if memory else {}),
        }

    def _fill(self, client: "DockerClient", name: str, folder: str, model_path: str, log: str) -> None:
        file = sibling.archive(folder, model_path, log)
        if file is not None:
            with file:
                box = client.containers.get(name)
                engine.attended(lambda: box.put_archive("/", file), self._check)

    def _await_packages(self, box: AdapterContainer, folder: str, log: str) -> None:
        while (code := box.exit_code()) is None and not box.deploying():
            self._check()
            box.wait(0.1)
        if box.deploying():
            return
        if code == sibling.NO_PIP:
            raise Refused(
                f"requirements.txt cannot be installed: the image {self._options.image} has no python3 with pip."
            )
        raise AdapterFailed(
            f"Installing {folder}/requirements.txt failed: pip ended with exit code {code}.",
            detail=tail(log, _DETAIL_LINES),
            about=("requirements.txt", 1),
        )


def _check_options(options: ContainerOptions) -> None:
    devices.numbers(options.devices)
    for name, size in (("shm-size", options.shm_size), ("memory", options.memory or "1g")):
        if not re.fullmatch(r"\d+[bkmg]?", size, re.IGNORECASE):
            raise BadValue(f"{name} is '{size}'; it takes a number with a unit, such as 1g or 512m.")


def _open_door(client: "DockerClient", name: str, port: int) -> None:
    """An image without python3 does without: its server has to listen on the container's address."""
    from docker.errors import APIError  # noqa: PLC0415

    with contextlib.suppress(APIError):
        client.containers.get(name).exec_run(sibling.door(port), detach=True)
