"""A split of a dataset → the files of one commit that have its rows, as Hugging Face or ModelScope lists them.

Hugging Face is asked first, and ModelScope if it cannot be reached or has no such dataset; with
MODEL_ACCURACY_EVAL_HUB=ms it is the other way round.
"""

from collections.abc import Callable, Mapping

from msgspec import structs

from model_accuracy_eval.errors import BadData, BadValue, Refused
from model_accuracy_eval.hubs.data_lock import LockedFile
from model_accuracy_eval.hubs.hub_requests import HubRequests, NotThere, Unreachable
from model_accuracy_eval.hubs.weights_listing import ModelReference, WeightsListing, is_commit
from model_accuracy_eval.records import DataSource
from model_accuracy_eval.tasks import split_layout

_CONVERTED = "refs/convert/parquet"
"""The branch where Hugging Face keeps every dataset as Parquet files, those made by scripts, too."""
_CARD = "README.md"

_Ask = Callable[[ModelReference], HubRequests]
_Say = Callable[[str], object]


async def resolve(split: DataSource, environment: Mapping[str, str], ask: _Ask, say: _Say) -> tuple[LockedFile, ...]:
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
        card, _ = await requests.body(hub.address(reference, listing.commit, _CARD))
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
