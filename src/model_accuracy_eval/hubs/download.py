"""Downloads, each resumed where it was interrupted; and what guards a cache that several runs fill."""

import asyncio
import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import httpx

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.hubs import content
from model_accuracy_eval.hubs.hub_requests import HubRequests, T, TransientError, connection_failed
from model_accuracy_eval.system.sizes import MOST_DATA, show_size

_POLL_SECONDS = 0.1
_PIECE = 4 << 20


def ignore(*_: object) -> None:
    pass


class Download:
    """The download of one address, which always means the same bytes. `partial` survives interruptions.

    `size`: how many bytes these are, if that is known; `most`: how many it may be, if it is not. `or_as_told`: or as
    many as the host says beforehand.
    """

    def __init__(
        self,
        requests: HubRequests,
        url: str,
        partial: Path,
        size: int | None = None,
        *,
        most: int | None = None,
        or_as_told: bool = False,
    ) -> None:
        self._requests = requests
        self._url = url
        self._partial = partial
        self._size = size
        self._most = most
        self._or_as_told = or_as_told
        self.done = partial.stat().st_size if partial.is_file() else 0
        self.total = size
        """Known after the first answer, if the host says it."""
        self._etag = ""

    async def keep(self, expected: str, called: str, place: Callable[[str], Path]) -> str:
        """Leaves the file at its place, which its hash says, and returns the hash. What is not the expected one is not
        kept; it is fetched once more if a part is from an earlier run, which a power cut may have damaged.

        `expected`: empty: whatever it is.
        """
        for _ in range(2 if self.done else 1):
            await self.run()
            found = await self._hash(expected)
            if found == (expected or found):
                self._refuse_pointer(called)
                target = place(found)
                target.parent.mkdir(parents=True, exist_ok=True)
                self._partial.replace(target)
                return found
            size = self.done
            self._refuse_pointer(called)
            self.start_over()
        raise Refused(
            f"{called} is not the expected file: its hash is {found}, but {expected} is pinned ({show_size(size)} "
            "came); it is not kept."
        )

    def _refuse_pointer(self, called: str) -> None:
        try:
            content.refuse_pointer(self._partial, called, Refused)
        except Refused:
            self.start_over()
            raise

    async def _hash(self, like: str) -> str:
        """Piece by piece, so that a stop does not have to wait for a whole file."""
        with self._partial.open("rb", buffering=0) as source:
            whole = content.new_hash(like, os.fstat(source.fileno()).st_size)
            while data := await asyncio.to_thread(source.read, _PIECE):
                await asyncio.to_thread(whole.update, data)
        return whole.hexdigest()

    async def run(self) -> None:
        self._partial.parent.mkdir(parents=True, exist_ok=True)
        if self._size is not None and self.done > self._size:
            self.start_over()
        await self._requests.repeat(self._attempt, lambda: self.done)

    def start_over(self) -> None:
        self._partial.unlink(missing_ok=True)
        self.done = 0

    async def _attempt(self) -> None:
        if self.done == self._size:
            self._partial.touch()  # an empty file needs no request
            return
        headers = {"range": f"bytes={self.done}-"} if self.done else {}
        if self.done and self._etag:
            headers["if-range"] = self._etag  # a file that has changed meanwhile comes whole
        async with self._requests.open(self._url, headers) as response:
            content_range = str(response.headers.get("content-range", ""))
            if self.done and response.status_code == 416 and content_range == f"bytes */{self.done}":
                return  # all of it arrived before
            if not (response.status_code == 206 and content_range.startswith(f"bytes {self.done}-")):
                self.start_over()
                if response.status_code in (206, 416):
                    raise TransientError(f"{self._requests.hub.endpoint} cannot resume {self._url}")
            await self._receive(response)
        if self._size is not None and self.done < self._size:
            sent = f"{show_size(self.done)} of the {show_size(self._size)}"
            raise TransientError(f"{self._requests.hub.endpoint} sent {sent} of {self._url}")

    async def _receive(self, response: httpx.Response) -> None:
        """HTTP itself tells a body that ends too early: by its length, or by the missing last chunk."""
        if self._size is None:
            etag = response.headers.get("etag", "")
            self._etag = "" if etag.startswith("W/") else etag
            length = response.headers.get("content-length", "")
            self.total = self.done + int(length) if length.isdigit() else None
        most = None if self._size is not None or (self._or_as_told and self.total) else self._most
        with self._partial.open("ab", buffering=0) as partial:
            try:
                async for data in response.aiter_raw():
                    view = memoryview(data)
                    while view:
                        written = os.write(partial.fileno(), view)
                        self.done += written
                        view = view[written:]
                    if self._size is not None and self.done > self._size:
                        return  # its hash will be that of a longer file
                    if most is not None and self.done > most:
                        self.start_over()
                        raise Refused(
                            f"{self._url} has more than {show_size(most)}, which is what the files of one "
                            f"dataset may have: {MOST_DATA} names another bound. Nothing of it is kept."
                        )
            except httpx.HTTPError as error:
                raise connection_failed(str(response.url), error) from error


async def run_all(work: Iterable[Coroutine[Any, Any, None]], at_once: int) -> None:
    """Several at a time; the first failure ends all of them."""
    slots = asyncio.Semaphore(at_once)

    async def run(one: Coroutine[Any, Any, None]) -> None:
        async with slots:
            await one

    tasks = [asyncio.ensure_future(run(one)) for one in work]
    try:
        for task in asyncio.as_completed(tasks):
            await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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


@contextmanager
def held(path: Path, on_wait: Callable[[], object] = ignore, check: Callable[[], object] = ignore) -> Iterator[None]:
    """One process at a time; the kernel unlocks the file when its holder ends, however that ends.

    `on_wait` is called once if another one has the lock, `check` now and then while it has.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        if not _try_lock(file):
            on_wait()
            while not _try_lock(file):
                check()
                time.sleep(_POLL_SECONDS)
        yield


def _try_lock(file: IO[bytes]) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def tenths(name: str, say: Callable[[str], object], least: int = 0) -> Callable[[int, int], None]:
    """Says at every tenth how many bytes are there, of a total of at least so many."""
    shown = 0

    def show(done: int, total: int) -> None:
        nonlocal shown
        at = 10 * done // total if total else 0
        if at > shown and total >= least:
            shown = at
            say(f"{name}: {show_size(done)} of {show_size(total)}.")

    return show


def disk_refusal(error: OSError, what: str, folder: Path, free: int, setting: str) -> Refused:
    """An error of the disk as a sentence; `setting` names the folder."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Refused(
            f"The disk is full: {folder} has {show_size(free)} free, and {what} does not fit. Free some space, or name "
            f"another folder with {setting}; what has arrived is kept."
        )
    return Refused(f"{what} cannot be kept in {folder}: {error.strerror or error}. Name another folder with {setting}.")
