"""The file of a branch that several jobs add to: nothing is lost, nothing is forced, nothing is there twice."""

from collections.abc import Callable

import pytest
from tests.integration.github.tools import client
from tests.servers.fake_github import FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github.api import GitHubRest

WRITE = frozenset({"contents: write"})
PATH = "deep/accuracy history.jsonl"


def adding(line: bytes) -> Callable[[bytes], bytes]:
    return lambda before: b"" if line in before.splitlines() else line + b"\n"


def append(github: GitHubRest, line: bytes, branch: str = "history") -> bytes:
    return github.append_to_branch(REPOSITORY, branch, PATH, adding(line), message=f"Add {line.decode()}")


def test_a_branch_is_begun_and_added_to() -> None:
    """The first line makes a branch of its own with this file alone; the next ones follow; what is there is not added."""
    with FakeGitHub(grants=WRITE) as hub, client(hub) as github:
        assert append(github, b"one") == b"one\n"
        assert append(github, b"two") == b"one\ntwo\n"
        assert append(github, b"one") == b"one\ntwo\n"
        assert hub.branches == {"main": {}, "history": {PATH: b"one\ntwo\n"}}
        assert hub.messages == ["Add one", "Add two"]


def test_a_branch_that_is_there_keeps_its_other_files() -> None:
    """Also the default branch, if that is what the workflow names."""
    with FakeGitHub(grants=WRITE) as hub, client(hub) as github:
        hub.branches["main"] = {"README.md": b"hello", PATH: b"torn"}
        append(github, b"one", "main")
        assert hub.branches["main"] == {"README.md": b"hello", PATH: b"torn\none\n"}


def test_a_large_history_is_read_by_its_hash() -> None:
    """GitHub shows no content of files of more than a megabyte."""
    with FakeGitHub(grants=WRITE) as hub, client(hub) as github:
        hub.largest_content = 10
        for line in (b"a long first line", b"a second one", b"a third"):
            append(github, line)
        assert hub.branches["history"][PATH] == b"a long first line\na second one\na third\n"


@pytest.mark.parametrize("there", [False, True], ids=["no branch yet", "a branch"])
def test_who_was_slower_reads_again_and_adds_to_that(there: bool) -> None:
    """Another job writes between reading and writing, three times in a row."""
    with FakeGitHub(grants=WRITE) as hub, client(hub) as github:
        if there:
            hub.branches["history"] = {PATH: b"zero\n"}
        others = iter([b"x", b"y", b"z"])

        def faster() -> None:
            if line := next(others, b""):
                file = hub.branches.setdefault("history", {})
                file[PATH] = file.get(PATH, b"") + line + b"\n"

        hub.before_put = faster
        assert append(github, b"mine") == (b"zero\n" if there else b"") + b"x\ny\nz\nmine\n"


@pytest.mark.parametrize(("method", "path"), [("PUT", "/contents/"), ("POST", "/git/refs")])
def test_an_answer_that_is_lost_adds_no_second_line(method: str, path: str) -> None:
    """The change was carried out; asked again, it is there."""
    with FakeGitHub(grants=WRITE) as hub, client(hub) as github:
        if method == "PUT":
            hub.branches["history"] = {}
        hub.fault(method, path, status=502, carried_out=True)
        append(github, b"one")
        assert hub.branches["history"][PATH] == b"one\n"


def test_a_branch_that_never_rests_is_told_with_the_next_step() -> None:
    """After eight tries."""
    with FakeGitHub(grants=WRITE) as hub, client(hub) as github:
        hub.branches["history"] = {PATH: b""}

        def always_faster() -> None:
            hub.branches["history"][PATH] += b"x\n"

        hub.before_put = always_faster
        with pytest.raises(PublishFailed, match="changed by others 8 times .* history RUN --append FILE"):
            append(github, b"one")


def test_missing_rights_are_named() -> None:
    """A token that only reads, and a branch that may not be written to: the second is asked once, it is no race."""
    with FakeGitHub(grants=frozenset({"contents: read"})) as hub, client(hub) as github:
        hub.branches["history"] = {PATH: b"zero\n"}
        with pytest.raises(PublishFailed, match="the token lacks `contents: write`"):
            append(github, b"one")
    with FakeGitHub(grants=WRITE) as hub, client(hub) as github:
        hub.branches["history"] = {PATH: b"zero\n"}
        hub.protected.add("history")
        with pytest.raises(PublishFailed, match="Changes must be made through a pull request"):
            append(github, b"one")
        assert len(hub.sent("PUT", "/contents/")) == 1
