"""What the check shows while a run is under way, and that its verdict has the last word."""

import asyncio
import threading
from itertools import pairwise

import pytest
from tests.integration.action.tools import Stage
from tests.integration.github.tools import client, requester
from tests.servers.fake_github import FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY, SHA
from tests.servers.http import Exchange
from tests.waiting import until

from model_accuracy_eval.github.checks import CheckProgress
from model_accuracy_eval.records import Request


def titles(stage: Stage) -> list[str]:
    return [body["output"]["title"] for body in stage.patches]


def told_first(stage: Stage) -> None:
    """Answers come only after the check was told how far things are."""

    def answer(request: Request, _choice: int) -> str:
        if request.max_tokens > 1:  # not the probe
            until(lambda: "demo_gsm8k: 0 of 20 answered" in titles(stage), "progress on the check")
        return "#### 1"

    stage.answer, stage.interval = answer, 0.01


def test_the_check_shows_how_far_the_run_is() -> None:
    """Progress goes out while requests are answered, the completion comes last, and nothing after it."""
    with FakeGitHub() as hub:
        stage = Stage(hub)
        told_first(stage)
        assert stage.run() == 0
        *before, last = stage.patches
        assert all("conclusion" not in body for body in before)
        assert (last["status"], last["conclusion"]) == ("completed", "success")
        assert stage.check["output"]["title"].startswith("Passed")
        assert "check-progress" not in {thread.name for thread in threading.enumerate()}


def test_nothing_new_is_not_told_again() -> None:
    """The same state is sent once, however often the thread looks."""
    with FakeGitHub() as hub:
        stage = Stage(hub)
        told_first(stage)
        stage.run()
        before = [(body["output"]["title"], body["output"]["summary"]) for body in stage.patches]
        assert all(one != other for one, other in pairwise(before))


@pytest.mark.parametrize("fault", [{"status": 502}, {"status": 403, "body": {"message": "no"}}, {"how": "reset"}])
def test_trouble_with_progress_is_told_once(fault: dict[str, object]) -> None:
    """One try, one warning, no progress from then on; the run and its verdict are as they would have been."""
    with FakeGitHub() as hub:
        stage = Stage(hub)

        def answer(request: Request, _choice: int) -> str:
            if request.max_tokens > 1:
                until(lambda: "shows no progress" in stage.log.getvalue(), "the warning")
            return "#### 1"

        stage.answer, stage.interval = answer, 0.01
        hub.fault("PATCH", "/check-runs/", **fault)  # type: ignore[arg-type]
        assert stage.run() == 0
        assert stage.log.getvalue().count("::warning::The check shows no progress from now on: ") == 1
        assert "gave no good answer" not in stage.log.getvalue()
        assert len(stage.patches) == 2
        assert stage.check["conclusion"] == "success"


class SlowGitHub(FakeGitHub):
    """Sits on progress until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.held, self.let_go = threading.Event(), threading.Event()

    async def _handle(self, exchange: Exchange) -> None:
        if exchange.method == "PATCH":
            self.held.set()
            await asyncio.to_thread(self.let_go.wait)
        await super()._handle(exchange)


def test_the_verdict_waits_for_progress_that_is_under_way() -> None:
    """Or it would be overwritten."""
    hub = SlowGitHub()
    with hub, client(hub) as github:
        check = github.open_check(REPOSITORY, SHA, name="n", key="k", title="t", summary="s")
        progress = CheckProgress(lambda: requester(hub, patience=0), lambda: ("half", "way"), print, interval=0.01)
        progress.start(check)
        until(hub.held.is_set, "progress that is held back")
        stopper = threading.Thread(target=progress.stop)
        stopper.start()
        until(progress._stopped.is_set, "the stop")
        assert stopper.is_alive()
        hub.let_go.set()
        stopper.join()
        assert [told["output"]["title"] for told in hub.checks.values()] == ["half"]


def test_without_a_check_there_is_no_progress() -> None:
    """A job that wants no check, or may write none, sends no progress either."""
    with FakeGitHub(grants=frozenset({"pull-requests: write", "statuses: write"})) as hub:
        stage = Stage(hub, interval=0.01)
        stage.run()
        assert stage.patches == []
        assert [told["state"] for told in hub.statuses] == ["pending", "success"]
