"""Azure's block blobs behind a signed address: blocks of 8 MiB in order, then the list that makes them one file."""

import base64
import hashlib
import urllib.parse
import uuid
from collections.abc import Mapping

import httpx

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.rim.artifacts.artifact_calls import Calls

BLOCK = 8 * 1024 * 1024
CONNECT = 10.0
VERSION = "2026-04-06"


def secrets_of(url: str) -> tuple[str, ...]:
    """Every form in which the signature of an address could be printed."""
    query = urllib.parse.urlsplit(url).query
    written = [part.partition("=")[2] for part in query.split("&") if part.partition("=")[0].lower() == "sig"]
    forms: dict[str, None] = {}
    for value in filter(None, written):
        plain = urllib.parse.unquote(value)
        forms.update(dict.fromkeys((plain, urllib.parse.quote(plain, safe=""), value)))
    return tuple(forms)


class BlockUpload:
    """A file to write into, which holds one block at most. Nothing is visible in the store before `commit`."""

    def __init__(self, url: str, calls: Calls, *, timeout: float) -> None:
        self._url = url
        self._calls = calls
        self._timeout = timeout
        self._series = str(uuid.uuid4())
        self._waiting = bytearray()
        self._blocks: list[str] = []
        self._hash = hashlib.sha256()
        self.size = 0
        self._broken = False

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def write(self, data: bytes, /) -> int:
        self._waiting += data
        # A zip writes its end even when it ends in an error; that must not set off the tries of another block.
        while len(self._waiting) >= BLOCK and not self._broken:
            self._send(bytes(memoryview(self._waiting)[:BLOCK]))
            del self._waiting[:BLOCK]
        return len(data)

    def flush(self) -> None:
        """Blocks are sent when they are full; the last one by `commit`."""

    def close(self) -> None:
        """Nothing is kept open."""

    def commit(self, content_type: str) -> None:
        if self._waiting:
            self._send(bytes(self._waiting))
            self._waiting.clear()
        listed = "".join(f"<Latest>{block}</Latest>" for block in self._blocks)
        self._put(
            "comp=blocklist",
            f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><BlockList>{listed}</BlockList>'.encode(),
            {"Content-Type": "application/xml", "x-ms-blob-content-type": content_type},
            "The list of blocks",
        )

    def _send(self, data: bytes) -> None:
        # All ids of a file must be equally long.
        block = base64.b64encode(f"{self._series}{len(self._blocks):012d}".encode()).decode()
        self._blocks.append(block)
        self._broken = True
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
        self._broken = False

    def _put(self, query: str, data: bytes, headers: Mapping[str, str], what: str) -> Mapping[str, str]:
        # No Authorization: the address is its own permission, and our token is none of the store's business.
        request = self._calls.client.build_request(
            "PUT",
            # Appended as text: taken apart and put together again, a signature may come out differently.
            f"{self._url}{'&' if '?' in self._url else '?'}{query}",
            content=data,
            headers={"x-ms-version": VERSION, **headers},
            timeout=httpx.Timeout(self._timeout, connect=CONNECT),
        )
        return self._calls.ask(what, request, parse=False).needed().headers
