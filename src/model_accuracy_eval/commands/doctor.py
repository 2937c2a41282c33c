"""`doctor`: what works on this machine, on what it reaches, or of a service, and what does not."""

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click
import httpx

from model_accuracy_eval import extras
from model_accuracy_eval.adapter.adapter_files import port_owner
from model_accuracy_eval.commands import doctor_service
from model_accuracy_eval.commands.doctor_service import Finding
from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.hubs.file_hub import cache_folder
from model_accuracy_eval.hubs.hub_listings import HOSTS
from model_accuracy_eval.run.build import ApiKeys
from model_accuracy_eval.sandbox.backends import open_sandbox
from model_accuracy_eval.system import process_environment
from model_accuracy_eval.system.clock import run
from model_accuracy_eval.system.docker_engine import connect
from model_accuracy_eval.system.process_environment import masked

_UNFIT_MACHINE, _UNFIT_SERVICE = 3, 4


@click.command()
@click.option("--endpoint", metavar="URL", help="Look at this service instead of this machine.")
@click.option("--model-name", help="Name of the model there; default: the one that the service lists.")
@click.option("--timeout", metavar="X", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True,
              help="Seconds to wait for one answer of the service.")  # fmt: skip
@click.option("--online", is_flag=True, help="Also ask the hubs of data and weights.")
@click.option("--port", metavar="N", type=click.IntRange(1, 65535), default=8000, show_default=True,
              help="Port that an adapter is to serve on.")  # fmt: skip
def doctor(
    *,
    endpoint: str | None,
    model_name: str | None,
    timeout: float,
    online: bool,
    port: int,
) -> None:
    """What works here and what does not, with the next step; 3 when a run would be refused here or its verdict could
    not be told, 4 when a service cannot be used."""
    if endpoint and (word := ApiKeys(os.environ, "model").word(endpoint)):
        click.echo(word, err=True)
    service = doctor_service.examine(endpoint, model_name, timeout, os.environ) if endpoint else ()
    machine = () if endpoint else tuple(_machine(os.environ, port=port))
    network = tuple(_network(os.environ)) if online else ()
    found = (*service, *machine, *network)
    width = max(len(finding.name) for finding in found)
    for finding in found:
        click.echo(f"{finding.state}  {finding.name.ljust(width)}  {finding.sentence}")
    if any(finding.state == "FAIL" for finding in service):
        sys.exit(_UNFIT_SERVICE)
    sys.exit(_UNFIT_MACHINE if any(finding.state == "FAIL" for finding in found) else 0)


# This machine: extras, container engine, bubblewrap, NPUs and driver, port, disk space.


_EXTRAS = ("uvloop", "sacrebleu", "langdetect", "jieba", "tokenizers", "docker", "ray")
"""One library of each extra."""

_DRIVER = Path("/usr/local/Ascend/driver/version.info")


def _machine(environment: Mapping[str, str], *, port: int) -> Iterator[Finding]:
    """Most of what is missing is needed by some runs only, so that little here fails."""
    yield Finding("python", "PASS", f"{sys.version.split()[0]} at {sys.executable}.")
    yield from map(_extra, _EXTRAS)
    yield _tried("docker", lambda: connect(environment).close(), "The engine answers.")
    yield _tried(
        "bwrap",
        lambda: run(open_sandbox("bwrap", environment, workers=1).close()),
        "Programs of models can be run in it.",
    )
    yield _npus()
    yield _driver(_DRIVER)
    yield _port(port)
    yield _cache(cache_folder(environment))


def _extra(name: str) -> Finding:
    library = extras.LIBRARIES[name]
    check = f"extra {library.name}"
    if extras.installed(name):
        return Finding(check, "PASS", f"{name} is installed.")
    return Finding(check, "SKIP", f"{name} is not installed; {library.command}")


def _tried(name: str, opening: Callable[[], object], works: str) -> Finding:
    try:
        opening()
    except EvalError as error:
        return Finding(name, "WARN", error.sentence)
    return Finding(name, "PASS", works)


def _npus() -> Finding:
    names = sorted(path.name for path in Path("/dev").glob("davinci[0-9]*"))
    if names:
        return Finding("NPUs", "PASS", f"{', '.join(names)}.")
    return Finding("NPUs", "SKIP", "There is no /dev/davinci<N>; adapters that need one fail here.")


def _driver(version_file: Path) -> Finding:
    """The driver of Ascend NPUs. Its installer writes the file, and the first line names the version."""
    try:
        version = version_file.read_text(errors="replace").partition("\n")[0].rpartition("=")[2].strip()
    except OSError:
        sentence = f"There is no {version_file}; where there are NPUs, install the driver or mount that folder."
        return Finding("driver", "SKIP", sentence)
    return Finding("driver", "PASS", f"Version {version} of the NPU driver.")


def _port(port: int) -> Finding:
    owner = port_owner(port)
    if owner is None:
        return Finding("port", "PASS", f"{port} is free for an adapter to serve on.")
    sentence = f"{port} is taken by {owner}: stop it, or name another port with --port."
    return Finding("port", "WARN", sentence)


def _cache(folder: Path) -> Finding:
    """The folder may not exist yet; then the nearest existing one above it is checked."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if existing.is_dir() and os.access(existing, os.W_OK):
        return Finding("cache", "PASS", f"{folder} has {free / 1e9:.1f} GB free.")
    sentence = f"{existing} cannot be written to; name another folder in MODEL_ACCURACY_EVAL_CACHE."
    return Finding("cache", "FAIL", sentence)


# The network: proxies, and the hubs of data and weights.


_NAMES = {"github": "GitHub's files", "hf": "Hugging Face", "ms": "ModelScope"}
_TIMEOUT = 10
"""Seconds for one response."""


def _network(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Only a proxy that is set and does not work fails. A hub that cannot be reached may not be needed."""
    try:
        process_environment.check(environment)
    except EvalError as error:
        yield Finding("proxy", "FAIL", error.sentence)
        return

    async def hubs() -> list[Finding]:
        async with httpx.AsyncClient(timeout=_TIMEOUT, headers={"user-agent": "model-accuracy-eval"}) as client:
            checks = [
                _hub(client, _NAMES[scheme], environment.get(variable) or host, variable)
                for scheme, (variable, host) in HOSTS.items()
            ]
            return list(await asyncio.gather(*checks))

    yield from run(hubs())


async def _hub(client: httpx.AsyncClient, name: str, address: str, variable: str) -> Finding:
    """Whether the hub answers at all."""
    start = time.monotonic()
    try:
        response = await asyncio.wait_for(client.head(address), _TIMEOUT)
        problem = f"HTTP {response.status_code}" if response.status_code >= 500 else ""
    except (httpx.HTTPError, httpx.InvalidURL, asyncio.TimeoutError, TimeoutError) as error:
        problem = str(error) or f"no answer within {_TIMEOUT} s"
    url = masked(address)
    if not problem:
        sentence = f"{url} answers within {time.monotonic() - start:.2f} s."
        return Finding(name, "PASS", sentence)
    sentence = f"{url} cannot be reached ({masked(problem)}): name a mirror in {variable}, or a proxy in HTTPS_PROXY."
    return Finding(name, "WARN", sentence)
