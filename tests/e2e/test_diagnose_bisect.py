"""`diagnose --bisect` over a real repository whose commits are deployed, and over images."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.e2e import command
from tests.e2e.broken import script
from tests.waiting import free_port

COMMITS, BROKEN, NOISY, FIRST_BAD = 18, 8, 9, 12


def git(folder: Path, *words: str) -> str:
    named = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    return subprocess.run(["git", *named, *words], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter in a folder of it. One commit does not start, one garbles some replies until the next one, and from one
    on the temperature is halved, which raises every figure."""
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "--quiet")
    (folder / "serving").mkdir()
    for number in range(COMMITS):
        fault = "temperature halved" if number >= FIRST_BAD else "healthy"
        text = script(f"'{'one reply in thirty garbled' if number == NOISY else fault}'")
        text = "echo no such part; exit 3\n" if number == BROKEN else text
        (folder / "serving/deploy.sh").write_text(f"# {number}\n{text}")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", f"Change {number}")
    return folder


def searched(adapter: Path, words: str, state: Path) -> command.Done:
    return command.run(
        *("diagnose", adapter, "--bisect", words, "--state", state, "--model", command.WEIGHTS),
        *("--port", free_port(), "--ready-timeout", 240),
    )


@pytest.mark.slow
def test_the_commit_is_found_and_a_search_that_was_stopped_goes_on(repository: Path, tmp_path: Path) -> None:
    state = tmp_path / "search.json"
    before = git(repository, "status", "--porcelain=v2", "--branch")
    done = searched(repository / "serving", f"HEAD~{COMMITS - 1}..HEAD", state)
    assert done.code == 0, done.out + done.err
    first = git(repository, "log", "--format=%H", "--grep", f"Change {FIRST_BAD}$").strip()
    assert f"First bad: {first[:12]} Change {FIRST_BAD}." in done.out
    assert "drawn with seeds" in done.out
    assert done.out.count("Starting") == 0
    kept = json.loads(state.read_bytes())
    states = {git(repository, "log", "-1", "--format=%s", name).strip(): each["state"]
              for name, each in kept["verdicts"].items()}  # fmt: skip
    assert states[f"Change {NOISY}"] == "good"
    assert states[f"Change {BROKEN}"] == "skip"
    assert len(states) <= 2 + 6
    # Stopped before its last look.
    last = list(kept["verdicts"])[-1]
    del kept["verdicts"][last]
    state.write_text(json.dumps(kept))
    again = searched(repository / "serving", f"HEAD~{COMMITS - 1}..HEAD", state)
    assert again.code == 0, again.out + again.err
    assert f"First bad: {first[:12]}" in again.out
    assert again.err.count("Starting ") == 1
    assert git(repository, "status", "--porcelain=v2", "--branch") == before


@pytest.mark.slow
def test_commits_beside_the_first_bad_one_that_do_not_start_are_named_with_it(repository: Path, tmp_path: Path) -> None:
    """From the commit before the one that does not start to a bad one behind it, through a merge of nothing else."""
    good, broken, bad = (
        git(repository, "log", "--format=%H", "--grep", f"Change {number}$").strip()
        for number in (BROKEN - 1, BROKEN, FIRST_BAD)
    )
    git(repository, "checkout", "--quiet", "--detach", broken)
    git(repository, "checkout", "--quiet", bad, "--", "serving/deploy.sh")
    git(repository, "commit", "--quiet", "--message", "All at once")
    tip = git(repository, "rev-parse", "HEAD").strip()
    git(repository, "checkout", "--quiet", "-")
    done = searched(repository / "serving", f"{good}..{tip}", tmp_path / "search.json")
    assert done.code == 7, done.out + done.err
    assert "no such part" in done.out
    assert "The first bad one is one of 2, as 1 could not be judged" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("HEAD", "--bisect takes GOOD..BAD, or images with commas"),
        ("HEAD..HEAD~2", "the good one has to come first"),
        ("nowhere..HEAD", "git log failed"),
    ],
)
def test_what_is_no_line_of_commits_is_told(repository: Path, words: str, said: str, tmp_path: Path) -> None:
    done = searched(repository / "serving", words, tmp_path / "search.json")
    assert done.code in {2, 3}
    assert said in done.err
