from collections.abc import Iterator

import pytest
from tests.servers.fake_hub import FakeHub


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[FakeHub]:
    with FakeHub() as server:
        yield server
