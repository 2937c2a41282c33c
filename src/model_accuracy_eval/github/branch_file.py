"""A file on a branch to which jobs add lines, several of them perhaps at once.

Nothing is ever forced: GitHub takes a new version only in the place of the one that was read. If another job was
faster, its version is read and added to.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass

from github import GithubException, InputGitTreeElement
from github.Repository import Repository

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github import refusals
from model_accuracy_eval.github.refusals import Purpose
from model_accuracy_eval.github.requester import GitHubRequester
from model_accuracy_eval.system.retry import draw

_TRIES = 8
_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
"""Seconds after the first race that was lost, twice as many after each further one, and the most."""


@dataclass(frozen=True, slots=True)
class _Version:
    """What is there now."""

    content: bytes
    sha: str | None
    """None: there is no such file."""
    branch: bool


def append(
    requester: GitHubRequester,
    repository: str,
    *,
    branch: str,
    path: str,
    make: Callable[[bytes], bytes],
    message: str,
) -> bytes:
    """Adds what `make` makes of the file's content; returns the new content. Makes file and branch if need be."""
    action = f"to add to {path} on the branch {branch}"
    purpose = Purpose(action=action, permission="contents: write", repository=repository)
    file = _BranchFile(requester, requester.repository(repository), branch, path)
    for number in range(_TRIES):
        with purpose.explained():
            before = file.read()
        added = make(before.content)
        if not added:
            return before.content
        whole = before.content + (b"\n" if before.content and not before.content.endswith(b"\n") else b"") + added
        with purpose.explained():
            if file.take(before, whole, message):
                return whole
        requester.patience.wait(min(_PAUSE * 2.0**number, _LONGEST_PAUSE) * draw())
    raise PublishFailed(
        f"The branch {branch} of {repository} was changed by others {_TRIES} times while {path} was to be added to; "
        "the run is in the artifact: add it with `model-accuracy-eval history RUN --append FILE`."
    )


@dataclass(frozen=True, slots=True)
class _BranchFile:
    requester: GitHubRequester
    repository: Repository
    branch: str
    path: str

    def read(self) -> _Version:
        try:
            file = self.repository.get_contents(self.path, ref=self.branch)
        except GithubException as error:
            if error.status != 404:
                raise
            return _Version(b"", None, branch="no commit found" not in refusals.message(error).lower())
        if isinstance(file, list):
            raise PublishFailed(f"{self.path} is a folder on the branch {self.branch}; name a file in history-file.")
        if file.encoding == "base64":
            return _Version(file.decoded_content, file.sha, branch=True)
        # GitHub shows the content of a file of more than a megabyte by its hash alone.
        blob = self.repository.get_git_blob(file.sha)
        return _Version(base64.b64decode(blob.content), file.sha, branch=True)

    def take(self, before: _Version, whole: bytes, message: str) -> bool:
        """Whether this version took the place of the one before; somebody else may have been faster."""
        try:
            if not before.branch:
                self._begin(whole, message)
            elif before.sha is None:
                self.repository.create_file(self.path, message, whole, branch=self.branch)
            else:
                self.repository.update_file(self.path, message, whole, before.sha, branch=self.branch)
        except GithubException as error:
            if _is_lost_race(error):
                return False
            raise
        return True

    def _begin(self, whole: bytes, message: str) -> None:
        """A branch of its own with this file alone, which shares nothing with the others.

        What is made twice does no harm: nothing refers to the first one, and a second branch is a race with oneself.
        """
        once, repository = self.requester.once, self.repository
        entry = InputGitTreeElement(self.path, "100644", "blob", content=whole.decode())
        tree = once(lambda: repository.create_git_tree([entry]))
        commit = once(lambda: repository.create_git_commit(message, tree, []))
        once(lambda: repository.create_git_ref(f"refs/heads/{self.branch}", commit.sha))


def _is_lost_race(error: GithubException) -> bool:
    """409: the file or the branch is not the one that was read. 422: since then there is a file, or a branch. Rules of
    the branch are no race, though GitHub answers them with the same numbers."""
    words = refusals.message(error).lower()
    if "rule" in words or "protected" in words:
        return False
    return error.status == 409 or (error.status == 422 and ("already exists" in words or "sha" in words))
