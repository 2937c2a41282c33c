"""Requests to GitHub's artifact service and its store: what may pass is tried again, a failure is one sentence."""

import base64
import hashlib
import json
import re
import time
import urllib.parse
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.system.process_environment import is_untrusted, with_cure
from model_accuracy_eval.system.retry import ARTIFACTS, Failure, Retries

ANSWER_SECONDS, _CONNECT_SECONDS = 30.0, 10.0
_BLOB_VERSION = "2026-04-06"
_STALL_SECONDS = 60.0
"""Without progress, after which an attempt to send a block has failed."""
_ABSENT = frozenset({404, 405, 501})
_USED_UP = re.compile(r"insufficient usage|quota", re.IGNORECASE)
_SECRET = re.compile(r"\bsig=[^&\s\"'<]+")


class ArtifactTrouble(PublishFailed):
    """What one request met: a refusal, an answer that is none, or nobody."""

    def __init__(
        self, sentence: str, *, status: int | None = None, is_absent: bool = False, passes: bool = False
    ) -> None:
        """`is_absent`: the server has no such service; one that refuses is another matter. `passes`: another attempt
        may succeed."""
        super().__init__(sentence)
        self.status, self.is_absent, self.passes = status, is_absent, passes


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

    def send(self, what: str, method: str, url: str, *, parse: bool = True, **content: Any) -> dict[str, Any]:
        """The JSON of the answer. `what` names the request in sentences; with `parse`, an answer without JSON is a
        failure."""
        request = self._client.build_request(method, url, **content)
        retries, spent = Retries(ARTIFACTS), 0.0
        while True:
            started = time.monotonic()
            try:
                return self._attempt(what, request, parse=parse)
            except ArtifactTrouble as trouble:
                if not trouble.passes:
                    raise
                wait = retries.wait(Failure(status=trouble.status), started)
                spent += time.monotonic() - started + (wait or 0.0)
                if wait is None or (not self._answered and spent > ARTIFACTS.first_contact):
                    sentence = f"{trouble.sentence.rstrip('.')} ({retries.failures} tries)."
                    raise ArtifactTrouble(sentence, status=trouble.status) from trouble
            self._sleep(wait)

    def _attempt(self, what: str, request: httpx.Request, *, parse: bool) -> dict[str, Any]:
        try:
            response = self._client.send(request)
        except httpx.HTTPError as error:
            where = f"{request.url.scheme}://{request.url.netloc.decode()}"
            raise ArtifactTrouble(
                f"{what} got no answer from {where}: {with_cure(error)}.", passes=not is_untrusted(error)
            ) from error
        self._answered = True
        body, code = _object(response.content), response.status_code
        answered = f"{what} was answered with HTTP {code} {response.reason_phrase}".strip()
        if response.is_success:
            if body is None and parse:
                raise ArtifactTrouble(f"{answered} but without JSON.", status=code, passes=True)
            return body or {}
        message = _message(body, response)
        if _USED_UP.search(message):
            raise ArtifactTrouble(f"{what} was refused because the artifact storage is used up: {message}", status=code)
        raise ArtifactTrouble(
            f"{answered}: {message}",
            status=code,
            is_absent=code in _ABSENT and (code != 404 or (body or {}).get("code") in {None, "bad_route"}),
            passes=code in ARTIFACTS.transient or (body is None and parse and code not in _ABSENT),
        )

    def upload_blocks(self, url: str, blocks: Iterator[bytes]) -> tuple[str, int]:
        """Makes the file of an Azure store at a signed address, which shows nothing before all is there; returns
        SHA-256 and size."""
        prefix, ids, digest, size = str(uuid.uuid4()), list[str](), hashlib.sha256(), 0

        def put(what: str, query: str, data: bytes, headers: Mapping[str, str]) -> None:
            # No Authorization header: the signed address is enough, and the store must not get our token. The query is
            # appended as text: parsing and joining it again may change the signature.
            address = f"{url}{'&' if '?' in url else '?'}{query}"
            timeout = httpx.Timeout(_STALL_SECONDS, connect=_CONNECT_SECONDS)
            headers = {"x-ms-version": _BLOB_VERSION, **headers}
            self.send(what, "PUT", address, parse=False, timeout=timeout, headers=headers, content=data)

        for block in blocks:
            # All ids of a file must be equally long.
            ids.append(base64.b64encode(f"{prefix}{len(ids):012d}".encode()).decode())
            digest.update(block)
            size += len(block)
            # With the checksum the store finds damage by itself.
            checksum = base64.b64encode(hashlib.md5(block, usedforsecurity=False).digest()).decode()
            put(
                f"Block {len(ids)} of the artifact",
                f"comp=block&blockid={urllib.parse.quote(ids[-1], safe='')}",
                block,
                {"Content-Type": "application/octet-stream", "Content-MD5": checksum},
            )
        block_list = "".join(f"<Latest>{each}</Latest>" for each in ids)
        put(
            "The list of blocks",
            "comp=blocklist",
            f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><BlockList>{block_list}</BlockList>'.encode(),
            {"Content-Type": "application/xml", "x-ms-blob-content-type": "application/zip"},
        )
        return digest.hexdigest(), size


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
