"""Functions of a task's author, called in processes of their own: one for every folder, because folders have modules of
the same names.
"""

import atexit
import inspect
import os
import select
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.records import JSONObject, Recipe
from model_accuracy_eval.trusted_python import child_process
from model_accuracy_eval.trusted_python.child_process import (
    Asks,
    Call,
    ChildReply,
    Describe,
    Failed,
    FunctionSignature,
    MissingFile,
    PlainValue,
    RecordMembers,
    RowsMade,
    RowsWanted,
)

_SECONDS = 900.0
_MAX_CHILDREN = 8
"""Processes at a time; the one whose last call is the longest ago makes room."""

_KINDS = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD,
)
"""Kinds of parameters, at the places that are their numbers."""


@dataclass(frozen=True)
class RemoteFunction:
    """Stands for a function of another process, with its parameters."""

    path: str
    functions: "TrustedFunctions"
    __signature__: inspect.Signature = field(compare=False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.functions.call(self.path, args, kwargs)


class TrustedFunctions:
    """What `scoring.function_paths` loads functions with, where the user trusts them."""

    def __init__(self, environment: Mapping[str, str], seconds: float = _SECONDS) -> None:
        self._environment = environment
        self._seconds = seconds
        self._children: dict[str, _Child] = {}
        atexit.register(self.close)

    def __call__(self, path: str) -> Any:
        """Returns a function, or the members of a record by their names."""
        reply = self._ask(path, Describe(_absolute(path)))
        if isinstance(reply, Failed):
            raise _not_loaded(path, reply)
        if isinstance(reply, RecordMembers):
            return {**reply.values, **{name: self(f"{path}.{name}") for name in reply.functions}}
        if not isinstance(reply, FunctionSignature):
            raise BadData(f"The process of the task's Python {path} sent a reply to another request.")
        return RemoteFunction(path, self, _signature(reply))

    def call(self, path: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        reply = self._ask(path, Call(_absolute(path), args, dict(kwargs)))
        if isinstance(reply, Failed):
            raise BadData(f"The task's Python {path} failed: {reply.sentence}.", detail=reply.traceback)
        if isinstance(reply, Asks):
            return child_process.read_asks(path, reply)
        return reply.value if isinstance(reply, PlainValue) else reply

    def _ask(self, path: str, request: Describe | Call) -> ChildReply:
        folder = str(Path(_absolute(path).rpartition(":")[0]).parent)
        child = self._children.pop(folder, None) or _Child(folder, self._environment)
        self._children[folder] = child
        if len(self._children) > _MAX_CHILDREN:
            self._children.pop(next(iter(self._children))).close()
        try:
            return child.ask(path, request, self._seconds)
        except BadData:
            self._children.pop(folder).close()
            raise

    def close(self) -> None:
        """Ends every process."""
        while self._children:
            self._children.popitem()[1].close()


def _absolute(path: str) -> str:
    """The process works in a folder of its own."""
    place, _, name = path.rpartition(":")
    return f"{Path(place).resolve()}:{name}" if place.endswith(".py") else path


def _signature(reply: FunctionSignature) -> inspect.Signature:
    return inspect.Signature(
        [
            inspect.Parameter(name, _KINDS[kind], default=inspect.Parameter.empty if required else None)
            for name, kind, required in reply.parameters
        ]
    )


class _Child:
    """One process, which answers one request at a time."""

    def __init__(self, folder: str, environment: Mapping[str, str]) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="trusted-python-")
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and file
            child_process.command(folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            cwd=self._home.name,
            env=child_process.child_environment(environment, self._home.name),
        )

    def ask(self, path: str, request: RowsWanted | Describe | Call, seconds: float) -> ChildReply:
        assert self._process.stdin
        try:
            self._process.stdin.write(child_process.pack(request))
            self._process.stdin.flush()
            size = int.from_bytes(self._read(child_process.LENGTH_BYTES, path, seconds), "big")
            return child_process.read_reply(path, self._read(size, path, seconds))
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
        self._output.seek(0)
        return self._output.read()[-4096:].decode(errors="replace").strip()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._output):
            if pipe:
                pipe.close()
        self._home.cleanup()


def _not_loaded(path: str, failed: Failed) -> BadValue:
    """Only what happened in the user's file is shown: the frames above it are ours."""
    place = _absolute(path).rpartition(":")[0]
    if place.endswith(".py") and not Path(place).is_file():
        return BadValue(f"'{path}' cannot be loaded: there is no file {place}.", next_step=f"ls {Path(place).parent}")
    lines = failed.traceback.rstrip().splitlines()
    own = next((number for number, line in enumerate(lines) if f'File "{place}"' in line), 0)
    return BadValue(f"'{path}' cannot be loaded: {failed.sentence}.", detail="\n".join(lines[own:]))


# A recipe over rows → the rows it makes, in a child process that knows no secret of ours.


class TrustedRows:
    """Implements `ports.MakeRows`."""

    def __init__(self, environment: Mapping[str, str], seconds: float = _SECONDS) -> None:
        self._environment = environment
        self._seconds = seconds

    def __call__(
        self, recipe: Recipe, rows: list[JSONObject], read: Callable[[str], list[JSONObject]]
    ) -> list[JSONObject]:
        """The process is started anew with each file that it turns out to need: it cannot read one itself."""
        recipe = msgspec.structs.replace(recipe, folder=str(Path(recipe.folder).resolve()))
        files: dict[str, list[JSONObject]] = {}
        while isinstance(reply := self._ask(recipe, rows, files), MissingFile):
            files[reply.name] = read(reply.name)
        return child_process.rows_from_json(reply.data)

    def _ask(
        self, recipe: Recipe, rows: list[JSONObject], files: dict[str, list[JSONObject]]
    ) -> RowsMade | MissingFile:
        place = f"in {recipe.folder}"
        child = _Child(recipe.folder, self._environment)
        try:
            job = RowsWanted(recipe=recipe, rows=rows, files=files)
            reply = child.ask(place, job, self._seconds)
        finally:
            child.close()
        if isinstance(reply, Failed):
            raise BadData(f"The task's Python {place} failed: {reply.sentence}.", detail=reply.traceback)
        if not isinstance(reply, RowsMade | MissingFile):
            raise BadData(f"The process of the task's Python {place} sent a reply to another request.")
        return reply
