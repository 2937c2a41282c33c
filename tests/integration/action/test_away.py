"""GitHub is away or silent when it is needed: soon given up, told in one sentence, and the result stays on the machine."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.integration.action import tools
from tests.integration.action.tools import Stage
from tests.integration.github.tools import Naps, client
from tests.servers.fake_github import FakeGitHub

from model_accuracy_eval.records import Request
from model_accuracy_eval.run_folder.run_folder import RunFolder

AWAY = [{"how": "reset"}, {"status": 500}, {"how": "stall"}]


def leave(hub: FakeGitHub, how: dict[str, Any]) -> None:
    for method in ("GET", "POST", "PATCH"):
        hub.fault(method, "/", times=999, **how)


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> Naps:
    """The waits of the client that the step gets; its patience with silence is a second."""
    naps = Naps()
    monkeypatch.setattr(tools, "client", lambda hub: client(hub, naps=naps, timeout=1))
    return naps


@pytest.mark.parametrize("how", AWAY, ids=str)
def test_away_from_the_start(how: dict[str, Any], naps: Naps) -> None:
    """Given up after less than half a minute, before anything is asked of the model; the log has one sentence."""
    with FakeGitHub() as hub:
        leave(hub, how)
        stage = Stage(hub)
        assert stage.run() == 6
        warning, error = (line.split("::")[-1] for line in stage.log.getvalue().splitlines() if "::" in line)
        assert warning == error
        assert error.startswith(f"GitHub at {hub.url} gave no good answer in ")
    assert not stage.planned
    assert sum(naps.seconds) < 30


@pytest.mark.parametrize("how", AWAY, ids=str)
def test_away_when_all_is_to_be_told(how: dict[str, Any], naps: Naps, tmp_path: Path) -> None:
    """Exit 6 after bounded waiting, one error that names what was not told, and the whole report in its folder."""
    with FakeGitHub() as hub:
        stage = Stage(hub, {"open_store": lambda name: RunFolder(str(tmp_path / name))})

        def last(_request: Request, _choice: int) -> str:
            if not hub.faults:
                leave(hub, how)
            return "#### 1"

        stage.answer = last
        assert stage.run() == 6
        (error,) = (line for line in stage.log.getvalue().splitlines() if line.startswith("::error"))
    assert "complete check run" in error
    assert "comment on pull request 7" in error
    folder = next(tmp_path.rglob("run.json")).parent
    assert json.loads((folder / "run.json").read_text())["status"] == "passed"
    assert {"report.html", "manifest.sha256"} <= {path.name for path in folder.iterdir()}
    assert sum(naps.seconds) < 120
