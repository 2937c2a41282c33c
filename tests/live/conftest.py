"""Models for live servers, and what the example adapter's own server says to the same questions."""

from pathlib import Path

import pytest
from tests.e2e import command
from tests.live import live_servers
from tests.live.demo_answers import DemoAnswers, evaluate
from tests.waiting import free_port


class Models:
    """Folders of weights in the form that a server reads, written when they are first wanted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def adding(self, server: str) -> Path:
        """The example adapter's."""
        return self._for(server, command.WEIGHTS)

    def written(self, kind: str, server: str) -> Path:
        """One of `write_model.py`."""
        folder = self._folder / kind
        if not folder.exists():
            where = "transformers" if server == "llamacpp" else server
            live_servers.run_python(where, "write_model.py", kind, folder)
        return self._for(server, folder)

    def _for(self, server: str, folder: Path) -> Path:
        if server != "llamacpp":
            return folder
        file = self._folder / f"{folder.name}.gguf"
        if not file.exists():
            live_servers.run_python(server, "write_gguf.py", folder, file)
        return file


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    return Models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="session")
def numpy_sums(tmp_path_factory: pytest.TempPathFactory) -> DemoAnswers:
    """Twenty answers to each of the demo's sums."""
    adapter = [command.ADAPTER, "--model", command.WEIGHTS, "--port", free_port()]
    return evaluate(tmp_path_factory.mktemp("numpy"), *adapter, "--datasets", "demo_arithmetic", "-n", 20)


@pytest.fixture(scope="session")
def numpy_digits(tmp_path_factory: pytest.TempPathFactory) -> DemoAnswers:
    """Twenty answers to each of the demo's pictures."""
    weights = command.ADAPTER / "weights-digits"
    adapter = [command.ADAPTER, "--model", weights, "--port", free_port(), "--task-type", "image-text-to-text"]
    return evaluate(tmp_path_factory.mktemp("digits"), *adapter, "--datasets", "demo_digits", "-n", 20)


@pytest.fixture(scope="session")
def numpy_greedy(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, int], str]:
    """The likeliest answer to each of the demo's sums."""
    adapter = [command.ADAPTER, "--model", command.WEIGHTS, "--port", free_port()]
    out = tmp_path_factory.mktemp("greedy")
    found = evaluate(out, *adapter, "--datasets", "demo_arithmetic", "-n", 1, "--temperature", 0)
    return command.journal(found.folder, "demo_arithmetic")
