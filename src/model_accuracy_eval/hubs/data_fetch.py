"""Fetches data files into the cache: found, resumed after a stop, verified, and once only when two runs want them."""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import httpx
from msgspec import structs

from model_accuracy_eval.errors import BadData, BadValue, Refused, Unfetched
from model_accuracy_eval.hubs.content import cached_place, hash_of, most_bytes
from model_accuracy_eval.hubs.data_lock import LockedFile
from model_accuracy_eval.hubs.download import Download, disk_refusal, held, ignore, run_checking, tenths
from model_accuracy_eval.hubs.hub_listings import file_name, hub_of, own_token, place
from model_accuracy_eval.hubs.hub_requests import Hub, HubRequests, NotThere, Unreachable, new_client
from model_accuracy_eval.hubs.weights_listing import ModelReference, WeightsListing, free_bytes, is_commit
from model_accuracy_eval.records import DataSource
from model_accuracy_eval.system import table_files
from model_accuracy_eval.system.clock import run
from model_accuracy_eval.system.retry import HUB, RetryPolicy
from model_accuracy_eval.tasks import split_layout

DATA = replace(HUB, attempts=5)
"""A machine without a network is told so after seconds."""

_TOLD_FROM = 4_000_000
"""Bytes from which on a download says how far it is."""


class DataFetch:
    """Fetches one file at a time. `check` is called now and then and may raise; `say` tells what is under way."""

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        check: Callable[[], object] = ignore,
        say: Callable[[str], object] = ignore,
        retry: RetryPolicy = DATA,
    ) -> None:
        self._environment = environment
        self._check = check
        self._say = say
        self._retry = retry

    def resolve(self, source: DataSource, cache: Path) -> tuple[LockedFile, ...]:
        """The files of a source as they are now. One of a URL is left in the cache, because nobody knows its hash
        before it is here."""
        if source.url:
            partial = cache / "arriving" / f"{hashlib.sha256(source.url.encode()).hexdigest()[:12]}-{os.getpid()}"
            name = file_name(source.url)
            try:
                found = self._fetch(source.url, name, partial, "", lambda found: cached_place(cache, found, name))
            finally:
                partial.unlink(missing_ok=True)
            return (LockedFile(at=source.url, hash=found),)

        async def work() -> tuple[LockedFile, ...]:
            async with new_client() as client:

                def ask(reference: ModelReference) -> HubRequests:
                    return self._requests(client, hub_of(reference.source, self._environment), reference)

                found = _resolved(source, self._environment, ask, self._say)
                return await run_checking(found, self._check)

        try:
            return run(work())
        except (NotThere, Unreachable) as refusal:
            raise Unfetched(refusal.sentence) from refusal

    def __call__(self, one: LockedFile, target: Path, called: str) -> None:
        """Leaves the file at the target, or raises one sentence with what else can be done."""
        waiting = f"Another run is fetching {called}; waiting for it."
        try:
            with held(target.with_name(f".{target.name}.lock"), lambda: self._say(waiting), self._check):
                if not (target.is_file() and hash_of(target, one.hash) == one.hash):
                    self._fetch(one.at, called, target.with_name(f".{target.name}.partial"), one.hash, lambda _: target)
        except OSError as error:
            raise _disk_refusal(error, called, target.parent) from error

    def _fetch(self, at: str, called: str, partial: Path, expected: str, target: Callable[[str], Path]) -> str:
        hub, reference, url = place(at, self._environment)
        is_table = at.endswith(table_files.ENDINGS)  # which may hold more pictures than anybody reads at once

        async def work() -> str:
            async with new_client() as client:
                requests, most = self._requests(client, hub, reference), most_bytes(self._environment)
                download = Download(requests, url, partial, most=most, or_as_told=is_table)
                goes_on = " where it broke off" if download.done else ""
                self._say(f"Fetching {called} from {reference}{goes_on}.")
                tell = tenths(called, self._say, _TOLD_FROM)
                return await run_checking(
                    download.keep(expected, url, target),
                    lambda: (self._check(), tell(download.done, download.total or 0)),
                )

        try:
            return run(work())
        except Refused as refusal:
            kind = Unfetched if isinstance(refusal, NotThere | Unreachable) else Refused
            update = f" To take what is there now: model-accuracy-eval tasks prepare --update {at}"
            way_on = update if expected and reference.source == "url" and kind is Refused else ""
            raise kind(f"The rows of '{called}' cannot be fetched: {refusal.sentence}{way_on}") from refusal
        except OSError as error:
            raise _disk_refusal(error, called, partial.parent) from error

    def _requests(self, client: httpx.AsyncClient, hub: Hub, reference: ModelReference) -> HubRequests:
        token = own_token(hub, self._environment)
        return HubRequests(client=client, hub=hub, reference=reference, token=token, retry=self._retry)


