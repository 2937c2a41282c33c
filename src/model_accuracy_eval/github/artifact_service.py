"""Uploads a folder as an artifact of the workflow run, with our own client of GitHub's artifact service."""

import math
import time
import urllib.parse
from collections.abc import Callable, Mapping
from concurrent.futures import wait

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github.artifact_protocols import (
    ArtifactProtocolV3,
    ArtifactProtocolV4,
    ArtifactRequests,
    ArtifactResponse,
    FinishedUpload,
    backend_ids,
    is_absent,
)
from model_accuracy_eval.records.report import UploadedArtifact
from model_accuracy_eval.run_folder import zipping
from model_accuracy_eval.system.concurrency import in_background

_FORBIDDEN = '":<>|*?\r\n\\/'
_DAY = 86_400
_POLL_SECONDS = 0.1
_NAMES = 9
"""Names that are tried when one after the other is taken."""


class ArtifactService:
    """The artifact service of one job. Its protocol is found out by trying, not from the name of its host."""

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        mask: Callable[[str], None],
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """`mask` gets every secret before it could be printed."""
        self._environment = environment
        self._mask = mask
        self._sleep = sleep
        self._token = environment.get("ACTIONS_RUNTIME_TOKEN", "")
        address = urllib.parse.urlsplit(environment.get("ACTIONS_RESULTS_URL", ""))
        self._present = f"{address.scheme}://{address.netloc}" if address.netloc else ""
        """Base URL of the present protocol; empty when the runner names none."""
        self._earlier = environment.get("ACTIONS_RUNTIME_URL", "").rstrip("/")

    @property
    def is_offered(self) -> bool:
        """Whether there is one: not outside of Actions."""
        return bool(self._token and (self._present or self._earlier))

    def upload(
        self, name: str, folder: str, *, retention_days: int | None = None, left: Callable[[], float] = lambda: math.inf
    ) -> UploadedArtifact:
        """Uploads everything below the folder or raises `PublishFailed`. `left` gives the seconds that remain; it is
        called again and again, and an upload that is late ends with this process."""
        future = in_background(lambda: self._upload(name, folder, retention_days), "artifact")
        # Limits of single requests would not do: a server may send a byte now and then for ever.
        while not wait([future], max(0.0, min(_POLL_SECONDS, left()))).done:
            if left() <= 0:
                raise PublishFailed(
                    "The artifact was not uploaded in the few seconds that are left after a stop; "
                    "the report is in the run's folder alone."
                )
        return future.result()

    def _upload(self, name: str, folder: str, retention_days: int | None) -> UploadedArtifact:
        if name != safe_name(name):
            raise PublishFailed(
                f"'{name}' cannot be the name of an artifact, which has none of {_FORBIDDEN!r}; "
                f"'{safe_name(name)}' can."
            )
        contents = zipping.list_contents(folder)
        days, notes = self._retention(retention_days)
        with ArtifactRequests(self._sleep) as requests:
            found = self._by_v4(requests, name, contents, days) or self._by_v3(requests, name, contents, days)
        actual_name, finished = found
        if actual_name != name:
            notes.append(f"The run has an artifact '{name}' already; this one is called '{actual_name}'.")
        server = self._environment.get("GITHUB_SERVER_URL") or "https://github.com"
        repository, run = (self._environment.get(f"GITHUB_{name}", "") for name in ("REPOSITORY", "RUN_ID"))
        rest = "#artifacts" if finished.id is None else f"/artifacts/{finished.id}"
        return UploadedArtifact(
            name=actual_name,
            id=finished.id,
            url=f"{server.rstrip('/')}/{repository}/actions/runs/{run}{rest}",
            digest=finished.digest,
            notes=(*notes, *contents.notes, *finished.notes),
        )

    def _by_v4(
        self, requests: ArtifactRequests, name: str, contents: zipping.Contents, days: int | None
    ) -> tuple[str, FinishedUpload] | None:
        """None when the server has no such service, but may have the earlier one."""
        ids = backend_ids(self._token)
        if not self._present or ids is None:
            return None
        service = ArtifactProtocolV4(
            requests=requests, origin=self._present, token=self._token, run=ids[0], job=ids[1], mask=self._mask
        )
        actual_name, created = self._create(service, name, None if days is None else time.time() + days * _DAY)
        if is_absent(created) and self._earlier:
            return None
        return actual_name, service.fill(actual_name, created, contents)

    def _create(self, service: ArtifactProtocolV4, name: str, expires: float | None) -> tuple[str, ArtifactResponse]:
        """Another job of the run, or an earlier attempt, may have taken the name: then the number of the attempt is
        added, and then also a count."""
        second = f"{name}-{self._environment.get('GITHUB_RUN_ATTEMPT') or '1'}"
        names = [name, second, *(f"{second}-{number}" for number in range(2, _NAMES))]
        for candidate in names:
            created = service.create(candidate, expires)
            if created.status != 409:
                return candidate, created
        raise PublishFailed(
            f"The run has an artifact '{name}' already, and {len(names) - 1} more up to '{names[-1]}'; "
            "give every job of the workflow an artifact-name of its own."
        )

    def _by_v3(
        self, requests: ArtifactRequests, name: str, contents: zipping.Contents, days: int | None
    ) -> tuple[str, FinishedUpload]:
        if not self._earlier:
            raise PublishFailed("The runtime token names no run and job, so the artifact service cannot be used.")
        run = self._environment.get("GITHUB_RUN_ID", "")
        service = ArtifactProtocolV3(requests=requests, base=f"{self._earlier}/", token=self._token, run=run)
        return name, service.upload(name, contents, days)

    def _retention(self, days: int | None) -> tuple[int | None, list[str]]:
        """The days asked for, but no more than the repository allows. 0 and None leave it to the repository."""
        if not days or days < 0:
            return None, []
        allowed = self._environment.get("GITHUB_RETENTION_DAYS", "")
        if not allowed.isdecimal() or not 0 < int(allowed) < days:
            return days, []
        return int(allowed), [f"The artifact is kept for {allowed} days: {days} are more than the repository allows."]


def safe_name(name: str) -> str:
    """The nearest name that is allowed: names of models have slashes, times have colons."""
    return "".join("-" if letter in _FORBIDDEN else letter for letter in name).strip(" -") or "report"
