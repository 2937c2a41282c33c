"""A split of a dataset → the files of one commit that have its rows, as Hugging Face or ModelScope lists them.

Hugging Face is asked first, and ModelScope if it cannot be reached or has no such dataset; with
MODEL_ACCURACY_EVAL_HUB=ms it is the other way round.
"""

from collections.abc import Callable, Mapping

import httpx
import msgspec
from msgspec import structs

from model_accuracy_eval.errors import BadData, BadValue, Refused
from model_accuracy_eval.hubs import split_layout
from model_accuracy_eval.hubs.data_lock import LockedFile
from model_accuracy_eval.hubs.data_sources import dataset_hub
from model_accuracy_eval.hubs.hub_requests import HubRequests, NotThere, Unreachable, WeightsHub
from model_accuracy_eval.hubs.split_layout import ChosenSplit
from model_accuracy_eval.hubs.weights_listing import (
    ModelReference,
    WeightsListing,
    is_commit,
)
from model_accuracy_eval.records import DataSource
from model_accuracy_eval.system.process_environment import Secret
from model_accuracy_eval.system.retry import RetryPolicy

_CONVERTED = "refs/convert/parquet"
"""The branch where Hugging Face keeps every dataset as Parquet files, those made by scripts, too."""
_CARD = "README.md"


class SplitResolver(msgspec.Struct, frozen=True, kw_only=True):
    environment: Mapping[str, str]
    client: httpx.AsyncClient
    retry: RetryPolicy
    say: Callable[[str], object]

    async def resolve(self, split: DataSource) -> tuple[LockedFile, ...]:
        """The files; where no hub has them, the refusal has the sentences of all that were asked."""
        refusals: list[Refused] = []
        for reference in self._references(split):
            try:
                return await self._resolve(reference, split)
            except (NotThere, Unreachable) as refusal:  # noqa: PERF203 - a loop of hubs
                refusals.append(refusal)
        if not refusals:
            raise BadData("A split of a hub's dataset needs the dataset's name there (`hf` or `ms`).")
        raise type(refusals[0])(" ".join(refusal.sentence for refusal in refusals))

    def _requests(self, hub: WeightsHub, reference: ModelReference, token: Secret) -> HubRequests:
        return HubRequests(client=self.client, hub=hub, reference=reference, token=token, retry=self.retry)

    def _references(self, split: DataSource) -> list[ModelReference]:
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

    async def _resolve(self, reference: ModelReference, split: DataSource) -> tuple[LockedFile, ...]:
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
        # Under the name that was asked for: the hub leads from it to the one that it has now.
        start = f"{reference.source}:{reference.name}@{listing.commit}"
        return tuple(LockedFile(at=f"{start}/{file.path}", hash=file.hash) for file in files)

    async def _choose(
        self, hub: WeightsHub, requests: HubRequests, listing: WeightsListing, split: DataSource
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
