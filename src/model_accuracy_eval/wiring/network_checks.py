"""What `doctor` checks on the network: proxies, the hubs of data and weights, and GitHub."""

import asyncio
import time
from collections.abc import Iterator, Mapping

import httpx

from model_accuracy_eval import extras
from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.hubs.sources import PLACES
from model_accuracy_eval.records import DoctorFinding
from model_accuracy_eval.system import process_environment
from model_accuracy_eval.system.concurrency import run
from model_accuracy_eval.system.process_environment import masked

_NAMES = {"github": "GitHub's files", "hf": "Hugging Face", "ms": "ModelScope"}
_TIMEOUT = 10
"""Seconds for one response."""


def look(environment: Mapping[str, str], *, repository: str) -> Iterator[DoctorFinding]:
    """Only a proxy or token that is set and does not work fails. A hub that cannot be reached may not be needed."""
    try:
        process_environment.check(environment)
    except EvalError as error:
        yield DoctorFinding(name="proxy", state="FAIL", sentence=error.sentence)
        return
    yield from run(_hubs(environment))
    try:
        extras.load("github")
        from model_accuracy_eval.wiring import github_checks  # noqa: PLC0415 - an installation may lack PyGithub

        yield from github_checks.look(environment, repository, timeout=_TIMEOUT)
    except EvalError as error:
        yield DoctorFinding(name="GitHub", state="WARN", sentence=error.sentence)


async def _hubs(environment: Mapping[str, str]) -> list[DoctorFinding]:
    async with httpx.AsyncClient(timeout=_TIMEOUT, headers={"user-agent": "model-accuracy-eval"}) as client:
        checks = [
            _hub(client, _NAMES[scheme], environment.get(variable) or host, variable)
            for scheme, (variable, host, _) in PLACES.items()
        ]
        return list(await asyncio.gather(*checks))


async def _hub(client: httpx.AsyncClient, name: str, address: str, variable: str) -> DoctorFinding:
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
        return DoctorFinding(name=name, state="PASS", sentence=sentence)
    sentence = f"{url} cannot be reached ({masked(problem)}): name a mirror in {variable}, or a proxy in HTTPS_PROXY."
    return DoctorFinding(name=name, state="WARN", sentence=sentence)
