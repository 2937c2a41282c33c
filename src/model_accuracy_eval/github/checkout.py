"""Checks out an adapter repository at one commit with git; the token is in no file and on no command line."""

import base64
import contextlib
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from model_accuracy_eval.errors import Refused

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_POLL_SECONDS = 0.1


class CheckoutSource(NamedTuple):
    """What is checked out: `server` and `repository` make the URL, `ref` is resolved to a commit once."""

    server: str
    repository: str
    ref: str
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
    ) -> None:
        self._folder = folder
        self._token = token
        self._check = check
        no_prompts = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C"}
        self._environment = {**environment, **no_prompts, **_credentials(server, token)}

    def __call__(self, *arguments: str) -> str:
        """What git printed on stdout; raises `Refused` with the reason when it fails."""
        command = ["git", *arguments]
        with subprocess.Popen(  # noqa: S603 - a list; refs and addresses cannot be taken for options, see `check_out`
            command,
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as process:
            stdout, stderr = self._communicate(process)
        if process.returncode:
            raise Refused(f"git {arguments[0]} failed: {_reason(stderr, self._token)}", detail=stderr.strip())
        return stdout

    def _communicate(self, process: "subprocess.Popen[str]") -> tuple[str, str]:
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return process.communicate(timeout=_POLL_SECONDS)
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
    return (line.replace(token, "***") if token else line).rstrip(".") + "."


def check_out(
    source: CheckoutSource,
    folder: str,
    environment: Mapping[str, str],
    *,
    token: str = "",
    check: Callable[[], None] = lambda: None,
) -> str:
    """Fetches one commit, without history, into `folder`; returns its id."""
    if source.ref.startswith("-") or source.repository.startswith("-"):
        raise Refused(f"'{source.repository}@{source.ref}' is not a repository and ref.")
    Path(folder).mkdir(parents=True, exist_ok=True)
    if any(Path(folder).iterdir()):
        raise Refused(f"The folder {folder} for the adapter is not empty.")
    git = Git(folder, environment, server=source.server, token=token, check=check)
    git("init", "--quiet")
    commit = source.ref if _COMMIT.fullmatch(source.ref) else _resolve(git, source)
    git("fetch", "--quiet", "--depth=1", "--no-tags", source.url, commit)
    git("checkout", "--quiet", "--detach", commit)
    if source.submodules:
        git("submodule", "--quiet", "update", "--init", "--recursive", "--depth=1")
    if source.lfs:
        _pull_lfs(git, source)
    return git("rev-parse", "HEAD").strip()


def _resolve(git: Git, source: CheckoutSource) -> str:
    """The commit of a branch, a tag or HEAD at this moment; from now on only the commit is used."""
    ref = source.ref or "HEAD"
    lines = git("ls-remote", source.url, ref, f"{ref}^{{}}").splitlines()
    commits = {name: commit for commit, _, name in (line.partition("\t") for line in lines)}
    for name in (f"refs/tags/{ref}^{{}}", f"refs/heads/{ref}", f"refs/tags/{ref}", f"{ref}^{{}}", ref):
        if name in commits:
            return commits[name]
    raise Refused(f"{source.repository} has no branch, tag or commit '{ref}'.")


def _pull_lfs(git: Git, source: CheckoutSource) -> None:
    try:
        git("lfs", "version")
    except Refused as refusal:
        raise Refused("The adapter's LFS files are wanted, but git-lfs is not installed on this machine.") from refusal
    git("lfs", "pull", source.url)
