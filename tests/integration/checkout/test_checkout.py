"""The adapter at the commit under test, over git's own HTTP protocol."""

import os
import socket
import subprocess
from pathlib import Path

import pytest
from tests.servers.git_server import git_server

from model_accuracy_eval.errors import PublishFailed, Refused, Stopped
from model_accuracy_eval.github.checkout import CheckoutSource, Git, check_out, resolve

TOKEN = "marker-token-0123456789"


def run_git(folder: Path, *arguments: str) -> str:
    author = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"]
    done = subprocess.run(["git", *author, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, list[str]]:
    """`org/adapter` below a root, with two commits on main, an annotated tag on the first, and a branch."""
    folder = tmp_path / "served" / "org" / "adapter"
    folder.mkdir(parents=True)
    run_git(folder, "init", "-q", "-b", "main")
    run_git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    commits = []
    for number in (1, 2):
        (folder / "deploy.sh").write_text(f"echo {number}\n")
        run_git(folder, "add", ".")
        run_git(folder, "commit", "-qm", f"number {number}")
        commits.append(run_git(folder, "rev-parse", "HEAD"))
    run_git(folder, "tag", "-am", "first", "v1", commits[0])
    run_git(folder, "branch", "side", commits[0])
    return tmp_path / "served", commits


def fetched(root: Path, ref: str, target: Path, token: str = "", wanted: str | None = None) -> tuple[str, list[str]]:
    """The commit that the ref stands for, checked out, and what the server saw."""
    target.mkdir(exist_ok=True)
    with git_server(root, wanted) as (url, seen):
        git, source = Git(str(target), os.environ, server=url, token=token), CheckoutSource(url, "org/adapter")
        commit = resolve(git, source, ref)
        assert check_out(git, source, commit) == run_git(target, "rev-parse", "HEAD^{tree}")
        return commit, seen


@pytest.mark.parametrize(
    ("ref", "number"),
    [("main", 2), ("side", 1), ("v1", 1), ("", 2), ("HEAD", 2), ("refs/heads/side", 1), ("refs/tags/v1", 1)],
)
def test_names_are_resolved_to_their_commit(
    ref: str, number: int, repository: tuple[Path, list[str]], tmp_path: Path
) -> None:
    """A branch, an annotated tag and the default branch each give the commit they mean, and its files."""
    root, commits = repository
    commit, _ = fetched(root, ref, tmp_path / "out")
    assert commit == commits[number - 1]
    assert (tmp_path / "out" / "deploy.sh").read_text() == f"echo {number}\n"


@pytest.mark.parametrize("options", [["-am", "annotated"], []])
def test_a_tag_cannot_pass_for_a_branch(options: list[str], repository: tuple[Path, list[str]], tmp_path: Path) -> None:
    """A tag named like a branch is refused with both commits, and the full name of either says which one is meant."""
    root, commits = repository
    run_git(root / "org" / "adapter", "tag", *options, "main", commits[0])
    with pytest.raises(Refused, match=f"is a branch of org/adapter at {commits[1]} and a tag at {commits[0]}"):
        fetched(root, "main", tmp_path / "out")
    assert fetched(root, "refs/heads/main", tmp_path / "branch")[0] == commits[1]
    assert fetched(root, "refs/tags/main", tmp_path / "tag")[0] == commits[0]


def test_an_exact_commit_is_fetched_though_the_branch_has_moved(
    repository: tuple[Path, list[str]], tmp_path: Path
) -> None:
    """The sha under test is what is checked out, without history."""
    root, commits = repository
    commit, _ = fetched(root, commits[0], tmp_path / "out")
    assert commit == commits[0]
    assert run_git(tmp_path / "out", "rev-list", "--count", "HEAD") == "1"


def test_the_token_is_sent_and_stays_nowhere(repository: tuple[Path, list[str]], tmp_path: Path) -> None:
    """The server gets it as basic credentials; no file of the check-out holds it in any form."""
    root, _ = repository
    _, seen = fetched(root, "main", tmp_path / "out", TOKEN, wanted=TOKEN)
    encoded = seen[-1].split()[1].encode()
    kept = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if TOKEN.encode() in path.read_bytes() or encoded in path.read_bytes()]


