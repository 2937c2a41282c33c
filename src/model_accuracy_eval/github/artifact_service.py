"""Uploads a folder as an artifact of the workflow run, with our own client of GitHub's artifact service.

The present protocol takes a zip in blocks, the earlier one, of servers that have no other, single files.
"""

import base64
import json
import math
import os
import time
import urllib.parse
from collections.abc import Callable, Mapping
from concurrent.futures import wait
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github import folder_zip
from model_accuracy_eval.github.artifact_transfer import ArtifactRequests, ArtifactResponse, BlockUpload
from model_accuracy_eval.github.folder_zip import Contents, ZipMember
from model_accuracy_eval.records.report import UploadedArtifact
from model_accuracy_eval.system.clock import in_background

_ROUTE = "/twirp/github.actions.results.api.v1.ArtifactService/"
_VERSION = 4
"""Later versions require a `mime_type`, a field that other servers of this protocol refuse."""
_PREVIEW = "6.0-preview"
"""Of the earlier protocol."""
_DAY = 86_400
_POLL_SECONDS = 0.1
_NAMES = 9
"""Names that are tried when one after the other is taken."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FinishedUpload:
    """An artifact that is complete."""

    id: str | None
    """None if the protocol has no ids."""
    digest: str | None
    """SHA-256 of the zip; None if there is no zip."""
    size: int
    notes: tuple[str, ...]
    """A sentence for every file that could not be read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArtifactProtocolV4:
    """The requests for one run and job; `origin` has no path."""

    requests: ArtifactRequests
    origin: str
    token: str = field(repr=False)
    run: str
    job: str
    mask: Callable[[str], None]

    def create(self, name: str, expires: float | None) -> ArtifactResponse:
        """Registers the name. Status 409: it is taken; `is_absent`: there is no such service."""
        fields: dict[str, Any] = {"name": name, "version": _VERSION}
        if expires is not None:
            stamp = datetime.fromtimestamp(expires, timezone.utc).isoformat(timespec="milliseconds")
            fields["expires_at"] = stamp.replace("+00:00", "Z")
        response = self._call("CreateArtifact", fields)
        # Before anything else is done with the address.
        address = urllib.parse.urlsplit(response.text("signed_upload_url"))
        for signature in urllib.parse.parse_qs(address.query).get("sig", ()):
            self.mask(signature)
        return response

    def fill(self, name: str, created: ArtifactResponse, contents: Contents) -> FinishedUpload:
        """Uploads a zip to the signed address of `created`, then tells the service that it is complete."""
        url = _granted(created, "CreateArtifact").text("signed_upload_url")
        if not url:
            raise PublishFailed(f"The artifact service created '{name}' but gave no address to upload it to.")
        upload = BlockUpload(url, self.requests)
        notes = folder_zip.write_zip(contents, upload)
        upload.commit()
        fields = {"name": name, "size": str(upload.size), "hash": f"sha256:{upload.sha256}"}
        finished = _granted(self._call("FinalizeArtifact", fields), "FinalizeArtifact")
        identity = finished.text("artifact_id")
        return FinishedUpload(id=identity, digest=upload.sha256, size=upload.size, notes=tuple(notes))

    def _call(self, method: str, fields: Mapping[str, Any]) -> ArtifactResponse:
        return self.requests.send(
            f"The artifact service's {method}",
            "POST",
            f"{self.origin}{_ROUTE}{method}",
            headers={"Authorization": f"Bearer {self.token}"},
            json={"workflow_run_backend_id": self.run, "workflow_job_run_backend_id": self.job, **fields},
        )


def backend_ids(token: str) -> tuple[str, str] | None:
    """The service's ids of run and job, from the scopes of the runtime token; None when it names none."""
    try:
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        scopes = str(claims["scp"]).split()
    except (IndexError, ValueError, KeyError, TypeError):
        return None
    for scope in scopes:
        kind, *ids = scope.split(":")
        if kind == "Actions.Results" and len(ids) == 2:
            return ids[0], ids[1]
    return None


def is_absent(response: ArtifactResponse) -> bool:
    """Whether the server has no such service; a service that refuses is another matter."""
    if response.status == 404:
        return response.body.get("code") in {None, "bad_route"}
    return response.status in {405, 501}


def _granted(response: ArtifactResponse, method: str) -> ArtifactResponse:
    if response.good().body.get("ok") is not True:
        raise PublishFailed(f"The artifact service answered {method} without agreeing to it (ok is not true).")
    return response


@dataclass(frozen=True, kw_only=True, slots=True)
class ArtifactProtocolV3:
    """For servers that have no other protocol: a container with separate files. `base` ends with a slash."""

    requests: ArtifactRequests
    base: str
    token: str = field(repr=False)
    run: str

    def upload(self, name: str, contents: Contents, retention_days: int | None) -> FinishedUpload:
        """Sends every file; this protocol has no empty folders."""
        body: dict[str, Any] = {"Type": "actions_storage", "Name": name}
        if retention_days is not None:
            body["RetentionDays"] = retention_days
        container = self._call("The artifact service", "POST", {}, body).body.get("fileContainerResourceUrl")
        if not isinstance(container, str) or not container:
            raise PublishFailed(f"The artifact service created '{name}' but gave no address to upload it to.")
        total, notes = 0, list[str]()
        for file in contents.entries:
            if not file.is_folder:
                try:
                    total += self._add(f"{container}?itemPath={urllib.parse.quote(f'{name}/{file.name}')}", file)
                except OSError as error:
                    notes.append(folder_zip.unreadable(file, error))
        self._call("The end of the upload", "PATCH", {"artifactName": name}, {"Size": total})
        return FinishedUpload(id=None, digest=None, size=total, notes=tuple(notes))

    def _add(self, url: str, entry: ZipMember) -> int:
        with entry.path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                self._put(url, b"", {})  # an empty file has no range
            start = 0
            for piece in folder_zip.pieces(file, size):
                self._put(url, piece, {"Content-Range": f"bytes {start}-{start + len(piece) - 1}/{size}"})
                start += len(piece)
            return start

    def _put(self, url: str, piece: bytes, span: Mapping[str, str]) -> None:
        headers = {**self._headers(), "Content-Type": "application/octet-stream", **span}
        self.requests.send("A file of the artifact", "PUT", url, parse=False, headers=headers, content=piece).good()

    def _call(self, what: str, method: str, query: Mapping[str, str], body: Mapping[str, Any]) -> ArtifactResponse:
        text = urllib.parse.urlencode({"api-version": _PREVIEW, **query})
        url = f"{self.base}_apis/pipelines/workflows/{self.run}/artifacts?{text}"
        return self.requests.send(what, method, url, headers=self._headers(), json=body).good()

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "Accept": f"application/json;api-version={_PREVIEW}"}


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
        contents = folder_zip.list_contents(folder)
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
        self, requests: ArtifactRequests, name: str, contents: Contents, days: int | None
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
        self, requests: ArtifactRequests, name: str, contents: Contents, days: int | None
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
