"""What the adapter's container is made of: variables, mounts, the copy of its folder, the command.

The folder is copied in, not mounted: the adapter may write what it likes, and nothing of that (files owned by root,
changed scripts of later steps, a forged report) reaches the workspace. The weights are mounted, read-only. Both have
the paths that they have outside.
"""

import glob
import inspect
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from model_accuracy_eval import extras
from model_accuracy_eval.adapter import port_forwarder
from model_accuracy_eval.adapter.adapter_files import (
    DEPLOY,
    DEPLOYING,
    NO_PIP,
    adapter_environment,
    interpreter,
    wants_packages,
)
from model_accuracy_eval.errors import BadValue, Refused
from model_accuracy_eval.system.docker_engine import OwnContainer, engine_errors, inside

if TYPE_CHECKING:
    from docker import DockerClient


_START_SCRIPT = f"""
exec 2>&1
if [ "$1" = packages ]; then
  python3 -I -m pip --version >/dev/null 2>&1 || exit {NO_PIP}
  echo "── pip install -r $PWD/requirements.txt"
  # -I: the folder, with whatever module names, must not come before pip's own.
  PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_PROGRESS_BAR=off \\
    python3 -I -m pip install --no-input -r requirements.txt || exit
  echo "{DEPLOYING}"
fi
shift
{DEPLOY}"""
"""Runs in the adapter's container: `packages` or `plain`, then the words of the script's first line. One stream
for output and errors keeps their order, which the engine would lose."""

CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")
"""What root in the container may do: change files and users of the container, and open the NPUs' nodes, which belong to
a group of the host (DAC_OVERRIDE). Not among them is NET_RAW, since the container may share the evaluator's network."""

_SESSION = re.compile(
    r"_|CI_JOB_.*|COLORTERM|DISPLAY|DOCKER_.*|GPG_KEY|HOSTNAME|LOGNAME|LS_COLORS|PYTHON.*|SHLVL|TERM|USER|WAYLAND_.*"
)
"""Variables of the shell or the Python that we run in; those of the image are right for the adapter."""


def start_command(folder: str) -> list[str]:
    """Returns the command of the container."""
    packages = "packages" if wants_packages(Path(folder) / "requirements.txt") else "plain"
    return ["sh", "-c", _START_SCRIPT, "deploy", packages, *interpreter(Path(folder) / "deploy.sh")]


def forward_command(port: int) -> list[str]:
    """Returns the command that leads the published port to a server on the container's loopback."""
    return ["python3", "-c", f"{inspect.getsource(port_forwarder)}\nforward_port({port})"]


def variables(
    environ: Mapping[str, str], own: OwnContainer | None, *, folder: str, model_path: str, port: int
) -> dict[str, str]:
    """Returns what `deploy.sh` would get as a process, without what is true only outside the container.

    Left out are what our own image sets, the session's variables, and values that are paths (PATH, HOME, a proxy's
    certificate file …), unless they are inside the folder or the weights: the image has its own.
    """
    outside = adapter_environment(environ, model_path=model_path or None, port=port)
    defaults = own.defaults if own else frozenset()
    inner_places = [folder, *([model_path] if model_path else [])]
    return {
        name: value
        for name, value in outside.items()
        if name in ("MODEL_PATH", "PORT")
        or not (
            f"{name}={value}" in defaults
            or _SESSION.fullmatch(name)
            or (re.match(r":?[/~]", value) and not any(inside(value, place) for place in inner_places))
        )
    }


def weights(model_path: str, own: OwnContainer | None, socket: str, workspace: str = "") -> dict[str, str]:
    """Path in the container → path on the host. A hub cache has its files beside its snapshots: both are mounted.

    In a workspace, which may hold the evaluated tree, no link is followed.
    """
    if not model_path:
        return {}
    if workspace:
        _refuse_link(model_path, workspace)
    places = {model_path: os.path.realpath(model_path)}
    cache = Path(model_path).parent
    if cache.name == "snapshots" and (cache.parent / "blobs").is_dir():
        places[str(cache.parent / "blobs")] = os.path.realpath(cache.parent / "blobs")
    for real in places.values():
        if not (os.path.isdir(real) or os.path.isfile(real)):  # noqa: PTH112, PTH113 - a name that was resolved
            raise Refused(f"There are no weights at {real}; give --model a folder or a file that exists.")
        if socket and inside(os.path.realpath(socket), real):
            raise Refused(f"{real} holds the container engine's socket, which no adapter may get; move the weights.")
    return {path: own.on_host(real) if own else real for path, real in places.items()}


def _refuse_link(model_path: str, workspace: str) -> None:
    real, room = os.path.realpath(model_path), os.path.realpath(workspace)
    if inside(room, real):
        raise Refused(f"The weights are {real}, which holds the whole workspace; give model a folder of their own.")
    named = os.path.abspath(model_path)  # noqa: PTH100 - links stay as they are
    if inside(named, workspace) and real != os.path.normpath(os.path.join(room, os.path.relpath(named, workspace))):  # noqa: PTH118
        raise Refused(
            f"{model_path} leads over a link to {real}, and who wrote the workspace may not choose what the adapter's "
            f"container gets: give model {real} itself."
        )


