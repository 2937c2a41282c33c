"""One pool for each kind of isolation that this machine can give, shared by all tests."""

import asyncio
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn

import pytest

from model_accuracy_eval.code_records import Execution, Program
from model_accuracy_eval.errors import Refused
from model_accuracy_eval.rim.containers.sweeping import Labels
from model_accuracy_eval.rim.loop import run
from model_accuracy_eval.rim.sandbox.opening import open_sandbox
from model_accuracy_eval.sandbox_ports import Sandbox

KINDS = ("docker", "bwrap", "uid", "none")
LABELS = Labels(repository=f"tests/sandbox-{secrets.token_hex(4)}")

RunAll = Callable[[Iterable[Program]], list[Execution]]


def _missing(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def opened(kind: str, slots: int = 2) -> Sandbox:
    """A pool of this kind, or a skip that says what is missing."""
    if kind == "uid" and os.geteuid() != 0:
        pytest.skip("the sandbox uid needs root")
    if kind == "bwrap" and not shutil.which("bwrap"):
        _missing("bubblewrap is not installed")
    try:
        return open_sandbox(kind, os.environ, slots=slots, labels=LABELS)
    except Refused as refusal:
        _missing(f"the sandbox {kind} does not work here: {refusal.sentence}")


async def _all(box: Sandbox, programs: Iterable[Program]) -> list[Execution]:
    return list(await asyncio.gather(*map(box.run, programs)))


def runner(box: Sandbox) -> RunAll:
    return lambda programs: run(_all(box, programs))


@pytest.fixture(scope="session")
def boxes() -> Iterator[Callable[[str], Sandbox]]:
    """`boxes(kind)` is the session's pool of that kind."""
    found: dict[str, Sandbox] = {}

    def get(kind: str) -> Sandbox:
        if kind not in found:
            found[kind] = opened(kind)
        return found[kind]

    yield get
    for box in found.values():
        run(box.close())


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def run_all(boxes: Callable[[str], Sandbox], kind: str) -> RunAll:
    """Runs programs in the sandbox of the test's kind, and gives what came of them in their order."""
    return runner(boxes(kind))


@pytest.fixture
def strongest(boxes: Callable[[str], Sandbox]) -> RunAll:
    """The same in a container."""
    return runner(boxes("docker"))


