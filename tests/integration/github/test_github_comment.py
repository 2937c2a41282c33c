"""The sticky comment: one, ours, found again, never a stranger's."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.integration.github.test_github_patience import SECONDARY
from tests.integration.github.tools import client, said
from tests.servers.fake_github import FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY

OURS = "github-actions[bot]"
MARK = "<!-- model-accuracy-eval: nightly -->"
OTHER = "<!-- model-accuracy-eval: weekly -->"
COMMENTS = f"/repos/{REPOSITORY}/issues/7/comments"


@pytest.mark.parametrize("login", ["ada", "release-robot[bot]", OURS])
def test_the_author_is_whoever_the_token_speaks_as(login: str) -> None:
    """A person's token, an app's and the workflow's own: each knows its comments from others'."""
    with FakeGitHub(login=login) as hub:
        strange = hub.comment("eve", f"{MARK}\nforged")
        for text in ("one", "two"):
            with client(hub) as github:
                github.upsert_comment(REPOSITORY, 7, MARK, said(text))
        assert hub.bodies(login) == [f"{MARK}\ntwo"]
        assert hub.comments[strange]["body"] == f"{MARK}\nforged"


def test_a_comment_deleted_in_between_is_written_anew() -> None:
    """Somebody deletes ours between the look and the edit."""
    with FakeGitHub() as hub, client(hub) as github:
        own = hub.comment(OURS, MARK)
        hub.fault("PATCH", f"/comments/{own}", 404, {"message": "Not Found"})
        github.upsert_comment(REPOSITORY, 7, MARK, said("text"))
        assert f"{MARK}\ntext" in hub.bodies(OURS)


def test_half_characters_are_replaced() -> None:
    """Models say lone surrogates and NUL; neither reaches GitHub."""
    with FakeGitHub() as hub, client(hub) as github:
        github.upsert_comment(REPOSITORY, 7, MARK, said("a\ud83d b\0 😀"))
        assert hub.bodies(OURS) == [f"{MARK}\na? b\N{REPLACEMENT CHARACTER} 😀"]


STEP = st.one_of(
    st.tuples(st.just("upsert"), st.sampled_from(["a", "b", f"quotes {MARK}", ""])),
    st.tuples(st.just("stranger"), st.sampled_from([f"{MARK}\nforged", MARK, "hello", f"x\n{MARK}"])),
    st.tuples(st.just("lost"), st.sampled_from(["carried_out", "not", "reset"])),
    st.tuples(st.just("limited"), st.just("")),
    st.tuples(st.just("deleted"), st.just("")),
    st.tuples(st.just("twin"), st.just("")),
)


def carry_out(hub: FakeGitHub, github: Any, kind: str, text: str) -> str | None:
    """One step; the text that ours must have after it."""
    own = [key for key, told in hub.comments.items() if told["user"] and told["user"]["login"] == OURS]
    if kind == "upsert":
        github.upsert_comment(REPOSITORY, 7, MARK, said(text))
        return text
    if kind == "stranger":
        hub.comment("eve" if len(text) % 2 else None, text)
    elif kind == "lost" and not hub.faults:  # more of them in a row than there are tries are a failure, told elsewhere
        how = {"how": "reset"} if text == "reset" else {"status": 502}
        hub.fault("POST", COMMENTS, carried_out=text == "carried_out", **how)
        hub.fault("PATCH", "/comments/", 502, carried_out=text != "not")
    elif kind == "limited" and not any(fault.status == 403 for fault in hub.faults):
        hub.fault("POST", COMMENTS, 403, SECONDARY)
    elif kind == "deleted" and own:
        del hub.comments[own[0]]
    elif kind == "twin" and own:
        hub.comment(OURS, f"{MARK}\ntwin")
    return None


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEP, max_size=8), page=st.integers(1, 4))
def test_any_sequence_leaves_one_comment_and_no_stranger_touched(steps: list[tuple[str, str]], page: int) -> None:
    """Lost answers, rate limits, deletions, twins of a race, forged markers: one comment is ours, the rest as it was."""
    with FakeGitHub() as hub, client(hub, patience=1e6) as github:
        hub.page = page
        strangers: dict[int, str] = {}
        for kind, text in [*steps, ("upsert", "last")]:
            told = carry_out(hub, github, kind, text)
            strangers |= {
                key: comment["body"]
                for key, comment in hub.comments.items()
                if key not in strangers and (comment["user"] or {}).get("login") != OURS
            }
            if told is not None:
                assert hub.bodies(OURS) == [f"{MARK}\n{told}"]
        assert {key: hub.comments[key]["body"] for key in strangers} == strangers


def test_a_quoted_marker_makes_no_comment_ours() -> None:
    """A marker below the first line, as in model output that another job of ours shows, is just text."""
    with FakeGitHub() as hub, client(hub) as github:
        github.upsert_comment(REPOSITORY, 7, OTHER, said(f"The model said:\n{MARK}"))
        github.upsert_comment(REPOSITORY, 7, MARK, said("mine"))
        assert hub.bodies(OURS) == [f"{OTHER}\nThe model said:\n{MARK}", f"{MARK}\nmine"]
