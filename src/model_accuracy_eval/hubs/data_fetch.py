"""Fetches data files into the cache: found, resumed after a stop, verified, and once only when two runs want them."""

import gzip
import hashlib
import os
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import httpx
import msgspec
from msgspec import structs

from model_accuracy_eval.errors import BadData, BadValue, Refused, Unfetched
from model_accuracy_eval.hubs import split_layout
from model_accuracy_eval.hubs.file_hub import LockedFile, LockedSplit, cached_place, hash_name, hash_of, is_pinned, key
from model_accuracy_eval.hubs.hub_listings import HuggingFace, ModelScope
from model_accuracy_eval.hubs.hub_requests import (
    Download,
    Hub,
    HubRequests,
    NotThere,
    Unreachable,
    WeightsHub,
    disk_refusal,
    locked,
    new_client,
    run_checking,
    tenths,
)
from model_accuracy_eval.hubs.split_layout import ChosenSplit
from model_accuracy_eval.hubs.weights_listing import (
    ModelReference,
    WeightsListing,
    free_bytes,
    hash_of_bytes,
    is_commit,
    known_hash,
)
from model_accuracy_eval.records import DataFile, HubSplit, Record
from model_accuracy_eval.system.clock import run
from model_accuracy_eval.system.process_environment import Secret
from model_accuracy_eval.system.retry import HUB, RetryPolicy

# Where a data file comes from: `github:owner/name@commit/path`, `hf:…` or `ms:…`, and its address there.


_SOURCE = re.compile(r"^(?P<scheme>\w+):(?P<repository>[\w.-]+/[\w.-]+)@(?P<revision>[\w.-]+)/(?P<path>.+)$")

PLACES = {
    "github": ("GITHUB_RAW_ENDPOINT", "https://raw.githubusercontent.com", "{repository}/{revision}/{path}"),
    "hf": ("HF_ENDPOINT", "https://huggingface.co", "datasets/{repository}/resolve/{revision}/{path}"),
    "ms": (
        "MODELSCOPE_ENDPOINT",
        "https://www.modelscope.cn",
        "api/v1/datasets/{repository}/repo?Revision={revision}&FilePath={path}",
    ),
}
"""Scheme → the variable that names a mirror, the usual host, and the path of a file on it."""


class Source(Record, frozen=True, kw_only=True):
    """One file of one commit at a host."""

    reference: ModelReference
    endpoint: str
    url: str


