"""GitHub's artifact service: how requests are sent, and its two protocols.

The present one takes a zip in blocks, the earlier one single files. What may pass is tried again; a failure is one
sentence.
"""

import base64
import hashlib
import json
import os
import re
import time
import urllib.parse
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

import httpx

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.run_folder import zipping
from model_accuracy_eval.system.process_environment import is_untrusted, with_cure
from model_accuracy_eval.system.retry import ARTIFACTS, Failure, Retries, draw

ANSWER_SECONDS, _CONNECT_SECONDS = 30.0, 10.0
_ROUTE = "/twirp/github.actions.results.api.v1.ArtifactService/"
_VERSION = 4
"""Later versions require a `mime_type`, a field that other servers of this protocol refuse."""
_BLOB_VERSION = "2026-04-06"
_PREVIEW = "6.0-preview"
"""Of the earlier protocol."""
_STALL_SECONDS = 60.0
"""Without progress, after which an attempt to send a block has failed."""


_USED_UP = re.compile(r"insufficient usage|quota", re.IGNORECASE)
_SECRET = re.compile(r"\bsig=[^&\s\"'<]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class ArtifactResponse:
    """The answer to one request. `problem` is empty when the request was successful."""

    status: int | None = None
    """None when nobody answered."""
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Never shown: it may hold a signed address."""
    problem: str = ""
    transient: bool = False
    """Whether another attempt may succeed."""

    def good(self) -> "ArtifactResponse":
        """Itself; raises `PublishFailed` if the request failed."""
        if self.problem:
            raise PublishFailed(self.problem)
        return self

    def text(self, name: str) -> str:
        """A field of the body in snake_case or camelCase: servers differ in what they write."""
        first, *others = name.split("_")
        camel = first + "".join(word.capitalize() for word in others)
        value = self.body.get(name, self.body.get(camel))
        return "" if value is None else str(value)


class ArtifactRequests:
    """Sends requests, with the waits of `ARTIFACTS` between attempts. Redirects are not followed."""

    def __init__(self, sleep: Callable[[float], object]) -> None:
        self._client = httpx.Client(timeout=httpx.Timeout(ANSWER_SECONDS, connect=_CONNECT_SECONDS))
        self._sleep = sleep
        self._answered = False
        """Whether anybody has ever answered; if not, all attempts together have a limit."""

    def __enter__(self) -> "ArtifactRequests":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def send(
        self,
        what: str,
        method: str,
        url: str,
        *,
        parse: bool = True,
        silence: float | None = None,
        headers: Mapping[str, str] | None = None,
        **content: Any,
    ) -> ArtifactResponse:
        """`what` names the request in sentences; with `parse`, an answer without JSON is a failure. `silence`: seconds
        without progress after which an attempt has failed."""
        timeout = httpx.Timeout(silence or ANSWER_SECONDS, connect=_CONNECT_SECONDS)
        request = self._client.build_request(method, url, headers=headers, timeout=timeout, **content)
        retries, spent = Retries(ARTIFACTS, draw), 0.0
        while True:
            started = time.monotonic()
            response = self._attempt(what, request, parse=parse)
            if not response.transient:
                return response
            wait = retries.wait(Failure(status=response.status), started)
            spent += time.monotonic() - started + (wait or 0.0)
            if wait is None or (not self._answered and spent > ARTIFACTS.first_contact):
                return replace(response, problem=f"{response.problem.rstrip('.')} ({retries.failures} tries).")
            self._sleep(wait)

    def _attempt(self, what: str, request: httpx.Request, *, parse: bool) -> ArtifactResponse:
        try:
            response = self._client.send(request)
        except httpx.HTTPError as error:
            where = f"{request.url.scheme}://{request.url.netloc.decode()}"
            problem = f"{what} got no answer from {where}: {with_cure(error)}."
            return ArtifactResponse(problem=problem, transient=not is_untrusted(error))
        self._answered = True
        body = _object(response.content)
        status = f"HTTP {response.status_code} {response.reason_phrase}".strip()
        result = ArtifactResponse(status=response.status_code, body=body or {})
        if response.is_success:
            if body is None and parse:
                return replace(result, problem=f"{what} was answered with {status} but without JSON.", transient=True)
            return result
        message = _message(body, response)
        if _USED_UP.search(message):
            return replace(result, problem=f"{what} was refused because the artifact storage is used up: {message}")
        missing = response.status_code in {404, 405, 501}
        transient = response.status_code in ARTIFACTS.transient or (body is None and parse and not missing)
        return replace(result, problem=f"{what} was answered with {status}: {message}", transient=transient)


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        body = json.loads(content)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _message(body: Mapping[str, Any] | None, response: httpx.Response) -> str:
    """The server's reason as one sentence: Twirp's `msg`, Azure's `message`, or the beginning of the body."""
    text = str((body or {}).get("msg") or (body or {}).get("message") or response.text)
    # A store may repeat the signed address in its error.
    line = _SECRET.sub("sig=***", " ".join(re.sub(r"<[^>]*>", " ", text).split()))[:200].rstrip(". ")
    return f"{line or 'no reason was given'}."


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

    def fill(self, name: str, created: ArtifactResponse, contents: zipping.Contents) -> FinishedUpload:
        """Uploads a zip to the signed address of `created`, then tells the service that it is complete."""
        url = _granted(created, "CreateArtifact").text("signed_upload_url")
        if not url:
            raise PublishFailed(f"The artifact service created '{name}' but gave no address to upload it to.")
        upload = BlockUpload(url, self.requests)
        notes = zipping.write(contents, upload)
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


class BlockUpload:
    """A file to write into: an Azure block blob at a signed address. One block at most is in memory, and the store
    shows nothing before `commit`."""

    def __init__(self, url: str, requests: ArtifactRequests) -> None:
        self._url = url
        self._requests = requests
        self._upload_id = str(uuid.uuid4())
        self._buffer = bytearray()
        self._blocks: list[str] = []
        self._hash = hashlib.sha256()
        self.size = 0
        self._failed = False

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def write(self, data: bytes, /) -> int:
        self._buffer += data
        # A zip file writes its end even after an error; that must not start the attempts of another block.
        while len(self._buffer) >= zipping.PIECE_BYTES and not self._failed:
            self._send(bytes(memoryview(self._buffer)[: zipping.PIECE_BYTES]))
            del self._buffer[: zipping.PIECE_BYTES]
        return len(data)

    def flush(self) -> None:
        """Blocks are sent when they are full; the last one by `commit`."""

    def close(self) -> None:
        """Nothing is kept open."""

    def commit(self) -> None:
        if self._buffer:
            self._send(bytes(self._buffer))
            self._buffer.clear()
        block_list = "".join(f"<Latest>{block}</Latest>" for block in self._blocks)
        self._put(
            "comp=blocklist",
            f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><BlockList>{block_list}</BlockList>'.encode(),
            {"Content-Type": "application/xml", "x-ms-blob-content-type": "application/zip"},
            "The list of blocks",
        )

    def _send(self, data: bytes) -> None:
        # All ids of a file must be equally long.
        block = base64.b64encode(f"{self._upload_id}{len(self._blocks):012d}".encode()).decode()
        self._blocks.append(block)
        self._failed = True
        self._hash.update(data)
        self.size += len(data)
        checksum = base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
        # With the checksum the store finds damage by itself.
        self._put(
            f"comp=block&blockid={urllib.parse.quote(block, safe='')}",
            data,
            {"Content-Type": "application/octet-stream", "Content-MD5": checksum},
            f"Block {len(self._blocks)} of the artifact",
        )
        self._failed = False

    def _put(self, query: str, data: bytes, headers: Mapping[str, str], what: str) -> None:
        # No Authorization header: the signed address is enough, and the store must not get our token. The query is
        # appended as text: parsing and joining it again may change the signature.
        url = f"{self._url}{'&' if '?' in self._url else '?'}{query}"
        headers = {"x-ms-version": _BLOB_VERSION, **headers}
        self._requests.send(what, "PUT", url, parse=False, silence=_STALL_SECONDS, headers=headers, content=data).good()


@dataclass(frozen=True, kw_only=True, slots=True)
class ArtifactProtocolV3:
    """For servers that have no other protocol: a container with separate files. `base` ends with a slash."""

    requests: ArtifactRequests
    base: str
    token: str = field(repr=False)
    run: str

    def upload(self, name: str, contents: zipping.Contents, retention_days: int | None) -> FinishedUpload:
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
                    notes.append(zipping.unreadable(file, error))
        self._call("The end of the upload", "PATCH", {"artifactName": name}, {"Size": total})
        return FinishedUpload(id=None, digest=None, size=total, notes=tuple(notes))

    def _add(self, url: str, entry: zipping.ZipMember) -> int:
        with entry.path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                self._put(url, b"", {})  # an empty file has no range
            start = 0
            for piece in zipping.pieces(file, size):
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
