"""How a folder gets to GitHub's artifact service: requests that are tried again, and an upload in blocks.

What may pass is tried again; a failure is one sentence. Nothing is copied on disk, one block at most is in memory, and
every file that is left out has a sentence.
"""

import base64
import hashlib
import json
import re
import time
import urllib.parse
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.system.process_environment import is_untrusted, with_cure
from model_accuracy_eval.system.retry import ARTIFACTS, Failure, Retries

ANSWER_SECONDS, _CONNECT_SECONDS = 30.0, 10.0
_BLOB_VERSION = "2026-04-06"
_STALL_SECONDS = 60.0
"""Without progress, after which an attempt to send a block has failed."""
PIECE_BYTES = 8 * 1024 * 1024
FORBIDDEN = '":<>|*?\\'
"""Characters that some file system refuses in a name, so that the archive could not be unpacked there."""
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
        retries, spent = Retries(ARTIFACTS), 0.0
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
        while len(self._buffer) >= PIECE_BYTES and not self._failed:
            self._send(bytes(memoryview(self._buffer)[:PIECE_BYTES]))
            del self._buffer[:PIECE_BYTES]
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
