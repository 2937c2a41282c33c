"""Artifacts that earlier runs of the same workflow left: found, downloaded and checked, to be a baseline.

Whoever opens a pull request can make a run upload anything, under any name of a branch. So only runs count that
evaluated what is on the branch: of this workflow, for the repository's own commits, started by nothing that has to do
with pull requests, and ended well. An artifact that is named by its digest is what its digest says.
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import msgspec

from model_accuracy_eval.errors import BadReuse, BadValue, Refused
from model_accuracy_eval.github.refusals import Purpose, decode, refusal
from model_accuracy_eval.github.rest_client import Query, RestClient
from model_accuracy_eval.records.plan import ARTIFACT_BRANCH, ARTIFACT_DIGEST

_OWN_EVENTS = frozenset({"push", "schedule", "workflow_dispatch"})
"""`issue_comment` and `pull_request_target` run on the default branch, too, and evaluate pull requests."""
_RUNS, _PAGES = 100, 10
_LARGEST = 4 << 30
"""Bytes that are downloaded at most."""
_TRIES = 3
_SECONDS = 60.0


class _Repository(msgspec.Struct):
    full_name: str


class _WorkflowRun(msgspec.Struct):
    id: int
    event: str
    conclusion: str | None
    head_branch: str | None
    head_repository: _Repository | None = None


class _Runs(msgspec.Struct):
    workflow_runs: list[_WorkflowRun]


class _Origin(msgspec.Struct):
    repository_id: int | None = None
    head_repository_id: int | None = None


class _Artifact(msgspec.Struct):
    id: int
    name: str
    size_in_bytes: int
    expired: bool
    digest: str | None = None
    workflow_run: _Origin | None = None


class _Artifacts(msgspec.Struct):
    artifacts: list[_Artifact]


class EarlierArtifacts:
    """What one workflow of a repository keeps under one name."""

    def __init__(self, client: RestClient, environment: Mapping[str, str], name: str) -> None:
        self._client = client
        self._repository = environment.get("GITHUB_REPOSITORY", "")
        self._workflow = environment.get("GITHUB_WORKFLOW_REF", "").partition("@")[0]
        self._name = name
        if not name:
            raise BadValue("A baseline that is an artifact is found by artifact-name, which is empty: give it a name.")

    def download(self, wanted: str, target: Path) -> str:
        """Writes the zip of `branch:NAME` or `sha256:DIGEST`; returns a sentence that says what it is."""
        artifact = self._pinned(wanted.lower()) if wanted.startswith(ARTIFACT_DIGEST) else self._newest(wanted)
        if artifact.size_in_bytes > _LARGEST:
            raise BadReuse(f"The artifact '{self._name}' is {artifact.size_in_bytes} bytes; {_LARGEST} is the most.")
        found = self._fetch(artifact, target)
        if artifact.digest not in {None, "", found}:
            raise BadReuse(
                f"The artifact '{self._name}' ({artifact.id}) came as {found}, and GitHub says {artifact.digest}: it "
                "is not the one that was uploaded."
            )
        return f"The baseline is the artifact '{self._name}' ({artifact.id}) of {wanted}, {found}."

    def _newest(self, wanted: str) -> _Artifact:
        branch = wanted.removeprefix(ARTIFACT_BRANCH)
        if not branch:
            raise BadValue("The baseline 'branch:' names no branch: write branch:main, for example.")
        if not self._workflow.lower().startswith(f"{self._repository.lower()}/"):
            raise BadReuse(
                f"The workflow '{self._workflow}' is not one of {self._repository}, so nothing says which artifacts "
                "are its own: name the baseline by its digest (sha256:…)."
            )
        for run in self._runs(branch):
            query: Query = {"name": self._name, "per_page": 100}
            answer = self._client.send("GET", f"{self._root}/runs/{run.id}/artifacts", query=query)
            purpose = self._purpose(f"to list the artifacts of run {run.id}")
            for artifact in decode(answer, purpose, _Artifacts).artifacts:
                if artifact.name == self._name and not artifact.expired:
                    return artifact
        raise BadReuse(
            f"No successful run of {self._file} on the branch '{branch}' by {' or '.join(sorted(_OWN_EVENTS))}, "
            f"has an artifact '{self._name}' that is still kept (of the last {_RUNS}): run the workflow there first, "
            "or name another baseline."
        )

    def _runs(self, branch: str) -> Iterator[_WorkflowRun]:
        query: Query = {"branch": branch, "status": "success", "per_page": _RUNS}
        answer = self._client.send("GET", f"{self._root}/workflows/{self._file}/runs", query=query)
        purpose = self._purpose(f"to list the runs of {self._file}")
        for run in decode(answer, purpose, _Runs).workflow_runs:
            owner = run.head_repository.full_name if run.head_repository else ""
            own = owner.lower() == self._repository.lower() and run.event in _OWN_EVENTS
            if own and run.head_branch == branch and run.conclusion == "success":
                yield run

    def _pinned(self, digest: str) -> _Artifact:
        for page in range(1, _PAGES + 1):
            query: Query = {"name": self._name, "per_page": 100, "page": page}
            answer = self._client.send("GET", f"{self._root}/artifacts", query=query)
            artifacts = decode(answer, self._purpose("to list its artifacts"), _Artifacts).artifacts
            for artifact in artifacts:
                if artifact.digest == digest and not artifact.expired and _is_own(artifact):
                    return artifact
            if len(artifacts) < 100:
                break
        raise BadReuse(
            f"{self._repository} keeps no artifact '{self._name}' with the digest {digest}: the outputs of the step "
            "that uploaded it have name and digest, and `retention-days` says how long it is kept."
        )

    def _fetch(self, artifact: _Artifact, target: Path) -> str:
        """Returns the digest of what came. The address is signed, so no token goes along, and it is not shown."""
        trouble = ""
        for _ in range(_TRIES):
            answer = self._client.send("GET", f"{self._root}/artifacts/{artifact.id}/zip")
            address = answer.headers.get("location", "")
            if answer.status != 302 or not address:
                purpose = self._purpose(f"to download the artifact '{self._name}'")
                raise Refused(refusal(answer, purpose))
            try:
                return _save(address, target)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                trouble = type(error).__name__
        raise Refused(f"The artifact '{self._name}' could not be downloaded in {_TRIES} tries ({trouble}); try again.")

    @property
    def _root(self) -> str:
        return f"/repos/{self._repository}/actions"

    @property
    def _file(self) -> str:
        return self._workflow.rpartition("/")[2]

    def _purpose(self, action: str) -> Purpose:
        return Purpose(action=action, permission="actions: read", repository=self._repository, error=Refused)


def _is_own(artifact: _Artifact) -> bool:
    origin = artifact.workflow_run
    return origin is not None and origin.repository_id == origin.head_repository_id


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
