"""The weights of a model: their size before anything is fetched, and then the files, verified and kept between runs."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import httpx

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.hubs import download
from model_accuracy_eval.hubs.download import Download, disk_refusal, run_all, run_checking, tenths
from model_accuracy_eval.hubs.hub_listings import HuggingFace, ModelScope
from model_accuracy_eval.hubs.hub_requests import HubRequests, WeightsHub, new_client
from model_accuracy_eval.hubs.sizes import parse_size, show_apart, show_size
from model_accuracy_eval.hubs.weights_listing import (
    ModelReference,
    WeightFile,
    WeightsListing,
    free_bytes,
    list_path,
    parse_reference,
    refuse_size,
)
from model_accuracy_eval.records import WeightsInfo
from model_accuracy_eval.system.clock import run
from model_accuracy_eval.system.process_environment import Secret
from model_accuracy_eval.system.retry import HUB, RetryPolicy

# The folder of weights that a runner keeps between runs: one folder for each commit of each model.
#
# <folder>/<hub>/<org>/<name>/<commit>/          the files; each comes here when its hash is right
#                            <commit>.partial/   unfinished downloads
#                            <commit>.lock       locked during a download; the kernel unlocks it when the process ends


class CachedCommit:
    """The files of one commit on disk."""

    def __init__(self, weights: WeightsListing, folder: Path) -> None:
        self._weights = weights
        self.folder = folder
        commit = str(weights.commit)
        base = folder / weights.reference.source / weights.reference.name
        self.files = base / commit
        self._partials = base / f"{commit}.partial"
        self._lock = base / f"{commit}.lock"

    def partial(self, file: WeightFile) -> Path:
        return self._partials / file.path

    def missing(self) -> list[WeightFile]:
        """Those that are not here, or not whole any more."""
        return [file for file in self._weights.files if _size(self.files / file.path) != file.size]

    def bytes_to_come(self) -> int:
        return sum(max(0, file.size - (_size(self.partial(file)) or 0)) for file in self.missing())

    async def fetch(self, download: Download, file: WeightFile) -> None:
        await download.keep(file.hash, f"{file.path} of {self._weights.reference}", lambda _: self.files / file.path)

    def held(self, say: Callable[[str], object], check: Callable[[], object]) -> AbstractContextManager[None]:
        waiting = f"Another run is fetching {self._weights.reference}; waiting for it."
        return download.held(self._lock, lambda: say(waiting), check)


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None


def refuse_room(weights: WeightsListing, folder: Path, free: Callable[[Path], int]) -> None:
    """Refuses weights whose missing files do not fit on the disk."""
    missing, room = CachedCommit(weights, folder).bytes_to_come(), free(folder)
    if missing > room:
        needed, available = show_apart(missing, room)
        raise Refused(f"{weights.reference} needs {needed}, {folder} has {available} free.")


_NO_TOKEN = Secret("", "model-token")
_DOWNLOADS_AT_ONCE = 4


def _ignore(*_: object) -> None:
    pass


class HubWeights:
    """Implements `ports.WeightsSource`. `token` goes to the hub of the reference and nowhere else.

    `check` is called now and then and may raise to end what is under way; what was downloaded then is kept. It and
    `say` are called only from the calling thread. Tests replace `retry` and `free`.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        folder: str,
        *,
        token: Secret = _NO_TOKEN,
        check: Callable[[], object] = _ignore,
        say: Callable[[str], object] = _ignore,
        retry: RetryPolicy = HUB,
        free: Callable[[Path], int] = free_bytes,
    ) -> None:
        self._environment = environment
        self._folder = Path(folder).absolute()
        self._token = token
        self._check = check
        self._say = say
        self._retry = retry
        self._free = free
        self._measured: dict[str, WeightsListing] = {}

    def measure(self, reference: str, limit: str) -> WeightsInfo:
        listing = self.list_files(parse_reference(reference))
        refuse_size(listing, parse_size(limit))
        self.refuse_room(listing)
        self._measured[reference] = listing
        return WeightsInfo(
            reference=reference,
            commit=listing.commit,
            size=listing.total,
            shown=show_size(listing.total),
            task_types=listing.task_types,
        )

    def fetch(self, reference: str) -> str:
        return self.fetch_files(self._measured[reference], tenths("Weights", self._say))

    def list_files(self, reference: ModelReference) -> WeightsListing:
        """Files, sizes, hashes and the commit, as the hub or the disk lists them."""
        if reference.source == "path":
            return list_path(reference)

        async def work() -> WeightsListing:
            async with new_client() as client:
                hub = self._hub(reference)
                return await hub.listing(reference, self._requests(client, hub, reference))

        return run(run_checking(work(), self._check))

    def refuse_room(self, weights: WeightsListing) -> None:
        """Refuses weights of a hub whose missing files do not fit on the disk of the folder."""
        if weights.reference.source != "path":
            refuse_room(weights, self._folder, self._free)

    def fetch_files(self, weights: WeightsListing, on_progress: Callable[[int, int], object] = _ignore) -> str:
        """The folder with these files. `on_progress` gets the bytes that are there, and all."""
        if weights.reference.source == "path":
            return str(Path(weights.reference.name).expanduser().absolute())
        commit = CachedCommit(weights, self._folder)
        try:
            with commit.held(self._say, self._check):
                run(self._fetch_commit(weights, commit, on_progress))
        except OSError as error:
            free = self._free(self._folder)
            raise disk_refusal(error, str(weights.reference), self._folder, free, "--weights-dir") from error
        return str(commit.files)

    async def _fetch_commit(
        self, weights: WeightsListing, commit: CachedCommit, on_progress: Callable[[int, int], object]
    ) -> None:
        downloads: list[Download] = []
        present, reported = 0, -1

        async def fetch_missing() -> None:
            nonlocal present
            if missing := commit.missing():
                refuse_room(weights, self._folder, self._free)
                present = weights.total - sum(file.size for file in missing)
                async with new_client() as client:
                    hub = self._hub(weights.reference)
                    requests = self._requests(client, hub, weights.reference)
                    fetches = []
                    for file in sorted(missing, key=lambda file: -file.size):  # the longest first
                        address, partial = hub.address(weights, file), commit.partial(file)
                        downloads.append(Download(requests, address, partial, file.size))
                        fetches.append(commit.fetch(downloads[-1], file))
                    await run_all(fetches, _DOWNLOADS_AT_ONCE)
            downloads.clear()
            present = weights.total

        def poll() -> None:
            nonlocal reported
            self._check()
            done = present + sum(download.done for download in downloads)
            if done != reported:
                reported = done
                on_progress(done, weights.total)

        await run_checking(fetch_missing(), poll)
        poll()

    def _hub(self, reference: ModelReference) -> WeightsHub:
        return HuggingFace(self._environment) if reference.source == "hf" else ModelScope(self._environment)

    def _requests(self, client: httpx.AsyncClient, hub: WeightsHub, reference: ModelReference) -> HubRequests:
        return HubRequests(client=client, hub=hub, reference=reference, token=self._token, retry=self._retry)
