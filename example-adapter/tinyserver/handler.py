"""HTTP: which address does what, and how answers travel."""

from __future__ import annotations

import json
import select
import socket
import sys
import time
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Final

from tinyserver.engine import Engine
from tinyserver.http_errors import ClientGone, RequestError
from tinyserver.records import Asked, Whole
from tinyserver.replies import ChatShape, CompletionShape, Reply
from tinyserver.requests import Served, read_chat, read_completion, read_text

LARGEST_BODY: Final = 16 * 2**20
IDLE_SECONDS: Final = 300
DONE: Final = b"data: [DONE]\n\n"


class TinyServer(ThreadingHTTPServer):
    """A thread for each connection; the engine does the work."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, address: tuple[str, int], engine: Engine, served: Served) -> None:
        self.engine = engine
        self.served = served
        self.began = int(time.time())
        super().__init__(address, Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks is the client's affair; anything else is worth a traceback."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version = "tinyserver"
    disable_nagle_algorithm = True
    timeout = IDLE_SECONDS
    server: TinyServer

    routes: ClassVar[dict[str, tuple[str, Callable[[Handler], None]]]] = {
        "/v1/chat/completions": ("POST", lambda self: self._chat()),
        "/v1/completions": ("POST", lambda self: self._completion()),
        "/tokenize": ("POST", lambda self: self._tokenize()),
        "/v1/models": ("GET", lambda self: self._models()),
        "/health": ("GET", lambda self: self._send(200, b"")),
        "/load": ("GET", lambda self: self._send_json(200, {"server_load": self.server.engine.load()})),
    }

    def _route(self) -> None:
        self._streaming = False
        try:
            self._body = self._read_body()
            self._act()
        except RequestError as error:
            self._send_failure(error)
        except (ClientGone, ConnectionError, TimeoutError):
            self.close_connection = True

    def _act(self) -> None:
        path = self.path.partition("?")[0]
        if path not in self.routes:
            raise RequestError(f"There is no {path} here.", status=404)
        method, action = self.routes[path]
        if self.command != method:
            raise RequestError(f"{path} wants {method}, not {self.command}.", status=405)
        action(self)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _route  # noqa: N815

    def _chat(self) -> None:
        asked = read_chat(self._json(), self.server.served)
        logprobs = asked.jobs[0].top is not None
        self._answer(asked, ChatShape(self.server.served.tokenizer, logprobs=logprobs, aloud=asked.aloud))

    def _completion(self) -> None:
        asked = read_completion(self._json(), self.server.served)
        logprobs = asked.jobs[0].top is not None
        self._answer(asked, CompletionShape(self.server.served.tokenizer, logprobs=logprobs))

    def _tokenize(self) -> None:
        served = self.server.served
        tokens = read_text(self._json(), served)
        self._send_json(200, {"count": len(tokens), "max_model_len": served.context, "tokens": tokens})

    def _models(self) -> None:
        served = self.server.served
        model = {"id": served.name, "object": "model", "created": self.server.began, "owned_by": "tinyserver"}
        model |= {"root": served.name, "parent": None, "max_model_len": served.context}
        self._send_json(200, {"object": "list", "data": [model]})

    def _answer(self, asked: Asked, shape: ChatShape | CompletionShape) -> None:
        reply = Reply(shape, self.server.served.name, asked.prompt_tokens)
        ticket = self.server.engine.submit(asked.jobs)
        try:
            batches = ticket.pieces(self._still_there)
            if asked.stream:
                self._start_stream()
                self._send_events(reply.openings(asked.choices))
                for batch in batches:
                    self._send_events(reply.chunks(batch))
                self._send_events([reply.usage_chunk()] if asked.include_usage else [])
                self._end_stream()
            else:
                wholes = [Whole() for _ in range(asked.choices)]
                for piece in (piece for batch in batches for piece in batch):
                    wholes[piece.choice].add(piece)
                self._send_json(200, reply.whole(wholes))
        finally:
            self.server.engine.cancel(ticket)

    def _read_body(self) -> bytes:
        if "Transfer-Encoding" in self.headers:
            self.close_connection = True
            raise RequestError("Send the body with a Content-Length.", status=411)
        length = self.headers.get("Content-Length", "0")
        if not (length.isascii() and length.isdigit()) or int(length) > LARGEST_BODY:
            self.close_connection = True
            raise RequestError(f"Content-Length must be a number up to {LARGEST_BODY}.", status=413)
        return self.rfile.read(int(length))

    def _json(self) -> dict[str, Any]:
        try:
            value = json.loads(self._body)
        except (ValueError, RecursionError) as error:
            raise RequestError(f"The body is not valid JSON: {error}.", param="body") from error
        if not isinstance(value, dict):
            raise RequestError("The body must be a JSON object.", param="body")
        return value

    def _still_there(self) -> bool:
        """Ask the socket whether the client has hung up, without taking anything from it."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        return not readable or bool(self.connection.recv(1, socket.MSG_PEEK))

    def _send(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        head = self._take_headers()
        self.wfile.write(head if self.command == "HEAD" else head + body)

    def _send_json(self, status: int, value: object) -> None:
        self._send(status, _json_bytes(value))

    def _start_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Cache-Control", "no-cache")
        if self.request_version == "HTTP/1.0":
            self.close_connection = True  # no chunks there: the end of the connection is the end of the body
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.wfile.write(self._take_headers())
        self._streaming = True

    def _send_events(self, events: Iterable[object], end: bytes = b"") -> None:
        """Send events in one write: a chunk each time there is something to tell."""
        data = b"".join(b"data: " + _json_bytes(event) + b"\n\n" for event in events) + end
        if not data:
            return
        if self.request_version != "HTTP/1.0":
            data = b"%x\r\n%s\r\n" % (len(data), data)
        self.wfile.write(data)

    def _end_stream(self) -> None:
        self._send_events([], DONE)
        if self.request_version != "HTTP/1.0":
            self.wfile.write(b"0\r\n\r\n")
        self._streaming = False

    def _send_failure(self, error: RequestError) -> None:
        """An error before the first chunk has a status; one after it travels as an event."""
        if self._streaming:
            self._send_events([error.body()])
            self._end_stream()
        else:
            self._send_json(error.status, error.body())

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the standard library refuses by itself wears the same envelope."""
        self.close_connection = True
        self.command = getattr(self, "command", "") or ""
        self._send_json(code, RequestError(message or explain or "Bad request.", status=code).body())

    def _take_headers(self) -> bytes:
        """End the headers, and hand them over to be sent in one packet with what follows."""
        buffer: list[bytes] = [*getattr(self, "_headers_buffer", []), b"\r\n"]
        self._headers_buffer: list[bytes] = []
        return b"".join(buffer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing of single requests."""


def _json_bytes(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
