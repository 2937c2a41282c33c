"""A hub with one model, and short pauses."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.servers.fake_hub import Blob, FakeHub

from model_accuracy_eval.system.retry import HUB

QUICK = replace(HUB, base=0.01, cap=0.02, longest_retry_after=0.5)
NAME = "org/name"
LARGE = bytes(range(256)) * 8192  # 2 MiB, more than one piece
FILES = {
    "config.json": Blob(b'{"model_type": "toy"}'),
    "empty.txt": Blob(b""),
    "shards/one.safetensors": Blob(LARGE, large=True),
    "shards/two & more.bin": Blob(LARGE[::-1], large=True),
}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with FakeHub() as hub:
        hub.push(NAME, FILES)
        yield hub
