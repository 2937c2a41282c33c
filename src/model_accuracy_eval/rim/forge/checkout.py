"""An adapter repository at the exact commit under test, by git; the token never touches a file or a command line."""

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


class Source(NamedTuple):
    """What is checked out: `server` and `repository` make the address, `ref` is resolved to a commit once."""

    server: str
    repository: str
    ref: str
    submodules: bool = False
    lfs: bool = False

    @property
    def url(self) -> str:
        return f"{self.server.rstrip('/')}/{self.repository}"


class Git:
    """git in one folder, with credentials in its environment alone. `check` may raise to end what is under way."""

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
        quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C"}
        self._environment = {**environment, **quiet, **_credentials(server, token)}

    def __call__(self, *arguments: str) -> str:
        """What git printed; its complaint as a `Refused` otherwise."""
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
            out, complaint = self._listen(process)
        if process.returncode:
            raise Refused(f"git {arguments[0]} failed: {_reason(complaint, self._token)}", detail=complaint.strip())
        return out

    def _listen(self, process: "subprocess.Popen[str]") -> tuple[str, str]:
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return process.communicate(timeout=_POLL_SECONDS)
                self._check()
        except BaseException:
            process.kill()
            raise


def _credentials(server: str, token: str) -> dict[str, str]:
    """Settings by environment variable, sent to that server and to no other."""
    if not token:
        return {}
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{server.rstrip('/')}/.extraheader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}",
    }


def _reason(complaint: str, token: str) -> str:
    """The telling line of what git says."""
    if "Authentication failed" in complaint or "could not read Username" in complaint:
        return "the server asks for credentials; give a token that may read the repository (contents: read)."
    lines = [line for line in complaint.strip().splitlines() if line]
    telling = [line for line in lines if line.startswith(("fatal:", "error:", "remote:"))]
    line = (telling or lines or ["it said nothing"])[-1].removeprefix("fatal: ")
    return (line.replace(token, "***") if token else line).rstrip(".") + "."


def check_out(
    source: Source,
    folder: str,
    environment: Mapping[str, str],
    *,
    token: str = "",
    check: Callable[[], None] = lambda: None,
) -> str:
    """Fetches one commit, without history, into `folder`; returns its id."""
    if source.ref.startswith("-") or source.repository.startswith("-"):
        raise Refused(f"'{source.repository}@{source.ref}' is no repository and ref.")
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


def _resolve(git: Git, source: Source) -> str:
    """The commit that a branch, a tag or HEAD means now; from here on the name plays no part."""
    wanted = source.ref or "HEAD"
    lines = git("ls-remote", source.url, wanted, f"{wanted}^{{}}").splitlines()
    found = {name: commit for commit, _, name in (line.partition("\t") for line in lines)}
    for name in (f"refs/tags/{wanted}^{{}}", f"refs/heads/{wanted}", f"refs/tags/{wanted}", f"{wanted}^{{}}", wanted):
        if name in found:
            return found[name]
    raise Refused(f"{source.repository} has no branch, tag or commit '{wanted}'.")


def _pull_lfs(git: Git, source: Source) -> None:
    try:
        git("lfs", "version")
    except Refused as refusal:
        raise Refused(
            "The adapter's LFS files were asked for, but git-lfs is not installed on this machine."
        ) from refusal
    git("lfs", "pull", source.url)
