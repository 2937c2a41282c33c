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
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github import folder_zip
from model_accuracy_eval.github.artifact_transfer import ArtifactRequests, ArtifactTrouble
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
        notes = list[str]()
        days = self._retention(retention_days, notes)
        files = folder_zip.members(folder, notes)
        with ArtifactRequests(self._sleep) as requests:
            zipped = self._by_v4(requests, name, files, days, notes)
            if zipped is None:
                self._by_v3(requests, name, files, days, notes)
        actual_name, identity, digest = zipped or (name, None, None)
        server = self._environment.get("GITHUB_SERVER_URL") or "https://github.com"
        repository, run = (self._environment.get(f"GITHUB_{part}", "") for part in ("REPOSITORY", "RUN_ID"))
        rest = "#artifacts" if identity is None else f"/artifacts/{identity}"
        address = f"{server.rstrip('/')}/{repository}/actions/runs/{run}{rest}"
        return UploadedArtifact(name=actual_name, id=identity, url=address, digest=digest, notes=tuple(notes))

    def _retention(self, days: int | None, notes: list[str]) -> int | None:
        """The days asked for, but no more than the repository allows. 0 and None leave it to the repository."""
        if not days or days < 0:
            return None
        allowed = self._environment.get("GITHUB_RETENTION_DAYS", "")
        if not allowed.isdecimal() or not 0 < int(allowed) < days:
            return days
        notes.append(f"The artifact is kept for {allowed} days: {days} are more than the repository allows.")
        return int(allowed)

    # The present protocol.

    def _by_v4(
        self, requests: ArtifactRequests, name: str, files: Mapping[str, Path], days: int | None, notes: list[str]
    ) -> tuple[str, str, str] | None:
        """Name, id and digest; None when the server has no such service, but may have the earlier one."""
        ids = backend_ids(self._token)
        if not self._present or ids is None:
            return None
        common = {"workflow_run_backend_id": ids[0], "workflow_job_run_backend_id": ids[1]}

        def call(method: str, fields: Mapping[str, Any]) -> dict[str, Any]:
            return requests.send(
                f"The artifact service's {method}",
                "POST",
                f"{self._present}{_ROUTE}{method}",
                headers={"Authorization": f"Bearer {self._token}"},
                json={**common, **fields},
            )

        try:
            actual_name, created = self._create(call, name, days)
        except ArtifactTrouble as trouble:
            if trouble.is_absent and self._earlier:
                return None
            raise
        if actual_name != name:
            notes.append(f"The run has an artifact '{name}' already; this one is called '{actual_name}'.")
        url = _agreed(created, "CreateArtifact", "signed_upload_url")
        if not url:
            raise _no_address(name)
        digest, size = requests.upload_blocks(url, folder_zip.zipped(files, notes))
        finished = call("FinalizeArtifact", {"name": actual_name, "size": str(size), "hash": f"sha256:{digest}"})
        return actual_name, _agreed(finished, "FinalizeArtifact", "artifact_id"), digest

    def _create(
        self, call: Callable[[str, Mapping[str, Any]], dict[str, Any]], name: str, days: int | None
    ) -> tuple[str, dict[str, Any]]:
        """Another job of the run, or an earlier attempt, may have taken the name: then the number of the attempt is
        added, and then also a count."""
        second = f"{name}-{self._environment.get('GITHUB_RUN_ATTEMPT') or '1'}"
        names = [name, second, *(f"{second}-{number}" for number in range(2, _NAMES))]
        fields: dict[str, Any] = {"version": _VERSION}
        if days is not None:
            stamp = datetime.fromtimestamp(time.time() + days * _DAY, timezone.utc).isoformat(timespec="milliseconds")
            fields["expires_at"] = stamp.replace("+00:00", "Z")
        for candidate in names:
            try:
                created = call("CreateArtifact", {"name": candidate, **fields})
            except ArtifactTrouble as trouble:  # noqa: PERF203 - the next name is tried
                if trouble.status != 409:
                    raise
            else:
                # Before anything else is done with the address.
                address = urllib.parse.urlsplit(_field(created, "signed_upload_url"))
                for signature in urllib.parse.parse_qs(address.query).get("sig", ()):
                    self._mask(signature)
                return candidate, created
        raise PublishFailed(
            f"The run has an artifact '{name}' already, and {len(names) - 1} more up to '{names[-1]}'; "
            "give every job of the workflow an artifact-name of its own."
        )

    # The earlier protocol: a container with separate files.

    def _by_v3(
        self, requests: ArtifactRequests, name: str, files: Mapping[str, Path], days: int | None, notes: list[str]
    ) -> None:
        """Sends every file; this protocol has no empty folders."""
        if not self._earlier:
            raise PublishFailed("The runtime token names no run and job, so the artifact service cannot be used.")
        headers = {"Authorization": f"Bearer {self._token}", "Accept": f"application/json;api-version={_PREVIEW}"}
        run = self._environment.get("GITHUB_RUN_ID", "")
        address = f"{self._earlier}/_apis/pipelines/workflows/{run}/artifacts"

        def call(what: str, method: str, body: Mapping[str, Any], **query: str) -> dict[str, Any]:
            text = urllib.parse.urlencode({"api-version": _PREVIEW, **query})
            return requests.send(what, method, f"{address}?{text}", headers=headers, json=body)

        def put(url: str, piece: bytes, **span: str) -> None:
            kind = {**headers, "Content-Type": "application/octet-stream", **span}
            requests.send("A file of the artifact", "PUT", url, parse=False, headers=kind, content=piece)

        kept = {} if days is None else {"RetentionDays": days}
        created = call("The artifact service", "POST", {"Type": "actions_storage", "Name": name, **kept})
        container = created.get("fileContainerResourceUrl")
        if not isinstance(container, str) or not container:
            raise _no_address(name)
        total = 0
        for inner, path in files.items():
            if path.is_dir():
                continue
            url = f"{container}?itemPath={urllib.parse.quote(f'{name}/{inner}')}"
            try:
                with path.open("rb") as file:
                    size, start = os.fstat(file.fileno()).st_size, 0
                    if not size:
                        put(url, b"")  # an empty file has no range
                    for piece in folder_zip.pieces(file, size):
                        end = start + len(piece)
                        put(url, piece, **{"Content-Range": f"bytes {start}-{end - 1}/{size}"})
                        start, total = end, total + len(piece)
            except OSError as error:
                notes.append(folder_zip.unreadable(inner, error))
        call("The end of the upload", "PATCH", {"Size": total}, artifactName=name)


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


def _no_address(name: str) -> PublishFailed:
    return PublishFailed(f"The artifact service created '{name}' but gave no address to upload it to.")


def _agreed(answer: Mapping[str, Any], method: str, name: str) -> str:
    if answer.get("ok") is not True:
        raise PublishFailed(f"The artifact service answered {method} without agreeing to it (ok is not true).")
    return _field(answer, name)


def _field(answer: Mapping[str, Any], name: str) -> str:
    """A field in snake_case or camelCase: servers differ in what they write."""
    first, *others = name.split("_")
    camel = first + "".join(word.capitalize() for word in others)
    value = answer.get(name, answer.get(camel))
    return "" if value is None else str(value)
