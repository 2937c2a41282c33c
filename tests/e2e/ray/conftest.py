"""A cluster of three nodes for all files, questions, and what a run on this machine makes of them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e import command
from tests.e2e.ray import ray_nodes
from tests.e2e.ray.ray_nodes import RayNodes
from tests.e2e.ray.ray_runs import JSON, PROBLEMS, asked, figures, run, slow


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayNodes]:
    ray_nodes.python()
    with RayNodes(tmp_path_factory.mktemp("nodes")) as nodes:
        for _ in range(2):
            nodes.start().wait()
        yield nodes


@pytest.fixture(scope="session")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return command.lengths(tmp_path_factory.mktemp("questions") / "lengths.jsonl", PROBLEMS)


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    """One whose processes can be found by the name of its folder, wherever they run."""
    return slow(tmp_path / f"adapter-{os.getpid()}-{tmp_path.name}", 3)


@pytest.fixture(scope="session")
def expected(questions: Path) -> JSON:
    """The figures of a run on this machine, of the same adapter without its slowness."""
    ray_nodes.python()
    folder = slow(questions.parent / "adapter", 0)
    done = run(*asked(folder, questions, questions.parent / "out"))
    assert done.code == 0, done.err
    return figures(command.only_run(questions.parent / "out"))
