"""What is sent again and when: never blindly, never for ever, and not after a stop."""

import signal
import threading
import time
from typing import Any

import pytest
from tests.integration.github.tools import Naps, client, said
from tests.servers.fake_github import FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY, SHA

from model_accuracy_eval.errors import EvalError, PublishFailed, Stopped
from model_accuracy_eval.github.api import GitHubRest
from model_accuracy_eval.records.report import Annotation
from model_accuracy_eval.system.clock import SignalClock

SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}
PRIMARY = {"message": "API rate limit exceeded"}
USED_UP = {"x-ratelimit-limit": "1000", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "in 100 s"}
LOST: list[dict[str, Any]] = [{"status": 502}, {"how": "reset"}]


def say(github: GitHubRest) -> None:
    github.commit_status(REPOSITORY, SHA, state="success", context="accuracy", description="fine")


@pytest.mark.parametrize(
    ("status", "body", "headers", "pause"),
    [
        (429, {"message": "slow down"}, {"retry-after": "7"}, 7),
        (429, {"message": "slow down"}, {}, 60),
        (429, {"message": "slow down"}, USED_UP, 101),
        (403, SECONDARY, {"retry-after": "30"}, 30),
        (403, SECONDARY, {}, 60),
        (403, PRIMARY, USED_UP, 101),
        (429, PRIMARY, USED_UP | {"retry-after": "3"}, 3),
    ],
)
def test_rate_limits_are_obeyed(status: int, body: Any, headers: dict[str, str], pause: float) -> None:
    """A limited POST was not carried out, so it is repeated, after the pause that was asked for."""
    naps, reset = Naps(), {"x-ratelimit-reset": str(int(time.time() + 100))}
    with FakeGitHub() as hub, client(hub, naps=naps) as github:
        say(github)
        hub.fault("POST", "/statuses/", status, body, headers=headers | (reset if headers.keys() & reset else {}))
        say(github)
        assert len(hub.statuses) == 2
    assert naps.seconds == [pytest.approx(pause, rel=0.5)]


