"""One file from a hub: goes on where it was interrupted, and is kept only if its hash is the promised one."""

import asyncio
import errno
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import httpx

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.rim.hubs.sizes import show_size
from model_accuracy_eval.rim.hubs.weights_http import Again, Calls
from model_accuracy_eval.rim.hubs.weights_records import WeightFile, Weights

PIECE = 1 << 20
"""Bytes that are hashed and written at once, in a thread, so that several files use several cores."""


def digest(file: WeightFile) -> "hashlib._Hash":
    """Git hashes a small file with its length before it."""
    if file.sha256 is not None:
        return hashlib.sha256()
    return hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)


def promised(file: WeightFile) -> str | None:
    return file.sha256 or file.git_sha1


async def hash_of(path: Path, file: WeightFile) -> str:
    """Piece by piece, so that a stop does not have to wait for a whole file."""
    running = digest(file)
    with path.open("rb", buffering=0) as source:
        while data := await asyncio.to_thread(source.read, 4 * PIECE):
            await asyncio.to_thread(running.update, data)
    return running.hexdigest()


class Download:
    """`partial` survives every interruption; `target` appears whole and right."""

    def __init__(self, calls: Calls, weights: Weights, file: WeightFile, partial: Path, target: Path) -> None:
        self._calls = calls
        self._weights = weights
        self._file = file
        self._partial = partial
        self._target = target
        self._hash = digest(file)
        self.done = partial.stat().st_size if partial.is_file() else 0

    async def run(self) -> None:
        self._partial.parent.mkdir(parents=True, exist_ok=True)
        self._target.parent.mkdir(parents=True, exist_ok=True)
        resumed = await self._take_up()
        while True:
            await self._calls.persist(self._once, lambda: self.done)
            found = self._hash.hexdigest()
            if found == promised(self._file):
                self._partial.replace(self._target)
                return
            self._start_over()
            if not resumed:
                raise Refused(self._mismatch(found))
            # What an earlier run left may be damaged, by a power cut for one; what was just read is not.
            resumed = False

    async def _take_up(self) -> bool:
        """Hashes what is there already."""
        if not 0 < self.done <= self._file.size:
            self._start_over()
            return False
        with self._partial.open("rb", buffering=0) as source:
            while data := await asyncio.to_thread(source.read, 4 * PIECE):
                await asyncio.to_thread(self._hash.update, data)
        return True

    def _start_over(self) -> None:
        self._partial.unlink(missing_ok=True)
        self._hash = digest(self._file)
        self.done = 0

    async def _once(self) -> None:
        if self.done == self._file.size:
            self._partial.touch()  # an empty file needs no request
            return
        address = self._calls.hub.address(self._weights, self._file)
        wanted = {"range": f"bytes={self.done}-"} if self.done else {}
        async with self._calls.open(address, wanted) as answer:
            if not self._goes_on(answer):
                self._start_over()
                if answer.status_code in (206, 416):
                    raise Again(f"{self._calls.hub.endpoint} cannot go on with {self._file.path}")
            await self._receive(answer)
        if self.done < self._file.size:
            raise Again(
                f"{self._calls.hub.endpoint} sent {show_size(self.done)} of the {show_size(self._file.size)} "
                f"of {self._file.path}"
            )

    def _goes_on(self, answer: httpx.Response) -> bool:
        told = str(answer.headers.get("content-range", ""))
        return answer.status_code == 206 and told.startswith(f"bytes {self.done}-")

    async def _receive(self, answer: httpx.Response) -> None:
        pending = bytearray()
        with self._partial.open("ab", buffering=0) as partial:
            try:
                async for data in answer.aiter_raw():
                    pending += data
                    if len(pending) >= PIECE:
                        whole, pending = pending, bytearray()
                        await asyncio.to_thread(self._add, partial.fileno(), whole)
            except httpx.HTTPError as error:
                # Only here: after a cancellation the thread above may still be writing.
                self._add(partial.fileno(), pending)
                raise self._calls.broken(str(answer.url), error) from error
            self._add(partial.fileno(), pending)

    def _add(self, descriptor: int, data: bytearray) -> None:
        if self.done + len(data) > self._file.size:
            raise Refused(self._mismatch("that of a longer file"))
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        self._hash.update(data)
        self.done += len(data)

    def _mismatch(self, found: str) -> str:
        return (
            f"{self._file.path} of {self._weights.reference} is not the file that was promised: its hash is {found}, "
            f"the hub's list says {promised(self._file)} ({show_size(self._file.size)}); it is not kept."
        )


async def fetch_all(downloads: list[Download], at_once: int) -> None:
    """Several at once; the first failure ends all of them."""
    turn = asyncio.Semaphore(at_once)

    async def one(download: Download) -> None:
        async with turn:
            await download.run()

    tasks = [asyncio.ensure_future(one(download)) for download in downloads]
    try:
        for task in asyncio.as_completed(tasks):
            await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def explained(error: OSError, weights: Weights, folder: Path, free: Callable[[Path], int]) -> Refused:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Refused(
            f"The disk is full: {weights.reference} needs {show_size(weights.total)}, "
            f"{folder} has {show_size(free(folder))} free."
        )
    return Refused(f"The weights cannot be kept in {folder}: {error}.")
