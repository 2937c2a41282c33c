"""Start the example server as a real process, and talk to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import HANGING

ADAPTER = Path(__file__).resolve().parents[2] / "example-adapter"


@dataclass(frozen=True)
class Answer:
    """A whole HTTP answer."""

    status: int
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The chunks of a stream, which must end with the mark."""
        *chunks, mark, rest = self.body.decode().split("\n\n")
        assert (mark, rest) == ("data: [DONE]", "")
        assert all(chunk.startswith("data: ") for chunk in chunks)
        return [json.loads(chunk.removeprefix("data: ")) for chunk in chunks]


@dataclass(frozen=True)
class Server:
    """A running server and how to ask it."""

    port: int
    model: str

    def open(self, method: str, path: str, body: bytes | None = None) -> tuple[HTTPConnection, HTTPResponse]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=HANGING)
        connection.request(method, path, body)
        return connection, connection.getresponse()

    def send(self, method: str, path: str, body: bytes | None = None) -> Answer:
        connection, response = self.open(method, path, body)
        try:
            return Answer(response.status, response.read())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.send("GET", path)

    def post(self, path: str, /, **fields: Any) -> Answer:
        return self.send("POST", path, json.dumps(fields).encode())

    def chat(self, prompt: Any, /, **fields: Any) -> Answer:
        messages = [{"role": "user", "content": prompt}]
        return self.post("/v1/chat/completions", **{"messages": messages, **fields})

    def complete(self, prompt: Any, /, **fields: Any) -> Answer:
        return self.post("/v1/completions", prompt=prompt, **fields)

    def texts(self, prompt: Any, /, **fields: Any) -> list[str]:
        """What a chat answers, choice by choice."""
        answer = self.chat(prompt, **fields)
        assert answer.status == 200, answer.body
        return [choice["message"]["content"] for choice in answer.json["choices"]]

    def load(self) -> int:
        return int(self.get("/load").json["server_load"])


def start(*arguments: str) -> subprocess.Popen[str]:
    """Start `server.py` in the adapter's folder, leaving no byte code there."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "server.py", *arguments]
    return subprocess.Popen(
        command, cwd=ADAPTER, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def running(weights: str) -> Iterator[Server]:
    """A server of these weights, for as long as a fixture is needed."""
    process = start(weights, "--port", "0")
    assert process.stdout is not None
    said = process.stdout.readline()
    if not said:
        pytest.fail(f"the server did not start: {process.communicate()[1]}")
    yield Server(int(said.rsplit(":", 1)[1]), weights)
    stop(process)


def stop(process: subprocess.Popen[str]) -> tuple[str, str]:
    process.terminate()
    try:
        return process.communicate()
    finally:
        process.kill()
        process.wait()