@pytest.mark.parametrize("moment", ["while it answers", "later"])
def test_a_stop_ends_the_wait_for_a_rate_limit(moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, though the reset is minutes away; with the real clock."""
    clock = SignalClock()
    with FakeGitHub() as hub, client(hub, naps=clock) as github:
        say(github)
        hub.fault("GET", "/permission", 429, {"message": "slow down"}, headers={"retry-after": "120"})
        send = hub._send

        def refuse(*answer: Any) -> None:
            stop = threading.Timer(0.2 if moment == "later" else 0, clock.stop, (signal.SIGTERM,))
            stop.start()
            if moment != "later":
                stop.join()
            send(*answer)

        monkeypatch.setattr(hub, "_send", refuse)
        with pytest.raises(Stopped):
            github.permission(REPOSITORY, "ada")
        assert sum("/permission" in call for call in hub.calls) == 1


@pytest.mark.parametrize("fault", [*LOST, {"status": 429, "headers": {"retry-after": "1"}}])
def test_nothing_is_repeated_after_a_stop(fault: dict[str, Any]) -> None:
    """How the run ended is told in a few seconds or not at all: when they are over, nothing is sent any more."""
    naps = Naps()
    with FakeGitHub() as hub, client(hub, naps=naps) as github:
        naps.stop(signal.SIGTERM)
        hub.fault("POST", "/statuses/", **fault)
        with pytest.raises(PublishFailed):
            say(github)
        assert len(hub.calls) == 1
        naps.seconds.append(4.0)
        with pytest.raises(PublishFailed, match="no time is left"):
            say(github)
        assert len(hub.calls) == 1


def test_a_silent_server_is_not_waited_for_after_a_stop() -> None:
    """Two seconds instead of a minute."""
    naps = Naps()
    with FakeGitHub() as hub, client(hub, naps=naps, timeout=60) as github:
        naps.stop(signal.SIGTERM)
        hub.fault("GET", "/permission", how="stall")
        with pytest.raises(PublishFailed, match="timed out"):
            github.permission(REPOSITORY, "ada")


@pytest.mark.parametrize("how", LOST)
@pytest.mark.parametrize("carried_out", [True, False])
def test_a_write_whose_answer_is_lost_is_not_done_twice(how: dict[str, Any], carried_out: bool) -> None:
    """Neither comment nor check nor annotation: what is there is looked for before anything is sent again."""
    with FakeGitHub() as hub, client(hub) as github:
        earlier = github.open_check(REPOSITORY, SHA, name="n", key="another run", title="t", summary="s")
        for method, path in (("POST", "/check-runs"), ("POST", "/comments"), ("PATCH", "/check-runs/")):
            hub.fault(method, path, carried_out=carried_out, **how)
        check = github.open_check(REPOSITORY, SHA, name="n", key="k", title="t", summary="s")
        address = github.upsert_comment(REPOSITORY, 7, "<!-- m -->", said("text"))
        github.complete_check(
            check, conclusion="failure", title="t", summary="s",
            annotation=Annotation(path="deploy.sh", line=1, message="m", title="t"),
        )  # fmt: skip
        assert set(hub.checks) == {earlier.id, check.id}
        assert [told["html_url"] for told in hub.comments.values()] == [address]
        assert len(hub.annotations[check.id]) == 1
        assert hub.checks[check.id]["conclusion"] == "failure"
        times = 1 if carried_out else 2
        assert [len(hub.sent("POST", path)) for path in ("/check-runs", "/comments")] == [times + 1, times]
        assert len(hub.sent("PATCH", "/check-runs/")) == times


def test_reads_are_repeated_with_growing_pauses() -> None:
    """Six times; then the status is told."""
    naps = Naps()
    with FakeGitHub() as hub, client(hub, naps=naps) as github:
        say(github)
        hub.fault("GET", "/permission", 503, times=99)
        with pytest.raises(PublishFailed, match=r"GitHub answered 503 six times when .* in acme/adapter:"):
            github.permission(REPOSITORY, "ada")
        assert len(hub.calls) == 1 + 6
    assert naps.seconds == [1.0, 2.0, 4.0, 8.0]


def test_all_waiting_together_is_bounded() -> None:
    """One patience for all calls: when it has ended, each further call is tried once."""
    naps = Naps()
    with FakeGitHub() as hub, client(hub, naps=naps) as github:
        say(github)
        hub.fault("POST", "/statuses/", 429, {"message": "x"}, headers={"retry-after": "50"}, times=99)
        for _ in range(4):
            with pytest.raises(PublishFailed, match=r"which asks for a pause of 50 s"):
                say(github)
        assert len(hub.calls) == 1 + 3 + 4
    assert naps.seconds == [50.0, 50.0, 50.0]


@pytest.mark.parametrize("fault", [*LOST, {"status": 503, "body": b"<html>"}, {"how": "stall"}])
def test_a_server_that_never_answered_is_asked_nothing_more(fault: dict[str, Any]) -> None:
    """After the tries of one request; all that was to be asked has one sentence. After one answer all time is given."""
    for answered in (False, True):
        with FakeGitHub() as hub, client(hub, timeout=1) as github:
            hub.permissions["ada"] = ("admin", "admin")
            if answered:
                github.permission(REPOSITORY, "ada")
            hub.fault("GET", "/permission", times=99, **fault)
            sentences = set()
            for _ in range(2):
                with pytest.raises(EvalError) as caught:
                    github.permission(REPOSITORY, "ada")
                sentences.add(caught.value.sentence)
            tries = 6 if "status" in fault else 3
            assert len(hub.calls) == (1 + 2 * tries if answered else tries)
            assert f"GitHub at {hub.url} gave no good answer in " in caught.value.sentence or answered
            assert len(sentences) == 1
