"""Every fault of data is said in one sentence, with the right exit code, and nothing is kept that is not the file."""

import pytest
from docs import data_faults, generate


def test_the_page_of_faults_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make docs` would change nothing."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert (generate.FOLDER / "data-faults.md").read_text() == data_faults.page(generate.NOTE)
