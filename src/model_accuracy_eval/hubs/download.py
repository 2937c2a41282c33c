"""Downloads one file from a hub: resumes where it was interrupted, and keeps the file only if its hash is right."""

import asyncio
import contextlib
import errno
import fcntl
import hashlib
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.hubs.hub_requests import HubRequests, TransientError, connection_failed
from model_accuracy_eval.hubs.weights_listing import WeightFile, WeightsListing, show_size

PIECE = 1 << 20
"""Bytes that are hashed and written together, in a thread, so that several files use several cores."""


def new_hash(file: WeightFile) -> "hashlib._Hash":
    """Small files have git's hash, which begins with their length."""
    if file.sha256 is not None:
        return hashlib.sha256()
    return hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)


def expected_hash(file: WeightFile) -> str | None:
    return file.sha256 or file.git_sha1


async def hash_file(path: Path, file: WeightFile) -> str:
    """Piece by piece, so that a stop does not have to wait for a whole file."""
    result = new_hash(file)
    with path.open("rb", buffering=0) as source:
        while data := await asyncio.to_thread(source.read, 4 * PIECE):
            await asyncio.to_thread(result.update, data)
    return result.hexdigest()


class Download:
    """The download of one file. `partial` survives interruptions; `target` appears when all of it is verified."""

    def __init__(
        self,
        requests: HubRequests,
        address: str,
        weights: WeightsListing,
        file: WeightFile,
        *,
        partial: Path,
        target: Path,
    ) -> None:
        self._requests = requests
        self._address = address
        self._weights = weights
        self._file = file
        self._partial = partial
        self._target = target
        self._hash = new_hash(file)
        self.done = partial.stat().st_size if partial.is_file() else 0

    async def run(self) -> None:
        self._partial.parent.mkdir(parents=True, exist_ok=True)
        self._target.parent.mkdir(parents=True, exist_ok=True)
        resumed = await self._hash_partial()
        while True:
            await self._requests.repeat(self._attempt, lambda: self.done)
            actual = self._hash.hexdigest()
            if actual == expected_hash(self._file):
                self._partial.replace(self._target)
                return
            self._start_over()
            if not resumed:
                raise Refused(self._mismatch(actual))
            # The part from an earlier run may have been damaged, for example by a power cut; the next attempt has none.
            resumed = False

    async def _hash_partial(self) -> bool:
        """Hashes what an earlier run downloaded; whether there was anything."""
        if not 0 < self.done <= self._file.size:
            self._start_over()
            return False
        with self._partial.open("rb", buffering=0) as source:
            while data := await asyncio.to_thread(source.read, 4 * PIECE):
                await asyncio.to_thread(self._hash.update, data)
        return True

    def _start_over(self) -> None:
        self._partial.unlink(missing_ok=True)
        self._hash = new_hash(self._file)
        self.done = 0

    async def _attempt(self) -> None:
        if self.done == self._file.size:
            self._partial.touch()  # an empty file needs no request
            return
        headers = {"range": f"bytes={self.done}-"} if self.done else {}
        async with self._requests.open(self._address, headers) as response:
            if not self._resumes(response):
                self._start_over()
                if response.status_code in (206, 416):
                    raise TransientError(f"{self._requests.hub.endpoint} cannot resume {self._file.path}")
            await self._receive(response)
        if self.done < self._file.size:
            raise TransientError(
                f"{self._requests.hub.endpoint} sent {show_size(self.done)} of the {show_size(self._file.size)} "
                f"of {self._file.path}"
            )

    def _resumes(self, response: httpx.Response) -> bool:
        content_range = str(response.headers.get("content-range", ""))
        return response.status_code == 206 and content_range.startswith(f"bytes {self.done}-")

    async def _receive(self, response: httpx.Response) -> None:
        pending = bytearray()
        with self._partial.open("ab", buffering=0) as partial:
            try:
                async for data in response.aiter_raw():
                    pending += data
                    if len(pending) >= PIECE:
                        piece, pending = pending, bytearray()
                        await asyncio.to_thread(self._add, partial.fileno(), piece)
            except httpx.HTTPError as error:
                # Not after a cancellation: then the thread above may still be writing.
                self._add(partial.fileno(), pending)
                raise connection_failed(str(response.url), error) from error
            self._add(partial.fileno(), pending)

    def _add(self, descriptor: int, data: bytearray) -> None:
        if self.done + len(data) > self._file.size:
            raise Refused(self._mismatch("that of a longer file"))
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        self._hash.update(data)
        self.done += len(data)

    def _mismatch(self, actual: str) -> str:
        return (
            f"{self._file.path} of {self._weights.reference} is not the expected file: its hash is {actual}, "
            f"the hub lists {expected_hash(self._file)} ({show_size(self._file.size)}); it is not kept."
        )


