"""The sink that adds a run to the history which later runs are seen against."""

from collections.abc import Callable
from functools import partial
from pathlib import PurePath

from model_accuracy_eval.ports import Store
from model_accuracy_eval.ports.action_ports import ActionContext, GitHubApi, RunnerStep
from model_accuracy_eval.ports.service import Published
from model_accuracy_eval.records import Outcome, Report
from model_accuracy_eval.report import history
from model_accuracy_eval.run_folder import history_file
from model_accuracy_eval.run_folder.history_file import HistoryFile

MakeLines = Callable[[bytes], bytes]
"""What a history with this content lacks."""
_TITLE = "History"
_OF_BRANCHES = {"push", "schedule"}
"""Events that are about a branch, though its newest commit may be a pull request's, too."""


class HistorySink:
    """Implements `ports.sink.Sink`: a line for each dataset, on a branch or in a file, and a warning at a regression.

    Runs of pull requests are not added: they are about code that may never be part of the branch.
    """

    name = "history"

    def __init__(
        self,
        context: ActionContext,
        github: GitHubApi,
        step: RunnerStep,
        append_to_file: Callable[[str, MakeLines], bytes],
    ) -> None:
        self._context = context
        self._github = github
        self._step = step
        self._append_to_file = append_to_file

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        context = self._context
        if not context.history_file or not isinstance(result, Report) or folder is None:
            return published
        if context.pull is not None and context.event not in _OF_BRANCHES:
            self._step.notice("The run of a pull request is not added to the history.", title=_TITLE)
            return published
        found = history_file.of_run(folder)
        for each in found.left_out:
            self._step.notice(f"Not added to the history: {each.reason}", title=_TITLE)
        if found.lines:
            run_id = result.plan.run_id
            content = self._append(partial(history_file.new_lines, lines=found.lines), run_id)
            self._tell(history_file.decode(content, context.history_file), run_id)
        return published

    def _append(self, make: MakeLines, run_id: str) -> bytes:
        context = self._context
        if not context.history_branch:
            return self._append_to_file(str(PurePath(context.workspace, context.history_file)), make)
        return self._github.append_to_branch(
            context.repository,
            context.history_branch,
            context.history_file,
            make,
            message=f"Accuracy of {context.label}, run {run_id[:8]}\n\n[skip ci]",
        )

    def _tell(self, file: HistoryFile, run_id: str) -> None:
        """What is damaged, and which of the run's series have fallen."""
        for sentence in file.damaged:
            self._step.warning(sentence, title=_TITLE)
        for series in history.history(file.lines).series:
            if series.regression and series.points[-1].run_id == run_id:
                for sentence in history.standing(series):
                    self._step.warning(sentence, title=_TITLE)
