"""The artifact service's earlier protocol, for servers that have no other: a container with separate files."""

import tempfile
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github.artifacts import zipping
from model_accuracy_eval.github.artifacts.artifact_requests import ArtifactRequests

_PREVIEW = "6.0-preview"
_CHUNK = 8 * 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class ArtifactProtocolV3:
    """The requests for one run; `base` ends with a slash."""

    requests: ArtifactRequests
    base: str
    token: str = field(repr=False)
    run: str

    def upload(self, name: str, contents: zipping.Contents, retention_days: int | None) -> tuple[int, list[str]]:
        """Sends every file; returns the bytes sent, and a sentence for every file that could not be read."""
        container = self._create(name, retention_days)
        # This protocol has no empty folders.
        files = [entry for entry in contents.entries if not entry.is_folder]
        results = [
            self._add(f"{container}?itemPath={urllib.parse.quote(f'{name}/{file.name}')}", file) for file in files
        ]
        total = sum(size for size, _ in results)
        notes = [note for _, note in results if note]
        self._call("The end of the upload", "PATCH", self._artifacts(artifactName=name), {"Size": total})
        return total, notes

    def _create(self, name: str, retention_days: int | None) -> str:
        body: dict[str, Any] = {"Type": "actions_storage", "Name": name}
        if retention_days is not None:
            body["RetentionDays"] = retention_days
        response = self._call("The artifact service", "POST", self._artifacts(), body)
        container = response.get("fileContainerResourceUrl")
        if not isinstance(container, str) or not container:
            raise PublishFailed(f"The artifact service created '{name}' but gave no address to upload it to.")
        return container

    def _artifacts(self, **query: str) -> str:
        query_string = urllib.parse.urlencode({"api-version": _PREVIEW, **query})
        return f"{self.base}_apis/pipelines/workflows/{self.run}/artifacts?{query_string}"

    def _add(self, url: str, entry: zipping.ZipMember) -> tuple[int, str]:
        """Bytes sent, and a sentence if not all of the file could be read."""
        try:
            with tempfile.TemporaryFile() as copy:
                # The length is sent with the first piece, and a log may grow meanwhile.
                with zipping.opened(entry.path) as (file, size):
                    for piece in zipping.pieces(file, size):
                        copy.write(piece)
                return self._send(url, copy), ""
        except OSError as error:
            return 0, zipping.unreadable(entry, error)

    def _send(self, url: str, file: BinaryIO) -> int:
        total = file.seek(0, 2)
        file.seek(0)
        start = 0
        while start < total or total == 0:
            piece = file.read(_CHUNK)
            # An empty file has no range.
            span = {"Content-Range": f"bytes {start}-{start + len(piece) - 1}/{total}"} if piece else {}
            self._put(url, piece, span)
            start += len(piece)
            if total == 0:
                break
        return total

    def _put(self, url: str, piece: bytes, span: Mapping[str, str]) -> None:
        headers = {**self._headers(), "Content-Type": "application/octet-stream", **span}
        request = self.requests.client.build_request("PUT", url, content=piece, headers=headers)
        self.requests.send("A file of the artifact", request, parse=False).raise_for_problem()

    def _call(self, what: str, method: str, url: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        request = self.requests.client.build_request(method, url, json=body, headers=self._headers())
        return self.requests.send(what, request).raise_for_problem().body

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "Accept": f"application/json;api-version={_PREVIEW}"}
