from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.process.tools import environment, make_adapter, start_in

from model_accuracy_eval.adapter.adapter_process import AdapterProcess

Launch = Callable[..., AdapterProcess]


@pytest.fixture
def log(tmp_path: Path) -> str:
    return str(tmp_path / "deploy.log")


@pytest.fixture
def launch(tmp_path: Path, log: str) -> Iterator[Launch]:
    """`launch(deploy, requirements, **variables)` starts an adapter; whatever is left is stopped afterwards."""
    started: list[AdapterProcess] = []

    def start(deploy: str, requirements: str | None = None, **variables: str) -> AdapterProcess:
        folder = make_adapter(tmp_path / "adapter", deploy, requirements)
        started.append(start_in(environment(**variables), folder, log))
        return started[-1]

    yield start
    for process in started:
        process.stop()
