"""Services that break replies, each through the command: the report names what is odd, and a gate refuses it."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer, Style, chunk, deliver, encode, with_usage
from tests.servers.http import Exchange

CAP = 64
GATE = ("--gate", "anomalies <= 0.1%")


class Told(NamedTuple):
    """What a service sends: its chunks, why it ended, and how many tokens it says that these are."""

    chunks: list[str]
    reason: str = "stop"
    tokens: int = 0


def right(question: str) -> list[str]:
    return ["The", " text", " has", " that", " length", ":", "\n####", f" {len(question)}"]


def ignoring_the_end(question: str) -> Told:
    """The model goes on after its answer until no token is left."""
    said = right(question)
    return Told((said + [f"\n#### {len(question)}"] * CAP)[:CAP], "length", CAP)


BROKEN: dict[str, tuple[Callable[[str], Told], str]] = {
    "end of text ignored": (ignoring_the_end, "Anomaly 'loop' in 6 of 6 replies"),
    "cap lowered": (
        lambda question: Told(right(question)[:2], "length", 2),
        "ended by 'length' below max_tokens (the first, with 2 tokens where 64 were allowed",
    ),
    "chunks of all so far": (
        lambda question: Told(["".join(right(question)[:end]) for end in range(1, 9)], tokens=8),
        "Anomaly 'cumulative text' in 6 of 6 replies",
    ),
    "special tokens": (
        lambda question: Told([*right(question), "<|im_end|>"], tokens=9),
        "Anomaly 'special tokens' in 6 of 6 replies",
    ),
    "wrong count": (
        lambda question: Told(right(question), tokens=2),
        "'usage' has fewer tokens than chunks, or more than bytes (the first, 2 tokens for 8 chunks",
    ),
}


class BreakingService(FaultServer):
    """Sends what `told` makes of a question. With `load`, as many requests are always under way until the last ones,
    and a reply is broken where that many minus `calm` were there before it."""

    def __init__(self, told: Callable[[str], Told], *, load: int = 0, calm: int = 0, of: int = 0) -> None:
        super().__init__()
        self.told, self.load, self.calm, self.of = told, load, calm, of
        self.waiting: list[asyncio.Event] = []
        self.arrived = 0

    async def _chat(self, exchange: Exchange) -> None:
        question = exchange.json["messages"][-1]["content"]
        said = Told(right(question), tokens=8)
        if exchange.json["max_tokens"] == CAP:
            said = self.told(question) if len(self.waiting) >= self.calm else said
            await self._wait()
        events = [chunk([{"index": 0, "delta": {"content": piece}}]) for piece in said.chunks]
        events.append(chunk([{"index": 0, "delta": {}, "finish_reason": said.reason}]))
        usage: dict[str, Any] = {"prompt_tokens": 7, "completion_tokens": said.tokens}
        await deliver(exchange, encode(with_usage(events, usage, "own"), Style()), Style())

    async def _wait(self) -> None:
        """Until there are as many as should be; then the first one goes."""
        mine = asyncio.Event()
        self.waiting.append(mine)
        self.arrived += 1
        while self.waiting and (len(self.waiting) >= self.load or self.arrived == self.of):
            self.waiting.pop(0).set()
        await mine.wait()


def evaluated(server: FaultServer, folder: Path, problems: int, *more: object) -> command.Done:
    arguments = ["--datasets", command.lengths(folder / "lengths.jsonl", problems), "--max-tokens", CAP, "-n", 1]
    return command.run("run", "--endpoint", server.url, "--out", folder / "out", *arguments, *more)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_service_is_seen_and_refused(name: str, tmp_path: Path) -> None:
    """By name and number, with no advice that the observation does not bear; `report` and `rescore` say the same."""
    told, sentence = BROKEN[name]
    with BreakingService(told) as server:
        done = evaluated(server, tmp_path, 6, *GATE)
    assert done.code == 1, done.err
    assert sentence in done.out
    assert "6 with anomalies" in done.out
    assert "larger" not in done.out
    folder = command.only_run(tmp_path / "out")
    assert sentence in (folder / "report.html").read_text().replace("&#39;", "'")
    again = command.run("rescore", folder)
    assert sentence in again.out


def test_a_run_from_before_is_looked_at_by_report(tmp_path: Path) -> None:
    """Its results say nothing of anomalies; its journal does."""
    told, sentence = BROKEN["special tokens"]
    with BreakingService(told) as server:
        assert evaluated(server, tmp_path, 6).code == 0
    folder = command.only_run(tmp_path / "out")
    file = folder / f"results/{command.LABEL}/lengths.json"
    results = json.loads(file.read_bytes())
    results["notes"] = []
    del results["anomalies"], results["counts"]["anomalous"]
    file.write_text(json.dumps(results))
    done = command.run("report", "--unverified", folder, *GATE)
    assert done.code == 1, done.err
    assert sentence in (folder / "report.html").read_text().replace("&#39;", "'")


def test_a_healthy_service_passes(tmp_path: Path) -> None:
    """Nothing is said, and the gate holds."""
    with BreakingService(lambda question: Told(right(question), tokens=8)) as server:
        done = evaluated(server, tmp_path, 6, *GATE)
    assert done.code == 0, done.err
    assert "nomal" not in done.out.replace("anomalies <= 0.1%", "").replace("anomalies is 0.00", "")


def test_replies_that_break_under_load_are_told_with_it(tmp_path: Path) -> None:
    """Garbage only where 33 requests and more are in flight: the report says how many of them are there."""
    garbage = Told(["!"] * CAP, "length", CAP)
    with BreakingService(lambda _: garbage, load=48, calm=32, of=150) as server:
        done = evaluated(server, tmp_path, 150, "--concurrency", 48)
    assert done.code == 0, done.err
    said = " ".join(done.out.split())
    assert "Anomaly 'one token' in 118 of 150 replies" in said
    assert "other requests in flight, where" in said
