"""Serves captures of real servers again: the same status, headers and body, in any chunking."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.servers.http import Exchange, HttpServer

STREAMS = Path(__file__).parents[2].parent / "shared" / "streams"


@dataclass(frozen=True, kw_only=True)
class Capture:
    """One answer as a real server gave it."""

    sent: str
    status: int
    headers: dict[str, str]
    body: bytes


def capture(name: str) -> Capture:
    """`vllm/stream`; skips the test when the captures are not at hand."""
    path = STREAMS / f"{name}.txt"
    if not path.is_file():
        pytest.skip(f"captures of real servers are not here: {path}")
    sent, found, received = path.read_bytes().partition(b"### received\n")
    if not found:  # the body alone was kept
        return Capture(sent="", status=200, headers={"content-type": "text/event-stream"}, body=sent)
    head, _, body = received.partition(b"\n\n")
    status, *lines = head.decode().splitlines()
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    sent_json = sent.partition(b"### sent\n")[2].decode().strip()
    return Capture(sent=sent_json, status=int(status.split()[1]), headers=headers, body=body)


class ReplayServer(HttpServer):
    """Gives the same capture to every request, `cut` bytes a chunk."""

    def __init__(self, shown: Capture, *, cut: int = 1 << 30) -> None:
        super().__init__(self._handle)
        self._shown = shown
        self._cut = cut

    async def _handle(self, exchange: Exchange) -> None:
        shown, body = self._shown, self._shown.body
        own = {"content-type", "content-length", "transfer-encoding", "server", "connection"}
        headers = {name: value for name, value in shown.headers.items() if name not in own}
        exchange.head(shown.status, headers, kind=shown.headers.get("content-type", "text/plain"))
        for start in range(0, len(body), self._cut):
            exchange.send(body[start : start + self._cut])
            await exchange.pause(0)
        exchange.end()