def archive(folder: str, model_path: str, log: str) -> IO[bytes] | None:
    """Returns the folder as a tar file from the root, without the weights and our log; None if the weights hold it.

    Every user may write in the copy: the number of the user that the image runs as is not known.
    """
    if model_path and inside(folder, model_path):
        return None
    left_out = {os.path.realpath(log)} | ({os.path.realpath(model_path)} if model_path else set())
    source = Path(folder).resolve()
    free = shutil.disk_usage(tempfile.gettempdir()).free
    total = 0

    def adapted(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
        inner = Path(f"/{info.name}").relative_to(folder)
        if not info.issym() and str(source / inner) in left_out:
            return None
        nonlocal total
        total += info.size
        if total > free:
            raise Refused(
                f"{folder} holds {total:,} bytes up to {inner}, and its copy for the container has room for {free:,} "
                f"in {tempfile.gettempdir()}; large files belong to the weights."
            )
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        info.mode |= 0o077 if info.isdir() or info.mode & 0o100 else 0o066
        return info

    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller's from here
    try:
        with tarfile.open(fileobj=file, mode="w") as tar:
            tar.add(source, arcname=folder.lstrip("/"), filter=adapted)
    except Refused:
        file.close()
        raise
    except OSError as error:
        file.close()
        raise Refused(f"{folder} cannot be copied into the adapter's container: {error}.") from error
    file.seek(0)
    return file


# Which NPUs the adapter's container gets, and how.
#
# A device is named to the engine by its path on the engine's host. Outside a container that is our own /dev. In one
# it is not, so a tiny container of our own image (trusted, and certainly present) lists the host's /dev, mounted
# read-only and without network. Where the vendor's runtime is the engine's default, it provides devices and driver
# itself, by number.


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
_ROOTS = ("/dev", "/etc", "/usr")
"""Where on every host all of these lie."""
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


def npu_numbers(setting: str) -> tuple[int, ...] | None:
    """The numbers of `0,1`; None for a word."""
    if setting in ("auto", "all", "none"):
        return None
    if not re.fullmatch(r"\d+(\s*,\s*\d+)*", setting):
        raise BadValue(f"devices is '{setting}'; it takes auto, all, none, or numbers such as 0,1.")
    return tuple(sorted({int(number) for number in setting.split(",")}))


def choose_npus(
    setting: str,
    client: "DockerClient",
    own: OwnContainer | None,
    environ: Mapping[str, str],
    labels: Mapping[str, str],
) -> Devices:
    """auto: the NPUs of our own container, else those of the host, if any. all: those of the host, at least one."""
    requested = npu_numbers(setting)
    with engine_errors("The engine did not describe itself"):
        vendor = "ascend" in str(client.info().get("DefaultRuntime", "")).lower()
    if setting == "none":
        return Devices(environment={VISIBLE: "void"} if vendor else {})
    if vendor and setting == "auto" and environ.get(VISIBLE):
        return Devices(environment={VISIBLE: environ[VISIBLE]})
    if setting == "auto" and own is not None:
        requested = _device_numbers(glob.glob(_NODES)) or None  # noqa: PTH207 - names, not paths
    present = _on_host((_NODES, *CONTROL_NODES, *DRIVER), client, own, labels)
    numbers_present = _device_numbers(present)
    if setting == "all" and not numbers_present:
        raise Refused("devices is all, but the engine's host has no /dev/davinci<N>; use auto or none without NPUs.")
    if missing := sorted(set(requested or ()) - set(numbers_present)):
        names = ", ".join(f"/dev/davinci{number}" for number in missing)
        known = ", ".join(map(str, numbers_present)) or "none"
        raise Refused(f"The engine's host has no {names}; its devices are: {known}.")
    chosen = numbers_present if requested is None else requested
    if vendor or not chosen:
        return Devices(environment={VISIBLE: ",".join(map(str, chosen)) or "void"} if vendor else {})
    nodes = (*(f"/dev/davinci{number}" for number in chosen), *(node for node in CONTROL_NODES if node in present))
    return Devices(nodes=nodes, driver=tuple(path for path in DRIVER if path in present))


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
    mounts = [docker.types.Mount(f"/host{root}", root, type="bind", read_only=True) for root in _ROOTS]
    listed = "cd /host && ls -d " + " ".join(pattern[1:] for pattern in patterns) + " 2>/dev/null; :"
    with engine_errors("The devices of the engine's host could not be listed"):
        listing = client.containers.run(
            own.image, ["-c", listed], entrypoint=["sh"], mounts=mounts, network_mode="none", labels=dict(labels),
            remove=True,
        )  # fmt: skip
    return tuple(f"/{line}" for line in listing.decode().splitlines())
