"""`diagnose --bisect` over images: the first one whose server answers otherwise is named."""

import io
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.e2e import command
from tests.integration.container.tools import ADAPTER_IMAGE, EXAMPLE, ROOT
from tests.waiting import free_port

if TYPE_CHECKING:
    from docker import DockerClient

FAULTS = ("healthy", "healthy", "no such fault", "healthy", "one layer left out", "one layer left out")
"""What the server of each image does, the oldest first; one does not start."""


@pytest.fixture
def images(client: "DockerClient") -> Iterator[list[str]]:
    """They differ in a variable alone."""
    name = f"model-accuracy-eval-test-{secrets.token_hex(4)}"
    found = []
    for number, fault in enumerate(FAULTS):
        found.append(f"{name}:{number}")
        text = f"FROM {ADAPTER_IMAGE}\nENV FAULT='{fault}'\n"
        client.images.build(fileobj=io.BytesIO(text.encode()), tag=found[-1], rm=True, forcerm=True)
    yield found
    for image in found:
        client.images.remove(image, force=True)


@pytest.mark.slow
def test_the_first_bad_image_is_found(images: list[str], tmp_path: Path) -> None:
    adapter = tmp_path / "adapter"
    shutil.copytree(EXAMPLE / "tinyserver", adapter / "tinyserver")
    shutil.copy(EXAMPLE / "server.py", adapter)
    (adapter / "broken").mkdir()
    shutil.copy(ROOT / "tests/servers/broken_adapter.py", adapter / "broken")
    (adapter / "deploy.sh").write_text(
        'PYTHONPATH=$PWD exec python3 broken/broken_adapter.py "$FAULT" "$MODEL_PATH" "$PORT"\n'
    )
    done = command.run(
        *("diagnose", adapter, "--bisect", ",".join(images), "--state", tmp_path / "search.json"),
        *("--model", command.WEIGHTS, "--port", free_port(), "--ready-timeout", 240),
    )
    assert done.code == 0, done.out + done.err
    assert f"First bad: {images[4]}. An innocent one" in done.out
    assert f"Next: compare what was built into {images[4]}." in done.out
    assert f"skip  {images[2]}: It does not start" in done.out
