"""Which NPUs the adapter's container gets, and how.

A device is named to the engine by its path on the engine's host. Outside a container that is our own /dev. In one
it is not, so a tiny container of our own image (trusted, and certainly present) lists the host's /dev, mounted
read-only and without network. Where the vendor's runtime is the engine's default, it provides devices and driver
itself, by number.
"""

import glob
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from model_accuracy_eval import extras
from model_accuracy_eval.errors import BadValue, Refused
from model_accuracy_eval.system.docker_engine import engine_errors
from model_accuracy_eval.system.own_container import OwnContainer

if TYPE_CHECKING:
    from docker import DockerClient

CONTROL_NODES = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
DRIVER = (
    "/usr/local/dcmi",
    "/usr/local/bin/npu-smi",
    "/usr/local/Ascend/driver/lib64",
    "/usr/local/Ascend/driver/version.info",
    "/usr/local/Ascend/driver/tools/hccn_tool",
    "/etc/ascend_install.info",
)
"""Parts of the host's driver, which no image has; mounted read-only, where present."""
VISIBLE = "ASCEND_VISIBLE_DEVICES"
_NODES = "/dev/davinci[0-9]*"
_NUMBERED = re.compile(r"/dev/davinci(\d+)")


@dataclass(frozen=True, slots=True)
class Devices:
    """Paths of the host that the container gets under the same name, and variables for the vendor's runtime."""

    nodes: tuple[str, ...] = ()
    driver: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def any(self) -> bool:
        return bool(self.nodes) or self.environment.get(VISIBLE, "void") != "void"


def numbers(setting: str) -> tuple[int, ...] | None:
    """The numbers of `0,1`; None for a word."""
    if setting in ("auto", "all", "none"):
        return None
    if not re.fullmatch(r"\d+(\s*,\s*\d+)*", setting):
        raise BadValue(f"devices is '{setting}'; it takes auto, all, none, or numbers such as 0,1.")
    return tuple(sorted({int(number) for number in setting.split(",")}))


def choose(
    setting: str,
    client: "DockerClient",
    own: OwnContainer | None,
    environ: Mapping[str, str],
    labels: Mapping[str, str],
) -> Devices:
    """auto: the NPUs of our own container, else those of the host, if any. all: those of the host, at least one."""
    requested = numbers(setting)
    with engine_errors("The engine did not describe itself"):
        vendor = "ascend" in str(client.info().get("DefaultRuntime", "")).lower()
    if setting == "none":
        return Devices(environment={VISIBLE: "void"} if vendor else {})
    if vendor and setting == "auto" and environ.get(VISIBLE):
        return Devices(environment={VISIBLE: environ[VISIBLE]})
    if setting == "auto" and own is not None:
        requested = _device_numbers(glob.glob(_NODES)) or None  # noqa: PTH207 - names, not paths
    present = _on_host((_NODES, *CONTROL_NODES), client, own, labels)
    numbers_present = _device_numbers(present)
    _refuse_missing(setting, requested, numbers_present)
    chosen = numbers_present if requested is None else requested
    if vendor or not chosen:
        return Devices(environment={VISIBLE: ",".join(map(str, chosen)) or "void"} if vendor else {})
    nodes = (*(f"/dev/davinci{number}" for number in chosen), *(node for node in CONTROL_NODES if node in present))
    return Devices(nodes=nodes, driver=_on_host(DRIVER, client, own, labels))


def _refuse_missing(setting: str, requested: tuple[int, ...] | None, present: tuple[int, ...]) -> None:
    if setting == "all" and not present:
        raise Refused("devices is all, but the engine's host has no /dev/davinci<N>; use auto or none without NPUs.")
    missing = sorted(set(requested or ()) - set(present))
    if missing:
        names = ", ".join(f"/dev/davinci{number}" for number in missing)
        known = ", ".join(map(str, present)) or "none"
        raise Refused(f"The engine's host has no {names}; its devices are: {known}.")


def _device_numbers(paths: tuple[str, ...] | list[str]) -> tuple[int, ...]:
    matches = (_NUMBERED.fullmatch(path) for path in paths)
    return tuple(sorted(int(match[1]) for match in matches if match))


def _on_host(
    patterns: tuple[str, ...], client: "DockerClient", own: OwnContainer | None, labels: Mapping[str, str]
) -> tuple[str, ...]:
    """Returns which of the paths exist on the engine's host."""
    docker = extras.load("docker")
    if own is None:
        return tuple(path for pattern in patterns for path in sorted(glob.glob(pattern)))  # noqa: PTH207
    roots = sorted({"/".join(pattern.split("/")[:3]) if pattern.startswith("/usr") else str(Path(pattern).parent)
                    for pattern in patterns})  # fmt: skip
    with engine_errors("The devices of the engine's host could not be listed"):
        try:
            listing = client.containers.run(
                own.image,
                ["-c", "cd /host && ls -d " + " ".join(pattern[1:] for pattern in patterns) + " 2>/dev/null; :"],
                entrypoint=["sh"],
                mounts=[docker.types.Mount(f"/host{root}", root, type="bind", read_only=True) for root in roots],
                network_mode="none",
                labels=dict(labels),
                remove=True,
            )
        except docker.errors.APIError as error:
            if "bind source path does not exist" in str(error):
                return ()  # a host without /usr/local has no driver in it
            raise
    return tuple(f"/{line}" for line in listing.decode().splitlines())
