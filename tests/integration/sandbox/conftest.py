"""One pool for each kind of isolation that this machine can give, shared by all tests."""

import asyncio
import os
import secrets
import subprocess
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

import pytest
from tests.sandboxed import lacks

from model_accuracy_eval.ports import Sandbox
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.sandbox.backends import IMAGE, open_sandbox
from model_accuracy_eval.system.clock import run
from model_accuracy_eval.system.docker_engine import Labels

KINDS = ("docker", "bwrap", "uid", "none")
LABELS = Labels(repository=f"tests/sandbox-{secrets.token_hex(4)}")

RunAll = Callable[[Iterable[Program]], list[Execution]]


@lru_cache
def obstacle(kind: str) -> str | None:
    """What this machine lacks for the kind; a sandbox that fails with everything there is a failed test, and no skip."""
    if kind == "uid" and os.geteuid() != 0:
        return "the sandbox uid needs root"
    if kind == "bwrap":
        words = ["bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        except OSError as error:
            return f"bubblewrap is not installed: {error}"
        return None if done.returncode == 0 else f"bubblewrap may not work here: {done.stderr}"
    if kind == "docker":
        return lacks(IMAGE)
    return None


def opened(kind: str, workers: int = 2, labels: Labels = LABELS) -> Sandbox:
    """A pool of this kind, or a skip that says what is missing."""
    if (why := obstacle(kind)) is not None:
        if os.environ.get("CI") == "true" and kind != "uid":
            pytest.fail(why)
        pytest.skip(why)
    return open_sandbox(kind, os.environ, workers=workers, labels=labels)


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


@pytest.fixture(params=[kind if kind == "bwrap" else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS])
def kind(request: pytest.FixtureRequest) -> str:
    """In `make test` the kind that needs no engine and no rights."""
    return str(request.param)


@pytest.fixture
def run_all(boxes: Callable[[str], Sandbox], kind: str) -> RunAll:
    """Runs programs in the sandbox of the test's kind, and gives what came of them in their order."""
    return runner(boxes(kind))


@pytest.fixture
def run_any(boxes: Callable[[str], Sandbox]) -> RunAll:
    """The same, for what does not depend on the kind."""
    return runner(boxes("bwrap"))
