"""Artifacts that earlier runs of the same workflow left: found, downloaded and checked, to be a baseline.

Whoever opens a pull request can make a run upload anything, under any name of a branch. So only runs count that
evaluated what is on the branch: of this workflow, for the repository's own commits, started by nothing that has to do
with pull requests, and ended well. An artifact that is named by its digest is what its digest says.
"""

import contextlib
import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import httpx
from github import GithubException
from github.Artifact import Artifact
from github.PaginatedList import PaginatedList
from github.WorkflowRun import WorkflowRun

from model_accuracy_eval.errors import BadReuse, BadValue, PublishFailed, Refused
from model_accuracy_eval.github.refusals import Purpose
from model_accuracy_eval.github.requester import GitHubRequester
from model_accuracy_eval.records.plan import ARTIFACT_BRANCH, ARTIFACT_DIGEST

_OWN_EVENTS = frozenset({"push", "schedule", "workflow_dispatch"})
"""`issue_comment` and `pull_request_target` run on the default branch, too, and evaluate pull requests."""
_RUNS, _ARTIFACTS = 100, 1000
"""How many of the newest are looked through."""
_LARGEST = 4 << 30
"""Bytes that are downloaded at most."""
_CANDIDATES = 5
"""Of a branch, that are downloaded at most."""
_TRIES = 3
_SECONDS = 60.0


def download(
    requester: GitHubRequester,
    environment: Mapping[str, str],
    name: str,
    wanted: str,
    target: Path,
    *,
    objection: Callable[[str], str] = lambda commit: "",
) -> str:
    """Writes the zip of `branch:NAME` or `sha256:DIGEST`; returns a sentence that says what it is.

    `objection`: why what was written is no baseline, as of the branch's commit that its run was started for; then an
    older one is looked for.
    """
    if not name:
        raise BadValue("A baseline that is an artifact is found by artifact-name, which is empty: give it a name.")
    kept, reasons = _KeptArtifacts(requester, environment, name), list[str]()
    branch = wanted.removeprefix(ARTIFACT_BRANCH)
    pinned = wanted.startswith(ARTIFACT_DIGEST)
    candidates = [(kept.pinned(wanted.lower()), "")] if pinned else kept.of_branch(branch)
    for artifact, commit in itertools.islice(candidates, _CANDIDATES):
        found = kept.fetch(artifact, target)
        if artifact.digest not in {None, "", found}:
            raise BadReuse(
                f"The artifact '{name}' ({artifact.id}) came as {found}, and GitHub says {artifact.digest}: it is not "
                "the one that was uploaded."
            )
        if pinned or not (reason := objection(commit)):
            return f"The baseline is the artifact '{name}' ({artifact.id}) of {wanted}, {found}."
        reasons.append(f" The artifact {artifact.id} is none: {reason}")
    raise kept.nothing(branch, "".join(reasons))


