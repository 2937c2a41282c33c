"""The weights of a model: how large they are before a byte is fetched, and then the files themselves, verified.

reference = parse_reference("hf:org/name@v1")
weights = measure(reference, token=Secret(...), environment=os.environ, check=clock.check)
refuse_size(weights, parse_size("100GB"))
refuse_room(weights, folder)
model_path = fetch(weights, folder, token=..., environment=..., check=clock.check, tell=...)
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from model_accuracy_eval.rim.hubs import weights_cache
from model_accuracy_eval.rim.hubs.download import Download, explained, fetch_all
from model_accuracy_eval.rim.hubs.sizes import parse_size, show_size
from model_accuracy_eval.rim.hubs.weights_cache import Place, free_bytes
from model_accuracy_eval.rim.hubs.weights_hf import HuggingFace
from model_accuracy_eval.rim.hubs.weights_http import Calls, Effort, Hub, new_client
from model_accuracy_eval.rim.hubs.weights_local import measure_path
from model_accuracy_eval.rim.hubs.weights_ms import ModelScope
from model_accuracy_eval.rim.hubs.weights_records import Reference, WeightFile, Weights, parse_reference, refuse_size
from model_accuracy_eval.rim.loop import run
from model_accuracy_eval.rim.secret import Secret

__all__ = [
    "Effort", "Reference", "Secret", "WeightFile", "Weights",
    "fetch", "measure", "parse_reference", "parse_size", "refuse_room", "refuse_size", "show_size",
]  # fmt: skip

T = TypeVar("T")

USUAL = Effort()
NO_TOKEN = Secret("", "model-token")
AT_ONCE = 4
_TICK = 0.1


def _nothing(*_: object) -> None:
    pass


def measure(
    reference: Reference,
    *,
    environment: Mapping[str, str],
    token: Secret = NO_TOKEN,
    check: Callable[[], object] = _nothing,
    effort: Effort = USUAL,
) -> Weights:
    """Files, sizes, hashes and the commit, from the hub's lists or the disk. `check` may raise to end it."""
    if reference.source == "path":
        return measure_path(reference)
    hub = _hub(reference, environment)

    async def work() -> Weights:
        async with new_client(effort) as client:
            calls = Calls(client=client, hub=hub, reference=reference, token=token, effort=effort)
            return await hub.listing(reference, calls)

    return run(_attended(work(), check))


def refuse_room(weights: Weights, folder: str, free: Callable[[Path], int] = free_bytes) -> None:
    """Refuses weights that the disk of the folder has no room for. Whatever is there already does not count."""
    if weights.reference.source != "path":
        weights_cache.refuse_room(weights, Path(folder), free)


def fetch(
    weights: Weights,
    folder: str,
    *,
    environment: Mapping[str, str],
    token: Secret = NO_TOKEN,
    limit: int | None = None,
    check: Callable[[], object] = _nothing,
    tell: Callable[[int, int], object] = _nothing,
    say: Callable[[str], object] = _nothing,
    effort: Effort = USUAL,
    free: Callable[[Path], int] = free_bytes,
) -> str:
    """The folder with exactly these files, read-only. `check` may raise to end it; what was fetched then stays,
    and the next call goes on. `tell(done, total)` and `check` are called from the calling thread only."""
    if weights.reference.source == "path":
        on_disk, path = weights, str(Path(weights.reference.name).expanduser().absolute())
    else:
        place = Place(weights, Path(folder).absolute())
        try:
            hub = _hub(weights.reference, environment)
            job = _Fetch(weights=weights, place=place, token=token, hub=hub, effort=effort, free=free, say=say)
            run(job.run(check, tell))
        except OSError as error:
            raise explained(error, weights, place.folder, free) from error
        on_disk, path = measure_path(Reference(source="path", name=str(place.files))), str(place.files)
    if limit is not None:
        refuse_size(on_disk, limit, where=" on disk")
    return path


@dataclass(kw_only=True, slots=True)
class _Fetch:
    """One fetch, and how far it is."""

    weights: Weights
    place: Place
    token: Secret
    hub: Hub
    effort: Effort
    free: Callable[[Path], int]
    say: Callable[[str], object]
    downloads: list[Download] = field(default_factory=list)
    kept: int = 0

    async def run(self, check: Callable[[], object], tell: Callable[[int, int], object]) -> None:
        told = -1

        def tick() -> None:
            nonlocal told
            check()
            done = self.kept + sum(download.done for download in self.downloads)
            if done != told:
                told = done
                tell(done, self.weights.total)

        await _attended(self._work(), tick)
        tick()

    async def _work(self) -> None:
        async with self.place.locked(self.say):
            if not self.place.is_complete():
                await self._complete()
        self.downloads, self.kept = [], self.weights.total

    async def _complete(self) -> None:
        missing = await self.place.tidy()
        weights_cache.refuse_room(self.weights, self.place.folder, self.free)
        async with new_client(self.effort) as client:
            calls = Calls(
                client=client, hub=self.hub, reference=self.weights.reference, token=self.token, effort=self.effort
            )
            self.kept = self.weights.total - sum(file.size for file in missing)
            self.downloads = [
                Download(calls, self.weights, file, self.place.partial(file), self.place.target(file))
                for file in sorted(missing, key=lambda file: -file.size)  # the long ones first
            ]
            await fetch_all(self.downloads, AT_ONCE)
        self.place.finish()


def _hub(reference: Reference, environment: Mapping[str, str]) -> Hub:
    return HuggingFace(environment) if reference.source == "hf" else ModelScope(environment)


async def _attended(work: Coroutine[Any, Any, T], check: Callable[[], object]) -> T:
    """Looks up from the work now and then; what `check` raises cancels it."""
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=_TICK))[0]:
            check()
    except BaseException:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise
    return task.result()