@pytest.mark.parametrize(
    ("ref", "token", "sentence"),
    [
        ("main", "", "give a token that may read the repository"),
        ("main", "wrong", "give a token that may read the repository"),
        ("no-such", TOKEN, "org/adapter has no branch or tag 'no-such', and it is not the full id of a commit."),
        ("0" * 40, TOKEN, "git fetch failed: "),
    ],
)
def test_refusals_have_their_sentence(
    ref: str, token: str, sentence: str, repository: tuple[Path, list[str]], tmp_path: Path
) -> None:
    """No token, a wrong one, an unknown name, an unknown commit: exit code 3, and the token is not repeated."""
    with pytest.raises(Refused) as caught:
        fetched(repository[0], ref, tmp_path / "out", token, wanted=TOKEN)
    assert sentence in caught.value.sentence
    assert TOKEN not in caught.value.sentence + caught.value.detail


def test_submodules_come_on_request(repository: tuple[Path, list[str]], tmp_path: Path) -> None:
    """`submodules` brings the files of the repositories inside."""
    root, _ = repository
    with git_server(root) as (url, _):
        outer = root / "org" / "outer"
        outer.mkdir()
        run_git(outer, "init", "-q", "-b", "main")
        run_git(outer, "submodule", "--quiet", "add", f"{url}/org/adapter", "inner")
        run_git(outer, "commit", "-qm", "outer")
        target = tmp_path / "out"
        target.mkdir()
        git, source = Git(str(target), os.environ), CheckoutSource(url, "org/outer", submodules=True)
        check_out(git, source, resolve(git, source, "main"))
    assert (tmp_path / "out" / "inner" / "deploy.sh").read_text() == "echo 2\n"


def test_a_stop_ends_git(repository: tuple[Path, list[str]], tmp_path: Path) -> None:
    """What `check` raises while git waits for a silent server ends it and goes on."""

    def stop() -> None:
        raise Stopped(15, "SIGTERM")

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(Stopped):
            resolve(Git(str(tmp_path), os.environ, check=stop), CheckoutSource(url, "org/adapter"), "main")


def test_a_silent_server_is_given_up(tmp_path: Path) -> None:
    """git alone would wait for ever; how long it waits is told."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(Refused, match=r"git ls-remote failed: unable to access .*Operation too slow"):
            resolve(Git(str(tmp_path), os.environ, silence=1), CheckoutSource(url, "org/adapter"), "main")


@pytest.mark.parametrize("status", [500, 503, 429])
def test_an_outage_is_tried_three_times_and_refuses_nobody(
    status: int, repository: tuple[Path, list[str]], tmp_path: Path
) -> None:
    """A server that comes back is no failure; one that does not is exit code 6 and not 3."""
    ahead, waits = [status, status], list[float]()
    with git_server(repository[0], hidden=lambda: ahead.pop() if ahead else 0) as (url, _):
        git, source = Git(str(tmp_path), os.environ, wait=waits.append), CheckoutSource(url, "org/adapter")
        assert resolve(git, source, "main") == repository[1][1]
        ahead += [status, status, status]
        with pytest.raises(PublishFailed, match=f"git ls-remote failed: GitHub answered {status} three times"):
            resolve(git, source, "main")
    assert len(waits) == 4


def test_a_folder_with_something_in_it_is_left_alone(repository: tuple[Path, list[str]], tmp_path: Path) -> None:
    """Files of an earlier run are never mixed into this one."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("")
    with pytest.raises(Refused, match="is not empty"):
        fetched(repository[0], "main", tmp_path / "out")
