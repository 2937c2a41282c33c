"""Functions of a task's author, called in processes of their own: one for every folder, because folders have modules of
the same names.
"""

import atexit
import inspect
import os
import select
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.rim.python_tasks import process, wire

_SECONDS = 900.0
_MOST = 8
"""Processes at a time; the one that was not asked for the longest time makes room."""

_KINDS = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD,
)
"""Kinds of parameters, at the places that are their numbers."""


@dataclass(frozen=True)
class Function:
    """Stands for a function over there, parameters included."""

    path: str
    folders: "TrustedFunctions"
    __signature__: inspect.Signature = field(compare=False)

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.folders.call(self.path, args, named)


class TrustedFunctions:
    """What `scoring.paths` loads functions with, where the user trusts them."""

    def __init__(self, environment: Mapping[str, str], seconds: float = _SECONDS) -> None:
        self._environment = environment
        self._seconds = seconds
        self._children: dict[str, _Child] = {}
        atexit.register(self.close)

    def __call__(self, path: str) -> Any:
        """A function, or the members of a record."""
        kind, value, detail = self._asked(path, ("describe", _absolute(path)))
        if kind == "failed":
            raise BadValue(f"'{path}' cannot be loaded: {value}.", detail=detail)
        if kind == "record":
            return {name: self(f"{path}.{name}") if what == "function" else one for name, (what, one) in value.items()}
        return Function(path, self, _signature(value))

    def call(self, path: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        kind, value, detail = self._asked(path, ("call", _absolute(path), args, dict(named)))
        if kind == "failed":
            raise BadData(f"The task's Python {path} failed: {value}.", detail=detail)
        if kind == "asks":
            return wire.asks(path, value)
        return wire.Sealed(value) if kind == "sealed" else value

    def _asked(self, path: str, message: tuple[Any, ...]) -> tuple[str, Any, str]:
        folder = str(Path(_absolute(path).rpartition(":")[0]).parent)
        child = self._children.pop(folder, None) or _Child(folder, self._environment)
        self._children[folder] = child
        if len(self._children) > _MOST:
            self._children.pop(next(iter(self._children))).close()
        try:
            kind, value, detail = child.ask(path, message, self._seconds)
        except BadData:
            self._children.pop(folder).close()
            raise
        return kind, value, detail

    def close(self) -> None:
        """Ends every process."""
        while self._children:
            self._children.popitem()[1].close()


def _absolute(path: str) -> str:
    """The child stands in a folder of its own."""
    place, _, name = path.rpartition(":")
    return f"{Path(place).resolve()}:{name}" if place.endswith(".py") else path


def _signature(told: list[tuple[str, int, bool]]) -> inspect.Signature:
    """Which parameters there are, of which kind, and whether they must be given."""
    return inspect.Signature(
        [
            inspect.Parameter(name, _KINDS[kind], default=inspect.Parameter.empty if needed else None)
            for name, kind, needed in told
        ]
    )


class _Child:
    """One process, asked one thing at a time."""

    def __init__(self, folder: str, environment: Mapping[str, str]) -> None:
        self._room = tempfile.TemporaryDirectory(prefix="trusted-python-")
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and file
            process.command("serving", folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._noise,
            cwd=self._room.name,
            env=process.surroundings(environment, self._room.name),
        )

    def ask(self, path: str, message: object, seconds: float) -> Any:
        assert self._process.stdin
        try:
            self._process.stdin.write(wire.framed(message))
            self._process.stdin.flush()
            size = int.from_bytes(self._read(wire.LENGTH, path, seconds), "big")
            return wire.read(self._read(size, path, seconds))
        except (BrokenPipeError, EOFError):
            raise BadData(
                f"The task's Python {path} ended its process, with exit code {self._process.wait()}.",
                detail=self._printed(),
            ) from None

    def _read(self, size: int, path: str, seconds: float) -> bytes:
        assert self._process.stdout
        pipe, data = self._process.stdout.fileno(), b""
        while len(data) < size:
            if not select.select([pipe], [], [], seconds)[0]:
                raise BadData(f"The task's Python {path} had not answered after {seconds:g} seconds.")
            piece = os.read(pipe, min(size - len(data), 1 << 20))
            if not piece:
                raise EOFError
            data += piece
        return data

    def _printed(self) -> str:
        self._noise.seek(0)
        return self._noise.read()[-4096:].decode(errors="replace").strip()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._noise):
            if pipe:
                pipe.close()
        self._room.cleanup()
