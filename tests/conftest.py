"""Which tests `make test` leaves to `make test-long`, how many run at once, and how long property tests may take."""

import gc
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

# Of this process and all that tests start: every matrix is tiny, and NumPy's other threads would only wait, on all cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings
from tests.in_process import load_in_process
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from model_accuracy_eval.scoring.metrics.user_functions import LOADER

HERE = Path(__file__).parent

# Property tests on shared machines: no deadline for a single example, and the same examples every time in CI.
for _name, _examples in (("shared", 25), ("thorough", 75)):
    settings.register_profile(
        _name, deadline=None, max_examples=_examples, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("shared")

LONG_SUITES = {
    "live/": "starts vLLM, transformers serve and llama.cpp, in environments of their own",
    "parity/": "compares with lm-eval itself, in environments of its own",
    "simulator/": "builds the image and plays whole workflow runs before a real engine",
    "integration/image/": "builds the image",
    "integration/sandbox/test_sandbox_time.py": "waits until programs have used up their time",
    "integration/sandbox/test_sandbox_faults.py": "kills workers under hundreds of programs",
    "integration/container/": "starts containers of adapters",
    "e2e/test_benchmark_runs.py": "runs the command for every benchmark",
    "e2e/test_code_bigcodebench.py": "runs solutions of BigCodeBench",
    "e2e/test_code_references.py": "runs the solutions of all code datasets",
    "e2e/test_code_multipl_e.py": "runs compilers and interpreters of nine languages",
    "e2e/test_code_humaneval_x.py": "runs compilers of five languages",
    "e2e/test_digits.py": "starts the pictures' model, and computes its figure offline",
    "e2e/test_damaged_shards.py": "evaluates shards, and merges them",
    "e2e/test_compare.py": "evaluates whole runs to compare them",
    "e2e/test_history.py": "evaluates whole runs to see them in time",
    "e2e/ray/": "starts the nodes of Ray clusters",
    "e2e/test_replicas.py": "evaluates whole runs of several services",
    "e2e/test_shards.py": "evaluates whole runs in parts, and merges them",
    "e2e/test_kill.py": "starts a run twenty times",
    "e2e/test_mistakes.py": "makes seventy mistakes, and waits for what some begin",
    "e2e/test_code_contests.py": "runs contest programs through every step, a dozen times",
    "e2e/test_long_prompts.py": "takes runs with cropped prompts through every command",
}
"""Tests that need an engine or minutes, by the beginnings of their paths, and why: marked `slow`."""

REFERENCES = (
    "e2e/test_code_bigcodebench.py",
    "e2e/test_code_humaneval_x.py",
    "e2e/test_code_multipl_e.py",
    "e2e/test_code_references.py",
    "integration/sandbox/test_sandbox_faults.py",
    "integration/sandbox/test_sandbox_unit_tests.py",
)
"""Tests that do more, or all there is to do, under `make references`: marked so."""

for _name in ("GITHUB_RAW_ENDPOINT", "HF_ENDPOINT", "MODELSCOPE_ENDPOINT"):
    os.environ[_name] = "http://127.0.0.1:9"  # no test fetches anything from the real ones

# The command is started a thousand times, and compiling all its modules takes longer than most tests need.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

gc.set_threshold(50_000)  # as the program does: looking for cycles each 700 objects takes an eighth of the tests' time

LOADER.set(load_in_process)  # Where a test says nothing else.

ONE_AT_A_TIME = {
    "integration/sandbox": "sandbox",
    "e2e/test_code_": "sandbox",
    "simulator": "engine",
    "integration/image": "engine",
    "integration/container": "engine",
    "e2e/ray/": "ray",
    "integration/test_page_in_browser.py": "browser",
    "integration/artifact/": "artifact",
    "example_adapter/": "example adapter",
}
"""Tests that use all cores, share what takes long to build or start, or want port 8000; and the group that one worker runs."""

MADE_FIRST = ("parity/", "e2e/test_compare.py")
"""Long suites whose files make first what all their tests look at: a file of theirs stays with one worker."""

IN_CONTAINERS = re.compile(r"/test_sandbox_programs\.py::.*-docker\]$")
"""The catalogue of programs in containers, which share nothing with processes: a group of its own, beside the others."""


@pytest.fixture(autouse=True)
def own_loader() -> Iterator[None]:
    """What a test's run loads functions with does not stay for the next test."""
    before = LOADER.set(LOADER.get())
    yield
    LOADER.reset(before)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Nothing of the long suites is imported where none of their tests is wanted."""
    path = collection_path.relative_to(HERE).as_posix() if collection_path.is_relative_to(HERE) else ""
    return True if config.option.markexpr == "not slow" and path.startswith(tuple(LONG_SUITES)) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        path = item.path.relative_to(HERE).as_posix()
        if path in REFERENCES:
            item.add_marker(pytest.mark.references)
        if path.startswith(tuple(LONG_SUITES)):
            item.add_marker(pytest.mark.slow)


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Hands the tests of a file to one worker, since they share what is read and started, and so the tests of a group;
    those of the long suites one by one. (`--dist loadgroup` of pytest-xdist 3.8 has no effect under pytest 9.2.)"""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.removeprefix(f"{HERE.name}/")
        if IN_CONTAINERS.search(path):
            return "containers"
        is_alone = path.startswith(tuple(LONG_SUITES)) and not path.startswith(MADE_FIRST)
        scope = nodeid if is_alone else path.partition("::")[0]
        return next((group for start, group in ONE_AT_A_TIME.items() if path.startswith(start)), scope)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> GroupScheduling:
    return GroupScheduling(config, log)


def pytest_xdist_auto_num_workers() -> int:
    """Most of the time tests wait: for servers, processes and engines."""
    return 2 * (os.cpu_count() or 1)
