"""Uploads to an Azure block blob at a signed address: blocks of 8 MiB in order, then the list that joins them."""

import base64
import hashlib
import urllib.parse
import uuid
from collections.abc import Mapping

import httpx

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github.artifacts.artifact_requests import ArtifactRequests

BLOCK_BYTES = 8 * 1024 * 1024
CONNECT_SECONDS = 10.0
VERSION = "2026-04-06"


def secrets_of(url: str) -> tuple[str, ...]:
    """Every form in which the signature of an address could be printed."""
    query = urllib.parse.urlsplit(url).query
    values = [part.partition("=")[2] for part in query.split("&") if part.partition("=")[0].lower() == "sig"]
    forms: dict[str, None] = {}
    for value in filter(None, values):
        plain = urllib.parse.unquote(value)
        forms.update(dict.fromkeys((plain, urllib.parse.quote(plain, safe=""), value)))
    return tuple(forms)


class BlockUpload:
    """A file to write into that buffers one block at most. The store shows nothing before `commit`."""

    def __init__(self, url: str, requests: ArtifactRequests, *, timeout: float) -> None:
        self._url = url
        self._requests = requests
        self._timeout = timeout
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
        while len(self._buffer) >= BLOCK_BYTES and not self._failed:
            self._send(bytes(memoryview(self._buffer)[:BLOCK_BYTES]))
            del self._buffer[:BLOCK_BYTES]
        return len(data)

    def flush(self) -> None:
        """Blocks are sent when they are full; the last one by `commit`."""

    def close(self) -> None:
        """Nothing is kept open."""

    def commit(self, content_type: str) -> None:
        if self._buffer:
            self._send(bytes(self._buffer))
            self._buffer.clear()
        block_list = "".join(f"<Latest>{block}</Latest>" for block in self._blocks)
        self._put(
            "comp=blocklist",
            f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><BlockList>{block_list}</BlockList>'.encode(),
            {"Content-Type": "application/xml", "x-ms-blob-content-type": content_type},
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
        headers = self._put(
            f"comp=block&blockid={urllib.parse.quote(block, safe='')}",
            data,
            {"Content-Type": "application/octet-stream", "Content-MD5": checksum},
            f"Block {len(self._blocks)} of the artifact",
        )
        if headers.get("content-md5", checksum) != checksum:
            raise PublishFailed(
                f"Block {len(self._blocks)} of the artifact arrived damaged ({len(data)} bytes): "
                f"the store has MD5 {headers['content-md5']}, but {checksum} was sent."
            )
        self._failed = False

    def _put(self, query: str, data: bytes, headers: Mapping[str, str], what: str) -> Mapping[str, str]:
        # No Authorization header: the signed address is enough, and the store must not get our token.
        request = self._requests.client.build_request(
            "PUT",
            # Appended as text: parsing and joining the query again may change the signature.
            f"{self._url}{'&' if '?' in self._url else '?'}{query}",
            content=data,
            headers={"x-ms-version": VERSION, **headers},
            timeout=httpx.Timeout(self._timeout, connect=CONNECT_SECONDS),
        )
        return self._requests.send(what, request, parse=False).raise_for_problem().headers