class _KeptArtifacts:
    """What one workflow of a repository keeps under one name."""

    def __init__(self, requester: GitHubRequester, environment: Mapping[str, str], name: str) -> None:
        self._requester = requester
        self._repository = environment.get("GITHUB_REPOSITORY", "")
        self._place = requester.repository(self._repository)
        self._workflow = environment.get("GITHUB_WORKFLOW_REF", "").partition("@")[0]
        self._name = name

    def of_branch(self, branch: str) -> Iterator[tuple[Artifact, str]]:
        """The newest first, each with the commit of the branch that its run was started for."""
        if not branch:
            raise BadValue("The baseline 'branch:' names no branch: write branch:main, for example.")
        if not self._workflow.lower().startswith(f"{self._repository.lower()}/"):
            raise BadReuse(
                f"The workflow '{self._workflow}' is not one of {self._repository}, so nothing says which artifacts "
                "are its own: name the baseline by its digest (sha256:…)."
            )
        purpose = self._purpose(f"to list the runs of {self._file} on the branch {branch}, and their artifacts")
        with purpose.explained():
            head = self._place.get_branch(branch).commit.sha
            runs = self._place.get_workflow(self._file).get_runs(branch=branch, status="success")
            found = (run for run in itertools.islice(runs, _RUNS) if self._is_own(run))
        while True:
            with purpose.explained():
                run = next((run for run in found if self._is_part(run.head_sha, head)), None)
                artifacts = list(self._artifacts(f"runs/{run.id}/artifacts")) if run else []
            if run is None:
                return
            yield from ((artifact, run.head_sha) for artifact in artifacts[:1])

    @property
    def _file(self) -> str:
        return self._workflow.rpartition("/")[2]

    def nothing(self, branch: str, reasons: str) -> BadReuse:
        return BadReuse(
            f"No successful run of {self._file} on the branch '{branch}' by {' or '.join(sorted(_OWN_EVENTS))}, for a "
            f"commit that is part of it, has an artifact '{self._name}' that is still kept (of the last {_RUNS}): run "
            f"the workflow there first, or name another baseline.{reasons}"
        )

    def _is_part(self, commit: str, head: str) -> bool:
        """Whether the branch has the commit: a tag of its name, or what was pushed away, has such runs too."""
        try:
            return self._place.compare(commit, head).status in {"ahead", "identical"}
        except GithubException as error:
            if error.status == 404:
                return False
            raise

    def _is_own(self, run: WorkflowRun) -> bool:
        """Whether it evaluated what is in the repository itself."""
        owner = run.head_repository.full_name if run.head_repository else ""
        return owner.lower() == self._repository.lower() and run.event in _OWN_EVENTS

    def _artifacts(self, path: str) -> Iterator[Artifact]:
        """Those of the name that are still kept, the newest first."""
        # PyGithub's own method for the artifacts of one run takes no name.
        address = f"{self._place.url}/actions/{path}"
        found = PaginatedList(Artifact, self._requester, address, {"name": self._name}, list_item="artifacts")
        return (each for each in itertools.islice(found, _ARTIFACTS) if each.name == self._name and not each.expired)

    def pinned(self, digest: str) -> Artifact:
        with self._purpose("to list its artifacts").explained():
            for artifact in self._artifacts("artifacts"):
                origin = artifact.raw_data.get("workflow_run") or {}
                of_fork = origin.get("repository_id") != origin.get("head_repository_id")
                if artifact.digest == digest and origin and not of_fork:
                    return artifact
        raise BadReuse(
            f"{self._repository} keeps no artifact '{self._name}' with the digest {digest}: the outputs of the step "
            "that uploaded it have name and digest, and `retention-days` says how long it is kept."
        )

    def fetch(self, artifact: Artifact, target: Path) -> str:
        """Returns the digest of what came. The address is signed, so no token goes along, and it is not shown."""
        for _ in range(_TRIES):
            with contextlib.suppress(httpx.HTTPError, httpx.InvalidURL):
                return _save(self._signed_address(artifact), target)
        raise PublishFailed(f"The artifact '{self._name}' could not be downloaded in {_TRIES} tries; try again.")

    def _signed_address(self, artifact: Artifact) -> str:
        with self._purpose(f"to download the artifact '{self._name}'").explained():
            try:
                self._requester.requestJsonAndCheck("GET", f"{self._place.url}/actions/artifacts/{artifact.id}/zip")
            except GithubException as redirect:
                if redirect.status != 302 or not redirect.headers:
                    raise
                return redirect.headers["location"]
            raise TypeError("no redirect")

    def _purpose(self, action: str) -> Purpose:
        return Purpose(action=action, permission="actions: read", repository=self._repository, error=Refused)


def _save(address: str, target: Path) -> str:
    digest, size = hashlib.sha256(), 0
    with httpx.Client(timeout=_SECONDS) as client, client.stream("GET", address) as answer, target.open("wb") as file:
        if answer.status_code != 200:
            raise httpx.HTTPError(f"HTTP {answer.status_code}")
        for part in answer.iter_bytes():
            size += len(part)
            if size > _LARGEST:
                raise BadReuse(f"The artifact is longer than {_LARGEST} bytes.")
            digest.update(part)
            file.write(part)
    return f"{ARTIFACT_DIGEST}{digest.hexdigest()}"
