"""A recipe over rows → the rows it makes, in a child process that knows no secret of ours."""

import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import JSONObject, Recipe
from model_accuracy_eval.trusted_python import child_process
from model_accuracy_eval.trusted_python.child_process import RowsJob, RowsResult

_SECONDS = 900.0


class TrustedRows:
    """Implements `ports.MakeRows`."""

    def __init__(
        self, environment: Mapping[str, str], stand_ins: Mapping[str, str] | None = None, seconds: float = _SECONDS
    ) -> None:
        """`stand_ins`: modules that a task may import → modules of ours that it gets."""
        self._stand_ins = dict(stand_ins or {})
        self._environment = environment
        self._seconds = seconds

    def __call__(
        self, recipe: Recipe, rows: list[JSONObject], read: Callable[[str], list[JSONObject]]
    ) -> list[JSONObject]:
        """The process is started anew with each file that it turns out to need: it cannot read one itself."""
        recipe = msgspec.structs.replace(recipe, folder=str(Path(recipe.folder).resolve()))
        files: dict[str, list[JSONObject]] = {}
        while (
            result := self._run(RowsJob(recipe=recipe, rows=rows, files=files, stand_ins=self._stand_ins))
        ).missing_file is not None:
            files[result.missing_file] = read(result.missing_file)
        return result.rows

    def _run(self, job: RowsJob) -> RowsResult:
        folder = job.recipe.folder
        with tempfile.TemporaryDirectory(prefix="trusted-python-") as home:
            try:
                done = subprocess.run(  # noqa: S603 - our own interpreter and file
                    child_process.command("rows_child"),
                    input=job.to_json(),
                    capture_output=True,
                    cwd=home,
                    env=child_process.child_environment(self._environment, home),
                    timeout=self._seconds,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise BadData(
                    f"The task's Python in {folder} had not made its rows after {self._seconds:g} seconds."
                ) from None
        if done.returncode != 0:
            text = done.stderr.decode(errors="replace").strip()
            raise BadData(f"The task's Python in {folder} failed: {text.rpartition(chr(10))[2]}.", detail=text)
        return RowsResult.from_json(done.stdout)
