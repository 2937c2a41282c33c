"""A streaming chat server that needs almost no CPU for an answer, so that only its client is measured.

Every answer is the same bytes, built once. Without a delay it leaves in one write. With a delay, one ticker
serves all streams: at every tick each open stream gets one token, as from a batched inference engine.
It prints its URL, serves until stdin closes or SIGTERM comes, and prints its counts as a line of JSON.
"""

import argparse
import asyncio
import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple, cast

import uvloop

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\n%b\r\n"
LENGTH = re.compile(rb"\ncontent-length: *(\d+)", re.IGNORECASE)
CHOICES = re.compile(rb'"n"\s*:\s*(\d+)')  # never inside a message: there the quotes are escaped
LIMIT = re.compile(rb'"max_tokens"\s*:\s*(\d+)')
WANTED = re.compile(rb"answer in (\d+) tokens")
"""What a question may say, where answers are to have different lengths."""
ENDING = ("####", " 42")


class Answer(NamedTuple):
    """What `n` choices look like on the wire: the opening, then one piece for every token."""

    opening: bytes
    pieces: tuple[bytes, ...]


def event(payload: dict[str, Any]) -> bytes:
    """One server-sent event in an HTTP chunk of its own, the way ASGI servers send it."""
    common = {"id": "chatcmpl-" + "5" * 32, "object": "chat.completion.chunk", "created": 1, "model": "bench"}
    return chunk(b"data: " + json.dumps(common | payload, separators=(",", ":")).encode() + b"\n\n")


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def events(n: int, delta: dict[str, str], finish: str | None = None) -> bytes:
    """The same step of all choices."""
    rest = {"delta": delta, "logprobs": None, "finish_reason": finish}
    return b"".join(event({"choices": [{"index": i, **rest}]}) for i in range(n))


@cache
def answer(tokens: int, n: int) -> Answer:
    words = [" token"] * max(0, tokens - len(ENDING)) + list(ENDING)
    pieces = [events(n, {"content": word}) for word in words[-tokens:]]
    usage = {"prompt_tokens": 50, "completion_tokens": tokens * n, "total_tokens": 50 + tokens * n}
    pieces[-1] += events(n, {"content": ""}, "stop") + event({"choices": [], "usage": usage})
    pieces[-1] += chunk(b"data: [DONE]\n\n") + chunk(b"")
    opening = HEAD % (b"text/event-stream; charset=utf-8", b"transfer-encoding: chunked\r\n")
    return Answer(opening + events(n, {"role": "assistant", "content": ""}), tuple(pieces))


@cache
def complete_answer(tokens: int, n: int) -> bytes:
    opening, pieces = answer(tokens, n)
    return opening + b"".join(pieces)


class Ticker:
    """Sends every open stream its next piece at each tick, and measures how well it keeps its pace."""

    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.streams: dict[Connection, Iterator[bytes]] = {}
        self.most = self.ticks = 0
        self.busy = self.began = self.due = 0.0

    def add(self, connection: "Connection", pieces: tuple[bytes, ...]) -> None:
        if not self.streams:
            self.began = self.due = time.perf_counter()
            self.schedule()
        self.streams[connection] = iter(pieces)
        self.most = max(self.most, len(self.streams))

    def schedule(self) -> None:
        """Ticks are due at fixed times, so a late one does not push the later ones back."""
        self.due += self.delay
        asyncio.get_running_loop().call_later(max(0.0, self.due - time.perf_counter()), self.tick)

    def tick(self) -> None:
        self.ticks += 1
        for connection, pieces in list(self.streams.items()):
            piece = next(pieces, None)
            if piece is None:
                self.streams.pop(connection, None)
            else:
                connection.write(piece)
        if self.streams:
            self.schedule()
        else:
            self.busy += time.perf_counter() - self.began

    def pace(self) -> float | None:
        """Actual ticks divided by ideal ticks; 1.0 is a server that keeps its pace."""
        return round(self.ticks * self.delay / self.busy, 4) if self.busy else None


class Server:
    def __init__(self, tokens: int, delay: float) -> None:
        self.tokens = tokens
        self.ticker = Ticker(delay)
        self.accepted = self.requests = 0
        self.spent = time.process_time()

    def stats(self) -> dict[str, float | None]:
        return {
            "connections": self.accepted,
            "requests": self.requests,
            "max_in_flight": self.ticker.most,
            "pace": self.ticker.pace(),
            "ticks": self.ticker.ticks,
            "busy_seconds": round(self.ticker.busy, 3),
            "cpu_seconds": round(time.process_time() - self.spent, 3),
        }

    def respond(self, connection: "Connection", target: bytes, body: bytes) -> None:
        if target == b"/v1/chat/completions":
            self.requests += 1
            match = CHOICES.search(body)
            n = int(match[1]) if match else 1
            wanted = WANTED.search(body)
            limit = LIMIT.search(body)
            tokens = int(wanted[1]) if wanted else self.tokens
            tokens = min(tokens, int(limit[1])) if limit else tokens
            if not self.ticker.delay:
                return connection.write(complete_answer(tokens, n))
            opening, pieces = answer(tokens, n)
            connection.write(opening)
            return self.ticker.add(connection, pieces)
        listing = {"object": "list", "data": [{"id": "bench", "object": "model"}]}
        page = json.dumps(self.stats() if target == b"/stats" else listing).encode()
        return connection.write(HEAD % (b"application/json", b"content-length: %d\r\n" % len(page)) + page)


class Connection(asyncio.Protocol):
    write: Callable[[bytes], None]

    def __init__(self, server: Server) -> None:
        self.server = server
        self.unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.write = cast("asyncio.Transport", transport).write
        self.server.accepted += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.ticker.streams.pop(self, None)

    def data_received(self, data: bytes) -> None:
        self.unread += data
        while (end := self.unread.find(b"\r\n\r\n")) >= 0:
            head = self.unread[:end]
            match = LENGTH.search(head)
            stop = end + 4 + (int(match[1]) if match else 0)
            if len(self.unread) < stop:
                return
            body, self.unread = self.unread[end + 4 : stop], self.unread[stop:]
            self.server.respond(self, head.split(b" ", 2)[1], body)


def when_stdin_closes(call: Callable[[], object]) -> None:
    """A thread, because epoll refuses some kinds of stdin; a raw read, because it may be cut off at exit."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        call()

    threading.Thread(target=wait, daemon=True).start()


async def serve(tokens: int, delay: float, port: int) -> None:
    loop, server, ended = asyncio.get_running_loop(), Server(tokens, delay), asyncio.Event()
    listener = await loop.create_server(lambda: Connection(server), "127.0.0.1", port, backlog=4096)
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    when_stdin_closes(lambda: loop.call_soon_threadsafe(ended.set))
    print(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}", flush=True)
    await ended.wait()
    listener.close()
    print(json.dumps(server.stats()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--delay-ms", type=float, default=0.0)
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    uvloop.run(serve(arguments.tokens, arguments.delay_ms / 1000, arguments.port))


if __name__ == "__main__":
    main()
