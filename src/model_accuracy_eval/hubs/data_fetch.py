"""Fetches data files into the cache: found, resumed after a stop, verified, and once only when two runs want them."""

import gzip
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from model_accuracy_eval.errors import BadData, Refused, Unfetched
from model_accuracy_eval.hubs.data_sources import RawHost, Source, dataset_hub, source
from model_accuracy_eval.hubs.download import Download, disk_refusal, locked, run_checking, tenths
from model_accuracy_eval.hubs.file_hub import LockedSplit, hash_name, is_pinned, key
from model_accuracy_eval.hubs.hub_requests import HubRequests, NotThere, Unreachable, new_client
from model_accuracy_eval.hubs.split_resolver import SplitResolver
from model_accuracy_eval.hubs.weights_listing import (
    free_bytes,
    hash_of_bytes,
    known_hash,
)
from model_accuracy_eval.records import DataFile, HubSplit
from model_accuracy_eval.system.clock import run
from model_accuracy_eval.system.process_environment import Secret
from model_accuracy_eval.system.retry import HUB, RetryPolicy

DATA = replace(HUB, attempts=5)
"""A machine without a network is told so after seconds."""

_TOLD_FROM = 4_000_000
"""Bytes from which on a download says how far it is."""


def _ignore(*_: object) -> None:
    pass


class DataFetch:
    """Fetches one file at a time. `check` is called now and then and may raise; `say` tells what is under way."""

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        check: Callable[[], object] = _ignore,
        say: Callable[[str], object] = _ignore,
        retry: RetryPolicy = DATA,
    ) -> None:
        self._environment = environment
        self._check = check
        self._say = say
        self._retry = retry

    def __call__(self, file: DataFile, target: Path) -> None:
        """Leaves the file at the target, or raises one sentence with what else can be done."""
        place = source(file.hub or "", self._environment)
        if known_hash(file) is None:
            raise BadData(f"'{file.name}' is to be fetched from {file.hub}, but has no sha256 that says what it is.")
        try:
            run(self._fetch(file, place, target))
        except Refused as refusal:
            kind = Unfetched if isinstance(refusal, NotThere | Unreachable) else Refused
            raise kind(
                f"The rows of '{file.name}' cannot be fetched: {refusal.sentence} {_way_on(file, place)}"
            ) from refusal
        except OSError as error:
            raise _disk_refusal(error, file.name, target.parent) from error

    def resolve(self, split: HubSplit, folder: Path) -> LockedSplit:
        """The files of a split as its hub lists them now."""

        async def work() -> LockedSplit:
            async with new_client() as client:
                resolver = SplitResolver(
                    environment=self._environment, client=client, retry=self._retry, folder=folder, say=self._say
                )
                return await run_checking(resolver.resolve(split), self._check)

        try:
            return run(work())
        except (NotThere, Unreachable) as refusal:
            raise Unfetched(refusal.sentence) from refusal
        except OSError as error:
            raise _disk_refusal(error, key(split), folder) from error

    async def _fetch(self, file: DataFile, place: Source, target: Path) -> None:
        async with locked(
            target.with_name(f".{target.name}.lock"),
            lambda: self._say(f"Another run is fetching {file.name}; waiting for it."),
        ):
            if not is_pinned(target, file):
                await self._download(file, place, target)

    async def _download(self, file: DataFile, place: Source, target: Path) -> None:
        partial = target.with_name(f".{target.name}.partial")
        resumed = partial.exists()
        self._say(f"Fetching {file.name} from {place.reference}{' where it broke off' if resumed else ''}.")
        objection = await self._attempt(file, place, partial, target)
        if objection and resumed:
            # What an earlier run left may have been damaged, for example by a power cut; the next attempt has none.
            objection = await self._attempt(file, place, partial, target)
        if objection:
            raise Refused(objection)

    async def _attempt(self, file: DataFile, place: Source, partial: Path, target: Path) -> str | None:
        """Says what is wrong with a whole file that arrived."""
        async with new_client() as client:
            known = dataset_hub(place.reference.source, self._environment)
            hub, token = known or (RawHost(place.endpoint), Secret("", ""))
            requests = HubRequests(client=client, hub=hub, reference=place.reference, token=token, retry=self._retry)
            download = Download(requests, place.url, partial)
            tell = tenths(file.name, self._say, _TOLD_FROM)
            await run_checking(download.run(), lambda: (self._check(), tell(download.done, download.total or 0)))
        return _keep(partial, target, file, place.url)


def _way_on(file: DataFile, place: Source) -> str:
    if place.reference.source == "url":
        return f"To take what is there now: model-accuracy-eval tasks prepare --update {place.url}"
    return f"On a machine without a network, put the file under --data-dir as {file.name}."


def _keep(partial: Path, target: Path, file: DataFile, url: str) -> str | None:
    """Moves what arrived to its place; says what is wrong with it if it is another file, which is not kept."""
    data = partial.read_bytes()
    try:
        unpacked = gzip.decompress(data) if url.endswith(".gz") else data
    except (OSError, EOFError, zlib.error) as error:
        partial.unlink()
        return f"{url} is not the gzip file that it should be: {error}."
    digest, pinned = hash_of_bytes(unpacked, file), known_hash(file)
    if digest != pinned:
        partial.unlink()
        return (
            f"{url} is not the file that '{file.name}' stands for: its {hash_name(file)} is {digest[:12]}…, "
            f"but {str(pinned)[:12]}… is pinned ({len(unpacked)} bytes were read)."
        )
    if unpacked is not data:
        unzipped = partial.with_suffix(".unzipped")
        unzipped.write_bytes(unpacked)
        unzipped.replace(target)
        partial.unlink()
    else:
        partial.replace(target)
    return None


def _disk_refusal(error: OSError, name: str, folder: Path) -> Refused:
    return disk_refusal(error, f"'{name}'", folder, free_bytes(folder), "MODEL_ACCURACY_EVAL_CACHE")
