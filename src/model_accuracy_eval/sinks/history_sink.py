"""The history which later runs are seen against: a line for each dataset, and a warning at a regression."""

from collections.abc import Callable
from functools import partial
from pathlib import PurePath
from typing import Annotated

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.ports import Published, Store
from model_accuracy_eval.records import Outcome, Record, Report
from model_accuracy_eval.report import history
from model_accuracy_eval.run_folder import history_file
from model_accuracy_eval.run_folder.history_file import HistoryFile
from model_accuracy_eval.settings import about
from model_accuracy_eval.sinks.publisher import ActionSink, SinkParts
from model_accuracy_eval.system.local_files import append_lines

_TITLE = "History"
_FILE, _SUFFIX = "accuracy-history.jsonl", ".jsonl"
_OF_BRANCHES = {"push", "schedule"}
"""Events that are about a branch, though its newest commit may be a pull request's, too."""


class HistoryInputs(Record, frozen=True, kw_only=True):
    history_file: Annotated[
        str,
        about(
            "History file (.jsonl) that the run is added to: a path in the workspace, or on the branch that "
            "`history-branch` names; default there: accuracy-history.jsonl. Runs of pull requests are not added."
        ),
    ] = ""
    history_branch: Annotated[
        str,
        about(
            "Branch of the repository with the history file, made if need be; the job needs the permission "
            "`contents: write`."
        ),
    ] = ""


class HistorySink(ActionSink[HistoryInputs]):
    """Implements `ports.Sink`. Runs of pull requests are not added: their code may never be part of the branch."""

    name = "history"

    def __init__(self, parts: SinkParts, inputs: HistoryInputs) -> None:
        super().__init__(parts, inputs)
        self._context, self._step = parts.context, parts.step
        self._path = inputs.history_file or (_FILE if inputs.history_branch else "")
        """In the workspace or on the branch; empty: no history is kept."""
        leads_out = ".." in self._path.split("/") or self._path.startswith("/")
        if self._path and (leads_out or not self._path.endswith(_SUFFIX)):
            raise BadValue(
                f"The input 'history-file' is '{self._path}': give a path below the workspace, or on the branch, that "
                f"ends with {_SUFFIX}, such as {_FILE}."
            )

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        if not self._path or not isinstance(result, Report) or folder is None:
            return published
        if self._context.pull is not None and self._context.event not in _OF_BRANCHES:
            self._step.notice("The run of a pull request is not added to the history.", title=_TITLE)
            return published
        found = history_file.of_run(folder)
        for each in found.left_out:
            self._step.notice(f"Not added to the history: {each.reason}", title=_TITLE)
        if found.lines:
            run_id = result.plan.run_id
            content = self._append(partial(history_file.new_lines, lines=found.lines), run_id)
            self._tell(history_file.decode(content, self._path), run_id)
        return published

    def _append(self, make: Callable[[bytes], bytes], run_id: str) -> bytes:
        """`make` gives what a history with this content lacks."""
        context = self._context
        if not self.inputs.history_branch:
            return append_lines(str(PurePath(context.workspace, self._path)), make)
        message = f"Accuracy of {context.label}, run {run_id[:8]}\n\n[skip ci]"
        return self._parts.github.append_to_branch(
            context.repository, self.inputs.history_branch, self._path, make, message=message
        )

    def _tell(self, file: HistoryFile, run_id: str) -> None:
        """What is damaged, and which of the run's series have fallen."""
        for sentence in file.damaged:
            self._step.warning(sentence, title=_TITLE)
        for series in history.history(file.lines).series:
            if series.regression and series.points[-1].run_id == run_id:
                for sentence in history.standing(series):
                    self._step.warning(sentence, title=_TITLE)