async def fetch_all(downloads: list[Download], at_once: int) -> None:
    """Downloads several files at once; the first failure ends all of them."""
    slots = asyncio.Semaphore(at_once)

    async def run(download: Download) -> None:
        async with slots:
            await download.run()

    tasks = [asyncio.ensure_future(run(download)) for download in downloads]
    try:
        for task in asyncio.as_completed(tasks):
            await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def disk_refusal(error: OSError, weights: WeightsListing, folder: Path, free: Callable[[Path], int]) -> Refused:
    """An error of the disk as a sentence, with the space that is needed and free."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Refused(
            f"The disk is full: {weights.reference} needs {show_size(weights.total)}, "
            f"{folder} has {show_size(free(folder))} free."
        )
    return Refused(f"The weights cannot be kept in {folder}: {error}.")


# Downloads a file whose length and hash no hub lists: it resumes, and the caller verifies what arrived.


class FileDownload:
    """The download of one address, which always means the same bytes. `partial` survives interruptions."""

    def __init__(self, requests: HubRequests, url: str, partial: Path) -> None:
        self._requests = requests
        self._url = url
        self._partial = partial
        self.done = partial.stat().st_size if partial.is_file() else 0
        self.total: int | None = None
        """Known after the first answer, if the host says it."""
        self._etag = ""

    async def run(self) -> None:
        self._partial.parent.mkdir(parents=True, exist_ok=True)
        await self._requests.repeat(self._attempt, lambda: self.done)

    async def _attempt(self) -> None:
        headers = {"range": f"bytes={self.done}-"} if self.done else {}
        if self.done and self._etag:
            headers["if-range"] = self._etag  # a file that has changed meanwhile comes whole
        async with self._requests.open(self._url, headers) as response:
            content_range = str(response.headers.get("content-range", ""))
            if self.done and response.status_code == 416 and content_range == f"bytes */{self.done}":
                return  # all of it arrived before
            if not (response.status_code == 206 and content_range.startswith(f"bytes {self.done}-")):
                self._start_over()
                if response.status_code in (206, 416):
                    raise TransientError(f"{self._requests.hub.endpoint} cannot resume {self._url}")
            await self._receive(response)

    def _start_over(self) -> None:
        self._partial.unlink(missing_ok=True)
        self.done = 0

    async def _receive(self, response: httpx.Response) -> None:
        """HTTP itself tells a body that ends too early: by its length, or by the missing last chunk."""
        etag = response.headers.get("etag", "")
        self._etag = "" if etag.startswith("W/") else etag
        length = response.headers.get("content-length", "")
        self.total = self.done + int(length) if length.isdigit() else None
        with self._partial.open("ab", buffering=0) as partial:
            try:
                async for data in response.aiter_raw():
                    view = memoryview(data)
                    while view:
                        written = partial.write(view) or 0
                        self.done += written
                        view = view[written:]
            except httpx.HTTPError as error:
                raise connection_failed(str(response.url), error) from error


# Work that a stop can end.


T = TypeVar("T")

_POLL_SECONDS = 0.1


async def run_checking(work: Coroutine[Any, Any, T], check: Callable[[], object]) -> T:
    """Runs the work and calls `check` now and then; what `check` raises cancels the work."""
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=_POLL_SECONDS))[0]:
            check()
    except BaseException:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise
    return task.result()


# One process at a time: the kernel unlocks the file when its holder ends, however that ends.


_LOCK_POLL_SECONDS = 0.1


@asynccontextmanager
async def locked(path: Path, on_wait: Callable[[], object]) -> AsyncIterator[None]:
    """Holds the lock. `on_wait` is called once if another process has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        if not _try_lock(descriptor):
            on_wait()
            while not _try_lock(descriptor):  # noqa: ASYNC110 - it happens in another process
                await asyncio.sleep(_LOCK_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
