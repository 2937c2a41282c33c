"""Fetches data files into the cache: found, resumed after a stop, verified, and once only when two runs want them."""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import httpx

from model_accuracy_eval.errors import Refused, Unfetched
from model_accuracy_eval.hubs import split_resolver
from model_accuracy_eval.hubs.content import cached_place, hash_of, most_bytes
from model_accuracy_eval.hubs.data_lock import LockedFile
from model_accuracy_eval.hubs.download import Download, disk_refusal, held, run_checking, tenths
from model_accuracy_eval.hubs.hub_listings import file_name, hub_of, own_token, place
from model_accuracy_eval.hubs.hub_requests import Hub, HubRequests, NotThere, Unreachable, new_client
from model_accuracy_eval.hubs.weights_listing import ModelReference, free_bytes
from model_accuracy_eval.records import DataSource
from model_accuracy_eval.system import table_files
from model_accuracy_eval.system.clock import run
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

                found = split_resolver.resolve(source, self._environment, ask, self._say)
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