def _disk_refusal(error: OSError, called: str, folder: Path) -> Refused:
    return disk_refusal(error, f"'{called}'", folder, free_bytes(folder), "MODEL_ACCURACY_EVAL_CACHE")


# A split of a dataset → the files of one commit that have its rows, as Hugging Face or ModelScope lists them.
#
# Hugging Face is asked first, and ModelScope if it cannot be reached or has no such dataset; with
# MODEL_ACCURACY_EVAL_HUB=ms it is the other way round.


_CONVERTED = "refs/convert/parquet"
"""The branch where Hugging Face keeps every dataset as Parquet files, those made by scripts, too."""
_CARD = "README.md"

_Ask = Callable[[ModelReference], HubRequests]
_Say = Callable[[str], object]


async def _resolved(split: DataSource, environment: Mapping[str, str], ask: _Ask, say: _Say) -> tuple[LockedFile, ...]:
    """The files; where no hub has them, the refusal has the sentences of all that were asked."""
    refusals: list[Refused] = []
    for reference in _references(split, environment):
        try:
            return await _resolve(split, reference, ask(reference), say)
        except (NotThere, Unreachable) as refusal:  # noqa: PERF203 - a loop of hubs
            refusals.append(refusal)
    if not refusals:
        raise BadData("A split of a hub's dataset needs the dataset's name there (`hf` or `ms`).")
    raise type(refusals[0])(" ".join(refusal.sentence for refusal in refusals))


def _references(split: DataSource, environment: Mapping[str, str]) -> list[ModelReference]:
    first = environment.get("MODEL_ACCURACY_EVAL_HUB") or "hf"
    if first not in ("hf", "ms"):
        raise BadValue(
            f"MODEL_ACCURACY_EVAL_HUB names the hub that is asked first, hf or ms, not '{first}'.",
            next_step="export MODEL_ACCURACY_EVAL_HUB=hf",
        )
    own = split.revision or None
    both = [
        ModelReference(source="hf", name=split.hf, revision=own, kind="dataset"),
        # Where both are named, the revision is Hugging Face's.
        ModelReference(source="ms", name=split.ms, revision=None if split.hf else own, kind="dataset"),
    ]
    return sorted((one for one in both if one.name), key=lambda one: one.source != first)


async def _resolve(
    split: DataSource, reference: ModelReference, requests: HubRequests, say: _Say
) -> tuple[LockedFile, ...]:
    listing = await requests.hub.listing(reference, requests)
    if listing.reference.name != reference.name:
        say(f"{reference} is called {listing.reference.name} at {requests.hub.endpoint} now.")
    listing, paths = await _choose(split, listing, requests, say)
    known = {file.path: file.hash for file in listing.files}
    # Under the name that was asked for: the hub leads from it to the one that it has now.
    start = f"{reference.source}:{reference.name}@{listing.commit}"
    return tuple(LockedFile(at=f"{start}/{path}", hash=known[path]) for path in paths)


async def _choose(
    split: DataSource, listing: WeightsListing, requests: HubRequests, say: _Say
) -> tuple[WeightsListing, tuple[str, ...]]:
    """The split's files, and the listing that they are in: of the dataset, or of what its hub made of it."""
    hub, reference = requests.hub, listing.reference
    paths = [file.path for file in listing.files]
    name = f"{reference.source}:{reference.name}"
    card = b""
    if _CARD in paths:
        card = await requests.body(hub.address(reference, listing.commit, _CARD))
    found = split_layout.find(card.decode("utf-8", "replace"), paths, name, split)
    if found is not None:
        return listing, found
    if reference.source != "hf":
        raise Refused(
            f"{name} has no data files that {hub.endpoint} names or whose names say their split; its rows may be "
            "made by a script. Take the dataset from Hugging Face, or put its rows under --data-dir."
        )
    if is_commit(reference.revision) or reference.revision not in (None, _CONVERTED):
        say(f"{name} has no data files of its own; what its hub made of its newest rows is taken.")
    converted = await hub.listing(structs.replace(reference, revision=_CONVERTED), requests)
    layout = split_layout.from_converted([file.path for file in converted.files])
    return converted, split_layout.choose(layout, name, split.config, split.split, declared=True)