class RawHost:
    """Implements `Hub` for hosts that are asked for public files alone."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def credentials(self, token: Secret) -> dict[str, str]:
        raise AssertionError(f"{token.name} is not for {self.endpoint}")


def source(text: str, environment: Mapping[str, str]) -> Source:
    """What the text names; environment variables name mirrors."""
    if text.startswith(("http://", "https://")):
        host = "/".join(text.split("/")[:3])
        return Source(reference=ModelReference(source="url", name=text, kind="dataset"), endpoint=host, url=text)
    parts = _SOURCE.match(text)
    if parts is None or parts["scheme"] not in PLACES:
        raise BadData(
            f"'{text}' is not a source of a file: write scheme:owner/name@revision/path with {', '.join(PLACES)}."
        )
    endpoint, path = _endpoint(parts["scheme"], environment), PLACES[parts["scheme"]][2]
    return Source(
        reference=ModelReference(
            source=parts["scheme"],  # type: ignore[arg-type]  # it is a key of PLACES
            name=parts["repository"],
            revision=parts["revision"],
            kind="dataset",
        ),
        endpoint=endpoint,
        url=f"{endpoint}/{path.format(**{**parts.groupdict(), 'path': quote(parts['path'])})}",
    )


def dataset_hub(scheme: str, environment: Mapping[str, str]) -> tuple[WeightsHub, Secret] | None:
    """The hub of datasets, and the token of the variable that its own tools read; None for other hosts."""
    if scheme == "hf":
        return HuggingFace(environment), Secret(environment.get("HF_TOKEN", ""), "HF_TOKEN")
    if scheme == "ms":
        return ModelScope(environment), Secret(environment.get("MODELSCOPE_API_TOKEN", ""), "MODELSCOPE_API_TOKEN")
    return None


def _endpoint(scheme: str, environment: Mapping[str, str]) -> str:
    variable, host, _ = PLACES[scheme]
    return (environment.get(variable) or host).rstrip("/")


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


# A split of a dataset → the files of one commit that have its rows, as Hugging Face or ModelScope lists them.
#
# Hugging Face is asked first, and ModelScope if it cannot be reached or has no such dataset; with
# MODEL_ACCURACY_EVAL_HUB=ms it is the other way round.


_CONVERTED = "refs/convert/parquet"
"""The branch where Hugging Face keeps every dataset as Parquet files, those made by scripts, too."""
_CARD = "README.md"


class SplitResolver(msgspec.Struct, frozen=True, kw_only=True):
    environment: Mapping[str, str]
    client: httpx.AsyncClient
    retry: RetryPolicy
    folder: Path
    """Where a file is kept whose hash nobody knows before it is here, by that hash."""
    say: Callable[[str], object]

    async def resolve(self, split: HubSplit) -> LockedSplit:
        """The files; where no hub has them, the refusal has the sentences of all that were asked."""
        if split.url:
            return await self._address(split.url)
        refusals: list[Refused] = []
        for reference in self._references(split):
            try:
                return await self._resolve(reference, split)
            except (NotThere, Unreachable) as refusal:  # noqa: PERF203 - a loop of hubs
                refusals.append(refusal)
        if not refusals:
            raise BadData("A split of a hub's dataset needs the dataset's name there (`hf` or `ms`).")
        raise type(refusals[0])(" ".join(refusal.sentence for refusal in refusals))

    async def _address(self, url: str) -> LockedSplit:
        """One file, whose hash nobody knows before it is here."""
        place = source(url, self.environment)
        requests = self._requests(RawHost(place.endpoint), place.reference, Secret("", ""))
        name = Path(unquote(urlsplit(url).path)).name
        arriving = self.folder / "arriving" / f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{os.getpid()}"
        try:
            await Download(requests, url, arriving).run()
            digest = hash_of(arriving, DataFile(name=name))
            target = cached_place(self.folder, digest, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            arriving.replace(target)
        finally:
            arriving.unlink(missing_ok=True)
        return LockedSplit(source=url, config="", split="", files=(LockedFile(path=name, sha256=digest),))

    def _requests(self, hub: Hub, reference: ModelReference, token: Secret) -> HubRequests:
        return HubRequests(client=self.client, hub=hub, reference=reference, token=token, retry=self.retry)

    def _references(self, split: HubSplit) -> list[ModelReference]:
        both = [
            ModelReference(source="hf", name=split.hf, revision=split.revision or None, kind="dataset"),
            # Where both are named, the revision is Hugging Face's.
            ModelReference(
                source="ms", name=split.ms, revision=(not split.hf and split.revision) or None, kind="dataset"
            ),
        ]
        first = self.environment.get("MODEL_ACCURACY_EVAL_HUB") or "hf"
        if first not in ("hf", "ms"):
            raise BadValue(
                f"MODEL_ACCURACY_EVAL_HUB names the hub that is asked first, hf or ms, not '{first}'.",
                next_step="export MODEL_ACCURACY_EVAL_HUB=hf",
            )
        named = [reference for reference in both if reference.name]
        return sorted(named, key=lambda reference: reference.source != first)

    async def _resolve(self, reference: ModelReference, split: HubSplit) -> LockedSplit:
        found = dataset_hub(reference.source, self.environment)
        if found is None:
            raise BadData(f"{reference} is not on a hub of datasets.")
        hub, token = found
        requests = self._requests(hub, reference, token)
        listing = await hub.listing(reference, requests)
        if listing.reference.name != reference.name:
            self.say(f"{reference} is called {listing.reference.name} at {hub.endpoint} now.")
        listing, chosen = await self._choose(hub, requests, listing, split)
        known = {file.path: file for file in listing.files}
        files = [known[path] for path in chosen.files]
        return LockedSplit(
            source=f"{listing.reference.source}:{listing.reference.name}@{listing.commit}",
            config=chosen.config,
            split=chosen.split,
            files=tuple(LockedFile(path=file.path, sha256=file.sha256, git_sha1=file.git_sha1) for file in files),
        )

    async def _choose(
        self, hub: WeightsHub, requests: HubRequests, listing: WeightsListing, split: HubSplit
    ) -> tuple[WeightsListing, ChosenSplit]:
        """The split's files, and the listing that they are in: of the dataset, or of what its hub made of it."""
        paths = [file.path for file in listing.files]
        name = f"{listing.reference.source}:{listing.reference.name}"
        card = ""
        if _CARD in paths:
            file = next(file for file in listing.files if file.path == _CARD)
            card = (await requests.body(hub.address(listing, file))).decode("utf-8", "replace")
        found = split_layout.find(card, paths, name, split)
        if found is not None:
            return listing, found
        if listing.reference.source != "hf":
            raise Refused(
                f"{name} has no data files that {hub.endpoint} names or whose names say their split; its rows may be "
                "made by a script. Take the dataset from Hugging Face, or put its rows under --data-dir."
            )
        if is_commit(listing.reference.revision) or listing.reference.revision not in (None, _CONVERTED):
            self.say(f"{name} has no data files of its own; what its hub made of its newest rows is taken.")
        converted = await hub.listing(structs.replace(listing.reference, revision=_CONVERTED), requests)
        layout = split_layout.from_converted([file.path for file in converted.files])
        return converted, split_layout.choose(layout, name, split.config, split.split, declared=True)
