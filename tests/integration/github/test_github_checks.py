"""Check runs and commit statuses within GitHub's limits."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.integration.github.tools import client, said
from tests.servers.fake_github import FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY, SHA

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github.api import GitHubRest
from model_accuracy_eval.github.checks import cut_bytes, cut_characters
from model_accuracy_eval.records.report import Annotation, CheckConclusion, OpenCheck, StatusState

POST = f"POST /repos/{REPOSITORY}/check-runs"


def opened(github: GitHubRest, key: str = "run 1") -> OpenCheck:
    return github.open_check(
        REPOSITORY, SHA, name="accuracy", key=key, title="Starting", summary="Soon.", details_url="https://x.example/1"
    )


def test_a_check_lives_from_open_to_verdict() -> None:
    """In progress, completed with everything."""
    with FakeGitHub() as hub, client(hub) as github:
        check = opened(github)
        [told] = hub.checks.values()
        assert (told["status"], told["head_sha"], told["output"]["title"]) == ("in_progress", SHA, "Starting")
        assert check.url == told["html_url"]
        remark = Annotation(path="deploy.sh", line=1, message="a remark", title="Failed")
        github.complete_check(check, conclusion="failure", title="Gate failed", summary="sum", annotation=remark)
        assert (told["status"], told["conclusion"], told["output"]["summary"]) == ("completed", "failure", "sum")
        assert [remark["message"] for remark in hub.annotations[check.id]] == ["a remark"]


@pytest.mark.parametrize("conclusion", get_args(CheckConclusion))
def test_every_conclusion_is_one_that_github_takes(conclusion: CheckConclusion) -> None:
    """Each of our conclusions is in the published list."""
    with FakeGitHub() as hub, client(hub) as github:
        github.complete_check(opened(github), conclusion=conclusion, title="t", summary="s")
        assert [check["conclusion"] for check in hub.checks.values()] == [conclusion]


@pytest.mark.parametrize("state", get_args(StatusState))
def test_every_state_is_one_that_github_takes(state: StatusState) -> None:
    """Each of our states of a commit is in the published list."""
    with FakeGitHub() as hub, client(hub) as github:
        github.commit_status(REPOSITORY, SHA, state=state, context="accuracy", description="d")
        assert [status["state"] for status in hub.statuses] == [state]


@pytest.mark.parametrize("character", ["x", "é", "数", "😀"])
def test_long_texts_are_cut_by_bytes(character: str) -> None:
    """However many bytes a character has, the summary fits, and says what is missing; the title is one line."""
    with FakeGitHub() as hub, client(hub) as github:
        long = f"{character * 99}\n" * 2_000
        github.complete_check(opened(github), conclusion="success", title=long, summary=long)
        [told] = [check["output"] for check in hub.checks.values()]
    assert 60_000 < len(told["summary"].encode()) <= 65_535
    assert len(told["title"]) <= 255
    assert "\n" not in told["title"]


def test_a_fork_may_neither_check_nor_comment() -> None:
    """A read-only token's refusals name the permission and the fork; the status is refused apart from the check."""
    with FakeGitHub(grants=frozenset()) as hub, client(hub) as github:
        with pytest.raises(PublishFailed) as check:
            opened(github)
        with pytest.raises(PublishFailed, match="`pull-requests: write`"):
            github.upsert_comment(REPOSITORY, 7, "<!-- m -->", said("x"))
        with pytest.raises(PublishFailed, match="`statuses: write`"):
            github.commit_status(REPOSITORY, SHA, state="pending", context="c", description="d")
    assert check.value.sentence == (
        f"GitHub refused to open the check 'accuracy' on commit {SHA[:12]} in acme/adapter (HTTP 403: Resource not "
        "accessible by integration): the token lacks `checks: write`; add it under `permissions:` of the job. Runs for "
        "a fork's pull request only get to read."
    )


@given(text=st.text(max_size=3_000), limit=st.integers(3, 2_000))
def test_cut_text_fits_and_is_kept_when_it_fits(text: str, limit: int) -> None:
    """Never more bytes than allowed, never a half character, never a cut without need."""
    cut = cut_bytes(text, limit)
    assert len(cut.encode()) <= limit
    if len(text.encode("utf-8", "replace")) <= limit:
        assert (
            cut == text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}") or "\0" in text
        )
    assert len(cut_characters(text, 20)) <= 20
