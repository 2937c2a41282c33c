"""A server whose every answer follows from its question and seed, after a while: python seeded_server.py PORT SECONDS

SECONDS is a file, and who writes another number into it changes the pace of what is being asked, too.

The file ASKED, if the variable is set, gets a line for each request about lengths: how many samples it asks for.

It answers "How long is xxx?" rightly two times of three. Run as a program of its own, without any package.
"""

import hashlib
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seconds: Path
    asked = -1

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - the base class names it

    def do_GET(self) -> None:
        self._send("application/json", json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]}))

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "How long is " in request["messages"][-1]["content"]:
            if self.asked >= 0:
                os.write(self.asked, f"{json.dumps({'samples': request.get('n', 1)})}\n".encode())
            begun = time.monotonic()
            # The file is empty while it is written.
            while (left := begun + float(self.seconds.read_text() or "inf") - time.monotonic()) > 0:
                time.sleep(min(left, 0.1))
        text = request["messages"][-1]["content"]
        events = [
            {
                "choices": [
                    {
                        "index": at,
                        "delta": {"content": answer(text, (request.get("seed") or 0) + at)},
                        "finish_reason": "stop",
                    }
                ]
            }
            for at in range(request.get("n", 1))
        ]
        self._send("text/event-stream", "".join(f"data: {each}\n\n" for each in [*map(json.dumps, events), "[DONE]"]))

    def _send(self, kind: str, body: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())


def answer(text: str, seed: int) -> str:
    right = hashlib.sha256(f"{text}{seed}".encode()).digest()[0] % 3
    return f"#### {len(text.splitlines()[0]) if right else 0}"


if __name__ == "__main__":
    Handler.seconds = Path(sys.argv[2])
    if "ASKED" in os.environ:
        Handler.asked = os.open(os.environ["ASKED"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
