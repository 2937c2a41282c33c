"""Weights are fetched whole and right, whatever happens on the way, and once only."""

import errno
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.integration.weights.conftest import FILES, LARGE, NAME, QUICK
from tests.servers.fake_hub import Blob, FakeHub
from tests.waiting import until

from model_accuracy_eval.errors import Refused, Stopped
from model_accuracy_eval.hubs.hub_weights import HubWeights
from model_accuracy_eval.hubs.weights_listing import WeightsListing, parse_reference
from model_accuracy_eval.system.process_environment import Secret

TOKEN = "MARKER-token-not-real"
TOTAL = sum(blob.length for blob in FILES.values())
ONE = "shards/one.safetensors"
SOURCES = pytest.mark.parametrize("source", ["hf", "ms"])


def measured(hub: FakeHub, reference: str = f"hf:{NAME}", token: str = "") -> WeightsListing:
    return HubWeights(hub.environment, "", token=Secret(token), retry=QUICK).list_files(parse_reference(reference))


def fetched(
    hub: FakeHub,
    weights: WeightsListing,
    folder: Path,
    token: str = "",
    on_progress: Any = lambda *_: None,
    **more: object,
) -> Path:
    return Path(
        HubWeights(hub.environment, str(folder), token=Secret(token), retry=QUICK, **more).fetch_files(  # type: ignore[arg-type]
            weights, on_progress
        )
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


WHOLE = {path: blob.data for path, blob in FILES.items()}


@SOURCES
def test_everything_arrives(hub: FakeHub, tmp_path: Path, source: str) -> None:
    """The folder holds exactly the model's files, and progress ends at the total."""
    told: list[tuple[int, int]] = []
    path = fetched(hub, measured(hub, f"{source}:{NAME}"), tmp_path, on_progress=lambda *now: told.append(now))
    assert contents(path) == WHOLE
    assert told[-1] == (TOTAL, TOTAL)


@SOURCES
def test_the_second_run_asks_nothing(hub: FakeHub, tmp_path: Path, source: str) -> None:
    """What lies in the cache, whole, is used without a request."""
    weights = measured(hub, f"{source}:{NAME}")
    first = fetched(hub, weights, tmp_path)
    asked = len(hub.hub.requests)
    assert fetched(hub, weights, tmp_path) == first
    assert len(hub.hub.requests) == asked


@SOURCES
def test_a_broken_download_goes_on(hub: FakeHub, tmp_path: Path, source: str) -> None:
    """A connection that breaks off is taken up where it was: no byte is sent twice."""
    hub.cut = {ONE: 1_500_000, "config.json": 3}
    assert contents(fetched(hub, measured(hub, f"{source}:{NAME}"), tmp_path)) == WHOLE
    assert hub.sent[ONE] == len(LARGE)
    assert hub.sent["config.json"] == FILES["config.json"].length
    ranges = [request.headers.get("range") for request in hub.storage.requests if "one" in request.path]
    assert ranges == [None, "bytes=1500000-"]


def test_a_stop_in_the_middle_and_the_next_run(hub: FakeHub, tmp_path: Path) -> None:
    """A stop comes out at once, what was fetched stays, and the next run fetches only the rest."""
    hub.hold.clear()
    weights = measured(hub)

    def check() -> None:
        if len(hub.sent) == 3 and sum(path.stat().st_size for path in tmp_path.rglob("*.*") if path.is_file()) > 2**20:
            raise Stopped(15, "SIGTERM")

    with pytest.raises(Stopped):
        fetched(hub, weights, tmp_path, check=check)
    hub.hold.set()
    assert hub.hub.wait_for(lambda server: server.in_flight == 0)
    kept = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    hub.sent.clear()
    assert contents(fetched(hub, weights, tmp_path)) == WHOLE
    assert 0 < kept < TOTAL
    assert sum(hub.sent.values()) == TOTAL - kept


@SOURCES
def test_a_wrong_hash_is_refused(hub: FakeHub, tmp_path: Path, source: str) -> None:
    """A file that is not the promised one ends the fetch, and none of it is kept."""
    wrong = Blob(b"right", large=True, served=b"wrong")
    hub.push("org/wrong", {"model.bin": wrong})
    with pytest.raises(Refused, match=r"^model\.bin of .*:org/wrong is not the expected file: its hash is "):
        fetched(hub, measured(hub, f"{source}:org/wrong"), tmp_path)
    assert not any(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_wrong_small_file_is_refused(hub: FakeHub, tmp_path: Path) -> None:
    """Files that the hub knows by their git id are checked as well."""
    for name, served in (("org/one", b"wrong"), ("org/two", b"right and more")):
        hub.push(name, {"config.json": Blob(b"right", served=served)})
        with pytest.raises(Refused, match=r"^config\.json of hf:org/\w+ is not .* its hash is [0-9a-f]{40}, "):
            fetched(hub, measured(hub, f"hf:{name}"), tmp_path)
    assert not any(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_damaged_rest_is_fetched_anew(hub: FakeHub, tmp_path: Path) -> None:
    """What an interrupted run left may be damaged; then the file is fetched from its start, once."""
    weights = measured(hub)
    partial = tmp_path / "hf" / NAME / f"{weights.commit}.partial" / ONE
    partial.parent.mkdir(parents=True)
    partial.write_bytes(b"damaged" * 1000)
    assert contents(fetched(hub, weights, tmp_path)) == WHOLE
    assert hub.sent[ONE] == 2 * len(LARGE) - 7000


def test_what_is_missing_or_cut_is_fetched_again(hub: FakeHub, tmp_path: Path) -> None:
    """And nothing else."""
    weights = measured(hub)
    path = fetched(hub, weights, tmp_path)
    for change in ((path / "config.json").unlink, lambda: (path / "config.json").write_bytes(b"{")):
        change()
        hub.sent.clear()
        assert contents(fetched(hub, weights, tmp_path)) == WHOLE
        assert set(hub.sent) == {"config.json"}


@SOURCES
def test_the_measured_commit_is_fetched(hub: FakeHub, tmp_path: Path, source: str) -> None:
    """A branch that moves after the measuring changes nothing; the next measuring sees the new commit."""
    weights = measured(hub, f"{source}:{NAME}")
    hub.push(NAME, {"config.json": b"newer"})
    assert contents(fetched(hub, weights, tmp_path)) == WHOLE
    newer = measured(hub, f"{source}:{NAME}")
    assert newer.commit != weights.commit
    assert contents(fetched(hub, newer, tmp_path)) == {"config.json": b"newer"}


@SOURCES
def test_the_token_goes_to_the_hub_only(hub: FakeHub, tmp_path: Path, source: str) -> None:
    """The storage at another origin never sees the token; on disk it is nowhere."""
    hub.push("org/secret", FILES, token=TOKEN)
    path = fetched(hub, measured(hub, f"{source}:org/secret", TOKEN), tmp_path, TOKEN)
    assert contents(path) == WHOLE
    assert all(TOKEN in str(request.headers) for request in hub.hub.requests)
    assert len(hub.storage.requests) == 2
    assert not any(TOKEN in f"{request.path}{request.headers}" for request in hub.storage.requests)
    assert not any(TOKEN.encode() in entry.read_bytes() for entry in tmp_path.rglob("*") if entry.is_file())


def test_two_runs_at_once(hub: FakeHub, tmp_path: Path) -> None:
    """One fetches, the other waits for it and says so; every byte is sent once."""
    hub.hold.clear()
    weights = measured(hub)
    paths: list[Path] = []
    said: list[str] = []

    def run() -> None:
        paths.append(fetched(hub, weights, tmp_path, say=said.append))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    until(lambda: said, "the second run waits")
    hub.hold.set()
    for thread in threads:
        thread.join()
    assert said == [f"Another run is fetching hf:{NAME}; waiting for it."]
    assert paths[0] == paths[1]
    assert contents(paths[0]) == WHOLE
    assert sum(hub.sent.values()) == TOTAL


def test_passing_troubles_are_waited_for(hub: FakeHub, tmp_path: Path) -> None:
    """A busy hub, a failing storage and an address that has run out are each tried again."""
    weights = measured(hub)
    hub.trouble = lambda exchange: (429, {"retry-after": "0"}) if exchange.number % 4 == 1 else None
    statuses: dict[int, tuple[int, dict[str, str]]] = {0: (503, {}), 1: (403, {}), 2: (500, {})}
    hub.storage_trouble = lambda exchange: statuses.get(exchange.number)
    assert contents(fetched(hub, weights, tmp_path)) == WHOLE


def test_a_storage_that_stays_broken(hub: FakeHub, tmp_path: Path) -> None:
    """After some tries without a byte there is a sentence, without the signed address."""
    weights = measured(hub)
    hub.storage_trouble = lambda _: (503, {})
    with pytest.raises(Refused) as refused:
        fetched(hub, weights, tmp_path)
    assert refused.value.sentence == f"{hub.storage.url} answers with HTTP 503 (8 tries)."


def test_no_room(hub: FakeHub, tmp_path: Path) -> None:
    """The disk is looked at before the first byte, and what is there already does not count."""
    weights = measured(hub)
    with pytest.raises(Refused, match=rf"^hf:{NAME} needs 4\.2 MB, {tmp_path} has 17 bytes free\.$"):
        fetched(hub, weights, tmp_path, free=lambda _: 17)
    assert hub.sent == {}
    fetched(hub, weights, tmp_path)
    fetched(hub, weights, tmp_path, free=lambda _: 0)


def test_the_disk_is_full(hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fills up in the middle is a sentence, not a traceback."""
    weights, write = measured(hub), os.write

    def full(descriptor: int, data: bytes) -> int:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and os.fstat(descriptor).st_size > 2**20:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data[: 2**19])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(Refused, match=rf"^The disk is full: {tmp_path} has .* free, and hf:{NAME} does not fit\. "):
        fetched(hub, weights, tmp_path)
    monkeypatch.undo()
    assert contents(fetched(hub, weights, tmp_path)) == WHOLE
    assert sum(hub.sent.values()) < 2 * TOTAL
