"""What the tests of artifacts share."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.servers.artifact_service import ArtifactServer

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github.artifact_service import ArtifactService


class Client:
    """Our client of a server, and what it did besides sending: waits and masks."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.masks: list[str] = []

    def of(self, server: ArtifactServer, **environment: str) -> ArtifactService:
        return ArtifactService({**server.environment, **environment}, mask=self.masks.append, sleep=self.waits.append)


def tree(folder: Path) -> dict[str, bytes | None]:
    """Relative path → content; None for an empty folder."""
    found: dict[str, bytes | None] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
        elif not any(path.iterdir()):
            found[path.relative_to(folder).as_posix()] = None
    return found


def unzipped(data: bytes) -> dict[str, bytes | None]:
    """The same, of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {info.filename.rstrip("/"): None if info.is_dir() else archive.read(info) for info in archive.infolist()}


def refused(upload: Callable[[], object]) -> str:
    """The sentence of the refusal, which is one, and gives no secret away."""
    with pytest.raises(PublishFailed) as caught:
        upload()
    sentence = caught.value.sentence
    assert "MARKER" not in sentence
    assert sentence.endswith("."), sentence
    return sentence
