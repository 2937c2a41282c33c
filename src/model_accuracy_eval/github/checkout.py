"""Resolves a ref of an adapter repository once, and checks out that commit with git.

The token is in no file and on no command line.
"""

import base64
import contextlib
import re
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from model_accuracy_eval.errors import PublishFailed, Refused
from model_accuracy_eval.records.report import is_commit

_POLL_SECONDS = 0.1
_SILENCE_SECONDS = 30
"""git itself waits for a silent server for ever."""
_PAUSES = (1.0, 4.0)
"""Seconds between the tries of a command whose server was away."""
_AWAY = re.compile(r"returned error: (5\d\d|429)|Could not resolve|Failed to connect|Couldn't connect|timed out")


class CheckoutSource(NamedTuple):
    """A repository and what of it is wanted; `server` and `repository` make the URL."""

    server: str
    repository: str
    submodules: bool = False
    lfs: bool = False

    @property
    def url(self) -> str:
        return f"{self.server.rstrip('/')}/{self.repository}"


class Git:
    """git in one folder, with credentials only in its environment. `check` may raise to end a command."""

    def __init__(
        self,
        folder: str,
        environment: Mapping[str, str],
        *,
        server: str = "",
        token: str = "",
        check: Callable[[], None] = lambda: None,
        wait: Callable[[float], object] = time.sleep,
        silence: int = _SILENCE_SECONDS,
    ) -> None:
        self.folder = folder
        self._token = token
        self._check = check
        self._wait = wait
        no_prompts = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C"}
        silent = {"GIT_HTTP_LOW_SPEED_LIMIT": "1", "GIT_HTTP_LOW_SPEED_TIME": str(silence)}
        # A repository around the folder must not lend its configuration, nor a home that earlier steps can write.
        alone = {"GIT_CEILING_DIRECTORIES": str(Path(folder).resolve().parent), "GIT_CONFIG_GLOBAL": "/dev/null"}
        self._environment = {**environment, **no_prompts, **silent, **alone, **_credentials(server, token)}

    def __call__(self, *arguments: str) -> str:
        """What git printed on stdout. `Refused` with the reason when it fails; `PublishFailed` when the server was
        away three times."""
        for pause in (*_PAUSES, None):
            code, stdout, stderr = self._run(["git", *arguments])
            if not code:
                return stdout
            if not (away := _AWAY.search(stderr)):
                raise Refused(f"git {arguments[0]} failed: {_reason(stderr, self._token)}", detail=stderr.strip())
            if pause is None:
                said = f"GitHub answered {away[1]}" if away[1] else _reason(stderr, self._token).rstrip(".")
                raise PublishFailed(
                    f"git {arguments[0]} failed: {said} three times; run it again later.", detail=stderr.strip()
                )
            self._wait(pause)
        raise AssertionError("the last try returns or raises")

    def _run(self, command: list[str]) -> tuple[int, str, str]:
        with subprocess.Popen(  # noqa: S603 - a list; refs and addresses cannot be taken for options, see `check_out`
            command,
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as process:
            try:
                while True:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        stdout, stderr = process.communicate(timeout=_POLL_SECONDS)
                        return process.returncode, stdout, stderr
                    self._check()
            except BaseException:
                process.kill()
                raise


def _credentials(server: str, token: str) -> dict[str, str]:
    """Configuration by environment variables; the header is sent to that server only."""
    if not token:
        return {}
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{server.rstrip('/')}/.extraheader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}",
    }


def _reason(stderr: str, token: str) -> str:
    """The line of stderr that says why git failed."""
    if "Authentication failed" in stderr or "could not read Username" in stderr:
        return "the server asks for credentials; give a token that may read the repository (contents: read)."
    lines = [line for line in stderr.strip().splitlines() if line]
    reasons = [line for line in lines if line.startswith(("fatal:", "error:", "remote:"))]
    line = (reasons or lines or ["it printed no reason"])[-1].removeprefix("fatal: ")
    line = (line.replace(token, "***") if token else line).rstrip(".")
    hidden = re.search(r"^repository .* not found$|returned error: 40[34]$", line)
    return f"{line}: it does not exist, or the token may not read it (contents: read)." if hidden else f"{line}."


def check_out(git: Git, source: CheckoutSource, commit: str) -> str:
    """Fetches one commit, without history, into git's folder; returns the hash of its tree."""
    _refuse_options(source.repository)
    if not is_commit(commit):
        raise Refused(f"'{commit}' is not the full id of a commit.")
    Path(git.folder).mkdir(parents=True, exist_ok=True)
    if any(Path(git.folder).iterdir()):
        raise Refused(f"The folder {git.folder} for the adapter is not empty.")
    git("init", "--quiet")
    git("fetch", "--quiet", "--depth=1", "--no-tags", source.url, commit)
    git("checkout", "--quiet", "--detach", commit)
    if source.submodules:
        git("submodule", "--quiet", "update", "--init", "--recursive", "--depth=1")
    if source.lfs:
        _pull_lfs(git, source)
    head, tree = git("rev-parse", "HEAD", "HEAD^{tree}").split()
    if head != commit:
        raise Refused(f"Commit {commit} of {source.repository} was asked for, and git checked out {head}.")
    return tree


def resolve(git: Git, source: CheckoutSource, ref: str) -> str:
    """The commit that a branch, a tag or HEAD (the empty ref) stands for at this moment.

    A name that is a branch and a tag of different commits is refused: whoever can push a tag could otherwise choose
    what is evaluated as the branch.
    """
    if is_commit(ref):
        return ref
    _refuse_options(source.repository, ref)
    ref = ref or "HEAD"
    lines = git("ls-remote", source.url, ref, f"{ref}^{{}}").splitlines()
    commits = {name: commit for commit, _, name in (line.partition("\t") for line in lines)}
    branch = commits.get(f"refs/heads/{ref}")
    tag = commits.get(f"refs/tags/{ref}^{{}}") or commits.get(f"refs/tags/{ref}")
    if branch and tag and branch != tag:
        raise Refused(
            f"'{ref}' is a branch of {source.repository} at {branch} and a tag at {tag}; say which one is meant: "
            f"refs/heads/{ref}, refs/tags/{ref}, or the full commit."
        )
    commit = branch or tag or commits.get(f"{ref}^{{}}") or commits.get(ref)
    if not commit:
        raise Refused(f"{source.repository} has no branch or tag '{ref}', and it is not the full id of a commit.")
    return commit


def _refuse_options(*names: str) -> None:
    """Refuses names that git would take for options."""
    if any(name.startswith("-") for name in names):
        raise Refused(f"'{'@'.join(names)}' is not a repository and ref.")


def _pull_lfs(git: Git, source: CheckoutSource) -> None:
    try:
        git("lfs", "version")
    except Refused as refusal:
        raise Refused("The adapter's LFS files are wanted, but git-lfs is not installed on this machine.") from refusal
    git("lfs", "pull", source.url)
