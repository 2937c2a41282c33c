from pathlib import Path

import pytest
from tests.integration.artifact import node
from tests.integration.artifact.tools import Client


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A run folder as awkward as they come."""
    folder = tmp_path / "report"
    files = {
        "report.html": b"<p>figures</p>" * 4000,
        "summary/summary.txt": "Żółw, 数学 und 😀\n".encode(),
        "predictions/vllm api/größe 数学.jsonl": b'{"a": 1}\n' * 9,
        ".hidden/.state": b"kept",
        "logs/empty.log": b"",
        "logs/binary": bytes(range(256)) * 64,
    }
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / "nothing" / "in here").mkdir(parents=True)
    return folder


@pytest.fixture(scope="session")
def packages() -> Path:
    return node.installed()
