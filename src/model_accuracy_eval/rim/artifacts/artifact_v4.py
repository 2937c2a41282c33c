"""The artifact service's present protocol: create, upload blocks to a signed address, finalize."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.rim.artifacts import zipping
from model_accuracy_eval.rim.artifacts.artifact_calls import TRIES, Answer, Calls
from model_accuracy_eval.rim.artifacts.blob import BlockUpload, secrets_of

_ROUTE = "/twirp/github.actions.results.api.v1.ArtifactService/"
_VERSION = 4
"""Newer numbers oblige to a `mime_type`, a field that other servers of the protocol refuse."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """What the service knows of an artifact that is complete."""

    id: str
    digest: str
    size: int
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Protocol:
    """The calls for one run and job; `origin` has no path."""

    calls: Calls
    origin: str
    token: str = field(repr=False)
    run: str
    job: str
    mask: Callable[[str], None]
    timeout: float
    """Seconds without progress after which one try of a block has failed."""

    def create(self, name: str, expires: float | None) -> Answer:
        """Registers the name. 409: it is taken; `is_absent`: there is no such service."""
        fields: dict[str, Any] = {"name": name, "version": _VERSION}
        if expires is not None:
            fields["expires_at"] = timestamp(expires)
        answer = self._call("CreateArtifact", fields)
        # Before anything else can happen to the address.
        for secret in secrets_of(answer.text("signed_upload_url")):
            self.mask(secret)
        return answer

    def fill(self, name: str, created: Answer, contents: zipping.Contents) -> Finished:
        """Zips into the signed address of `created`, then tells the service that this was all."""
        url = _granted(created, "CreateArtifact").text("signed_upload_url")
        if not url:
            raise PublishFailed(f"The artifact service created '{name}' but gave no address to upload it to.")
        upload = BlockUpload(url, self.calls, timeout=self.timeout)
        notes = zipping.write(contents, upload)
        upload.commit("application/zip")
        answer = self._call(
            "FinalizeArtifact", {"name": name, "size": str(upload.size), "hash": f"sha256:{upload.sha256}"}
        )
        finished = _granted(answer, "FinalizeArtifact")
        identity = finished.text("artifact_id")
        self._compare(name, identity, upload)
        return Finished(id=identity, digest=upload.sha256, size=upload.size, notes=tuple(notes))

    def _compare(self, name: str, identity: str, upload: BlockUpload) -> None:
        """What the service says it has must be what we sent; a service that does not say is no trouble."""
        answer = self._call("ListArtifacts", {"id_filter": identity}, tries=1)
        for found in _listed(answer):
            if found.text("database_id") != identity:
                continue
            digest = found.text("digest").removeprefix("sha256:") or upload.sha256
            size = found.text("size") or str(upload.size)
            if (digest, size) != (upload.sha256, str(upload.size)):
                raise PublishFailed(
                    f"The artifact '{name}' arrived damaged: the service has {size} bytes with SHA-256 {digest[:12]}…, "
                    f"but {upload.size} bytes with {upload.sha256[:12]}… were sent."
                )

    def _call(self, method: str, fields: Mapping[str, Any], *, tries: int = TRIES) -> Answer:
        request = self.calls.client.build_request(
            "POST",
            f"{self.origin}{_ROUTE}{method}",
            headers={"Authorization": f"Bearer {self.token}"},
            json={"workflow_run_backend_id": self.run, "workflow_job_run_backend_id": self.job, **fields},
        )
        return self.calls.ask(f"The artifact service's {method}", request, tries=tries)


def backend_ids(token: str) -> tuple[str, str] | None:
    """Ids of run and job as the service has them, from the scopes of the runtime token; None when it names none."""
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


def is_absent(answer: Answer) -> bool:
    """Whether the server has no such service, as opposed to: has it and says no."""
    if answer.status == 404:
        return answer.body.get("code") in {None, "bad_route"}
    return answer.status in {405, 501}


def timestamp(seconds: float) -> str:
    written = datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="milliseconds")
    return written.replace("+00:00", "Z")


def _granted(answer: Answer, method: str) -> Answer:
    if answer.needed().body.get("ok") is not True:
        raise PublishFailed(f"The artifact service answered {method} without agreeing to it (ok is not true).")
    return answer


def _listed(answer: Answer) -> list[Answer]:
    found = answer.body.get("artifacts")
    return [Answer(body=item) for item in found if isinstance(item, dict)] if isinstance(found, list) else []
