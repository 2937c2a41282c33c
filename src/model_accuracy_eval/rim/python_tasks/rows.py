"""A recipe over rows → the rows it makes, in a child process that knows no secret of ours."""

import json
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Recipe
from model_accuracy_eval.rim.python_tasks import process

Row = dict[str, Any]

_SECONDS = 900.0


class TrustedPython:
    """Implements `ports.MakeRows`."""

    def __init__(
        self, environment: Mapping[str, str], stand_ins: Mapping[str, str] | None = None, seconds: float = _SECONDS
    ) -> None:
        """`stand_ins`: modules that a task may import → modules of ours that it gets."""
        self._stand_ins = stand_ins or {}
        self._environment = environment
        self._seconds = seconds

    def __call__(self, recipe: Recipe, rows: list[Row], read: Callable[[str], list[Row]]) -> list[Row]:
        """The process is started anew with each file that it turns out to want: it has no way to read one itself."""
        files: dict[str, list[Row]] = {}
        while (told := self._told(recipe, rows, files)).keys() == {"wants"}:
            files[told["wants"]] = read(told["wants"])
        made: list[Row] = told["rows"]
        return made

    def _told(self, recipe: Recipe, rows: list[Row], files: dict[str, list[Row]]) -> dict[str, Any]:
        job = {
            **msgspec.to_builtins(recipe),
            "folder": str(Path(recipe.folder).resolve()),
            "stand_ins": dict(self._stand_ins),
            "data": rows,
            "files": files,
        }
        with tempfile.TemporaryDirectory(prefix="trusted-python-") as folder:
            done = self._run(json.dumps(job).encode(), folder, recipe)
        if done.returncode != 0:
            told = done.stderr.decode(errors="replace").strip()
            raise BadData(f"The task's Python in {recipe.folder} failed: {told.rpartition(chr(10))[2]}.", detail=told)
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def _run(self, job: bytes, folder: str, recipe: Recipe) -> "subprocess.CompletedProcess[bytes]":
        try:
            return subprocess.run(  # noqa: S603 - our own interpreter and file
                process.command("child"),
                input=job,
                capture_output=True,
                cwd=folder,
                env=process.surroundings(self._environment, folder),
                timeout=self._seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BadData(
                f"The task's Python in {recipe.folder} had not made its rows after {self._seconds:g} seconds."
            ) from None
