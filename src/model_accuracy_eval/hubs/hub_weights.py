"""The weights of a model: their size before anything is fetched, and then the files, verified and kept between runs."""

from collections.abc import Callable, Mapping
from pathlib import Path

import httpx

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.hubs.download import Download, disk_refusal, held, ignore, run_all, run_checking, tenths
from model_accuracy_eval.hubs.hub_listings import hub_of
from model_accuracy_eval.hubs.hub_requests import HubRequests, new_client
from model_accuracy_eval.hubs.weights_listing import (
    ModelReference,
    WeightFile,
    WeightsListing,
    folder_digest,
    free_bytes,
    list_path,
    parse_reference,
    refuse_size,
)
from model_accuracy_eval.records import WeightsInfo
from model_accuracy_eval.system.clock import run
from model_accuracy_eval.system.process_environment import Secret
from model_accuracy_eval.system.retry import HUB, RetryPolicy
from model_accuracy_eval.system.sizes import parse_size, show_apart, show_size

# The folder of weights that a runner keeps between runs: one folder for each commit of each model.
#
# <folder>/<hub>/<org>/<name>/<commit>/          the files; each comes here when its hash is right
#                            <commit>.partial/   unfinished downloads
#                            <commit>.lock       locked during a download; the kernel unlocks it when the process ends


_NO_TOKEN = Secret("", "model-token")
_DOWNLOADS_AT_ONCE = 4


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
        check: Callable[[], object] = ignore,
        say: Callable[[str], object] = ignore,
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
            digest="" if listing.commit else folder_digest(listing),
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
                requests = self._requests(client, reference)
                return await requests.hub.listing(reference, requests)

        return run(run_checking(work(), self._check))

    def refuse_room(self, weights: WeightsListing) -> None:
        """Refuses weights of a hub whose missing files do not fit on the disk of the folder."""
        if weights.reference.source == "path":
            return
        partials, room = self._files(weights, ".partial"), self._free(self._folder)
        missing = ((file.size, _size(partials / file.path) or 0) for file in self._missing(weights))
        needed = sum(max(0, size - here) for size, here in missing)
        if needed > room:
            shown, available = show_apart(needed, room)
            raise Refused(f"{weights.reference} needs {shown}, {self._folder} has {available} free.")

    def _files(self, weights: WeightsListing, ending: str = "") -> Path:
        reference = weights.reference
        return self._folder / reference.source / reference.name / f"{weights.commit}{ending}"

    def _missing(self, weights: WeightsListing) -> list[WeightFile]:
        """Those that are not here, or not whole any more; the longest first."""
        files = self._files(weights)
        missing = [file for file in weights.files if _size(files / file.path) != file.size]
        return sorted(missing, key=lambda file: -file.size)

    def fetch_files(self, weights: WeightsListing, on_progress: Callable[[int, int], object] = ignore) -> str:
        """The folder with these files. `on_progress` gets the bytes that are there, and all."""
        if weights.reference.source == "path":
            return str(Path(weights.reference.name).expanduser().absolute())
        waiting = f"Another run is fetching {weights.reference}; waiting for it."
        try:
            with held(self._files(weights, ".lock"), lambda: self._say(waiting), self._check):
                run(self._fetch_commit(weights, on_progress))
        except OSError as error:
            free = self._free(self._folder)
            raise disk_refusal(error, str(weights.reference), self._folder, free, "--weights-dir") from error
        return str(self._files(weights))

    async def _fetch_commit(self, weights: WeightsListing, on_progress: Callable[[int, int], object]) -> None:
        missing, files, partials = self._missing(weights), self._files(weights), self._files(weights, ".partial")
        if missing:
            self.refuse_room(weights)
        downloads: list[Download] = []
        present, reported = weights.total - sum(file.size for file in missing), -1

        async def fetch(requests: HubRequests, file: WeightFile) -> None:
            url = requests.hub.address(weights.reference, weights.commit, file.path)
            downloads.append(Download(requests, url, partials / file.path, file.size))
            called = f"{file.path} of {weights.reference}"
            await downloads[-1].keep(file.hash, called, lambda _: files / file.path)

        async def fetch_missing() -> None:
            async with new_client() as client:
                requests = self._requests(client, weights.reference)
                await run_all((fetch(requests, file) for file in missing), _DOWNLOADS_AT_ONCE)

        def poll() -> None:
            nonlocal reported
            self._check()
            done = present + sum(download.done for download in downloads)
            if done != reported:
                reported = done
                on_progress(done, weights.total)

        await run_checking(fetch_missing(), poll)
        poll()

    def _requests(self, client: httpx.AsyncClient, reference: ModelReference) -> HubRequests:
        hub = hub_of(reference.source, self._environment)
        return HubRequests(client=client, hub=hub, reference=reference, token=self._token, retry=self._retry)


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None
