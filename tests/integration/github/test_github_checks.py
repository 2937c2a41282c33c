"""Check runs and commit statuses within GitHub's limits."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.integration.github.tools import client
from tests.servers.fake_github import FakeGitHub
from tests.servers.fake_github_memory import EVERYTHING, REPOSITORY, SHA

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github.api import GitHubRest
from model_accuracy_eval.github.text_limits import cut_bytes, cut_characters
from model_accuracy_eval.records.github import Annotation, CheckConclusion, OpenCheck, StatusState

POST = f"POST /repos/{REPOSITORY}/check-runs"


def opened(github: GitHubRest, key: str = "run 1") -> OpenCheck:
    return github.open_check(
        REPOSITORY, SHA, name="accuracy", key=key, title="Starting", summary="Soon.", details_url="https://x.example/1"
    )


def remarks(count: int) -> list[Annotation]:
    return [
        Annotation(path="deploy.sh", start_line=n, end_line=n, level="warning", message=f"remark {n}")
        for n in range(1, count + 1)
    ]


def test_a_check_lives_from_open_to_verdict() -> None:
    """In progress, told how far it is, completed with everything."""
    with FakeGitHub() as hub, client(hub) as github:
        check = opened(github)
        [told] = hub.checks.values()
        assert (told["status"], told["head_sha"], told["output"]["title"]) == ("in_progress", SHA, "Starting")
        assert check.url == told["html_url"]
        github.update_check(check, title="Half", summary="500 of 1000")
        assert (told["status"], told["output"]["summary"]) == ("in_progress", "500 of 1000")
        left = github.complete_check(
            check, conclusion="failure", title="Gate failed", summary="sum", text="text", annotations=remarks(2)
        )
        assert (told["status"], told["conclusion"], told["output"]["text"]) == ("completed", "failure", "text")
        assert [remark["message"] for remark in hub.annotations[check.id]] == ["remark 1", "remark 2"]
        assert left == ()


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
    """However many bytes a character has, summary and text fit, and say what is missing; the title is one line."""
    with FakeGitHub() as hub, client(hub) as github:
        long = f"{character * 99}\n" * 2_000
        github.complete_check(opened(github), conclusion="success", title=long, summary=long, text=long)
        [told] = [check["output"] for check in hub.checks.values()]
    assert 60_000 < len(told["summary"].encode()) <= 65_535
    assert f"of {len(long.encode()):,} bytes did not fit in GitHub's limit of 65,535." in told["text"]
    assert len(told["title"]) <= 255
    assert "\n" not in told["title"]


@pytest.mark.parametrize(("count", "patches"), [(0, 1), (1, 1), (50, 1), (51, 2), (149, 3)])
def test_annotations_go_out_fifty_at_a_time(count: int, patches: int) -> None:
    """The verdict is in the first request; all annotations arrive, in order, once."""
    with FakeGitHub() as hub, client(hub) as github:
        check = opened(github)
        github.complete_check(check, conclusion="success", title="t", summary="s", annotations=remarks(count))
        assert [remark["start_line"] for remark in hub.annotations[check.id]] == list(range(1, count + 1))
        assert sum(call.startswith("PATCH") for call in hub.calls) == patches


@pytest.mark.parametrize("carried_out", [True, False])
def test_annotations_are_not_doubled_by_a_lost_answer(carried_out: bool) -> None:
    """They add up at GitHub, so the count is looked at before they are sent again."""
    with FakeGitHub() as hub, client(hub) as github:
        check = opened(github)
        hub.fault("PATCH", "/check-runs/", 502, carried_out=carried_out)
        github.complete_check(check, conclusion="success", title="t", summary="s", annotations=remarks(60))
        assert len(hub.annotations[check.id]) == 60


def test_missing_annotations_do_not_undo_the_verdict() -> None:
    """When later annotations are refused, the check is complete and a sentence tells what is missing."""
    with FakeGitHub() as hub, client(hub) as github:
        check = opened(github)
        github.complete_check(check, conclusion="success", title="t", summary="s")
        hub.fault("PATCH", "/check-runs/", 200, {})
        hub.fault("PATCH", "/check-runs/", 422, {"message": "Validation Failed", "errors": ["bad path."]})
        [left] = github.complete_check(check, conclusion="success", title="t", summary="s", annotations=remarks(60))
    assert left.startswith("10 of 60 annotations are missing. GitHub refused to complete check run")
    assert left.endswith("(HTTP 422: Validation Failed): bad path.")


@pytest.mark.parametrize("how", [{"status": 502}, {"how": "reset"}])
@pytest.mark.parametrize("carried_out", [True, False])
def test_a_check_is_opened_once(how: dict[str, Any], carried_out: bool) -> None:
    """An opening whose answer was lost is found by its key; another run's check of the same name is not taken."""
    with FakeGitHub() as hub, client(hub) as github:
        earlier = opened(github, "run 0")
        hub.fault("POST", "/check-runs", carried_out=carried_out, **how)
        check = opened(github, "run 1")
        assert check.id != earlier.id
        assert sorted(hub.checks) == [earlier.id, check.id]


def test_progress_is_not_waited_for() -> None:
    """A progress report that fails is tried once."""
    with FakeGitHub() as hub, client(hub) as github:
        check = opened(github)
        hub.fault("PATCH", "/check-runs/", 502)
        with pytest.raises(
            PublishFailed, match=r"was not able to update check run \d+ in acme/adapter: HTTP 502 \(1 try"
        ):
            github.update_check(check, title="t", summary="s")


def test_a_fork_may_neither_check_nor_comment() -> None:
    """A read-only token's refusals name the permission and the fork; the status is refused apart from the check."""
    with FakeGitHub(grants=frozenset()) as hub, client(hub) as github:
        with pytest.raises(PublishFailed) as check:
            opened(github)
        with pytest.raises(PublishFailed, match="`pull-requests: write`"):
            github.upsert_comment(REPOSITORY, 7, "<!-- m -->", "x")
        with pytest.raises(PublishFailed, match="`statuses: write`"):
            github.commit_status(REPOSITORY, SHA, state="pending", context="c", description="d")
    assert check.value.sentence == (
        f"GitHub refused to open the check 'accuracy' on commit {SHA[:12]} in acme/adapter (HTTP 403: Resource not "
        "accessible by integration): the token lacks `checks: write`; add it under `permissions:` of the job. Runs for "
        "a fork's pull request only get to read."
    )


def test_a_status_stands_in_for_a_refused_check() -> None:
    """Without `checks: write` a status can still be set, with its description cut at 140 characters."""
    with FakeGitHub(grants=EVERYTHING - {"checks: write"}) as hub, client(hub) as github:
        with pytest.raises(PublishFailed):
            opened(github)
        hub.fault("POST", "/statuses/", 502)
        github.commit_status(
            REPOSITORY, SHA, state="failure", context="accuracy", description="数" * 200, target_url="https://x.example"
        )
        [told] = hub.statuses
    assert (told["sha"], told["description"]) == (SHA, "数" * 139 + "…")


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


@pytest.mark.parametrize("opening", ["```python\n", "~~~~\n", "<details><summary>x</summary>\n\n", "<details>\n```\n"])
def test_a_cut_closes_what_was_open(opening: str) -> None:
    """The notice stands outside of code blocks and folded sections."""
    cut = cut_bytes(opening + "line\n" * 1_000, 2_000)
    before, found, _ = cut.partition("… cut here")
    assert found
    assert before.count("<details>") == before.count("</details>")
    assert before.count("```") % 2 == before.count("~~~~") % 2 == 0
