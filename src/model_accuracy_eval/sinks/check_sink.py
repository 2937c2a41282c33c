"""The check run of the commit: opened before anything else, and closed with the verdict.

And the status of the commit, by default only where a check cannot be opened.
"""

import posixpath
from typing import TYPE_CHECKING, Annotated, Literal

from model_accuracy_eval.ports import Published, Store
from model_accuracy_eval.records import Outcome, Record, Report
from model_accuracy_eval.records.report import ActionContext, Annotation, OpenCheck, StatusState
from model_accuracy_eval.report import comment
from model_accuracy_eval.report.endings import CONCLUSIONS, outcome, title
from model_accuracy_eval.settings import about
from model_accuracy_eval.sinks.publisher import NAME, SinkParts

if TYPE_CHECKING:
    from model_accuracy_eval.github.api import GitHubRest
    from model_accuracy_eval.github.runner import Runner

_OPENED, _CLOSED = "check", "check_closed"
"""What the post step reads to see whether a check was left open."""


class CheckInputs(Record, frozen=True, kw_only=True):
    check: Annotated[bool, about("Whether to create a check run for the commit.")] = True


class CheckSink:
    """Implements `ports.LiveSink`. Without `begin`, or when GitHub refuses the check, it publishes nothing."""

    name = "check"

    def __init__(self, parts: SinkParts, inputs: CheckInputs) -> None:
        self._parts = parts
        self.inputs = inputs
        self._check: OpenCheck | None = None

    def begin(self, published: Published) -> Published:
        context = self._parts.context
        if not self.inputs.check or not context.commit:
            return published
        self._check = self._parts.github.open_check(
            context.repository,
            context.commit,
            name=f"{NAME} ({context.label})",
            key=context.key,
            title="In progress",
            summary="The evaluation is under way.",
            details_url=context.run_url,
        )
        self._parts.step.save(_OPENED, f"{self._check.repository} {self._check.id} {self._check.url}")
        return published.with_link(self.name, self._check.url)

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        if self._check is None:
            return published
        context = self._parts.context
        text = comment.as_check(result, commit=context.commit, links=self._parts.links(published))
        self._parts.github.complete_check(
            self._check,
            conclusion=text.conclusion,
            title=text.title,
            summary=text.summary,
            annotation=_annotation(context, outcome(result)),
            details_url=context.run_url,
        )
        self._parts.step.save(_CLOSED, "yes")
        return published


def _annotation(context: ActionContext, ending: Outcome) -> Annotation | None:
    """Points at the adapter's line that is at fault, if the commit of the check is the one that has it."""
    if ending.about is None or not context.own_adapter or context.adapter_commit != context.commit:
        return None
    file, line = ending.about
    return Annotation(
        path=posixpath.normpath(posixpath.join(context.adapter_path, file)),
        line=line,
        message=ending.sentence,
        title=CONCLUSIONS[ending.conclusion].words,
    )


def left_open(step: "Runner") -> OpenCheck | None:
    """The check that a killed main step could not close, as its post step sees it."""
    fields = step.state(_OPENED).split()
    if len(fields) != 3 or step.state(_CLOSED):
        return None
    return OpenCheck(repository=fields[0], id=int(fields[1]), url=fields[2])


def close(check: OpenCheck, github: "GitHubRest") -> None:
    sentence = "The step was ended before it could report how the evaluation went."
    github.complete_check(check, conclusion="cancelled", title="Cancelled", summary=sentence)


# The status of the commit, by default only where a check cannot be opened.


class StatusInputs(Record, frozen=True, kw_only=True):
    status: Annotated[
        Literal["auto", "true", "false"],
        about("Whether to set a commit status: `true`, `false` or `auto` (only if no check run could be created)."),
    ] = "auto"


class StatusSink:
    """Implements `ports.LiveSink`."""

    name = "status"

    def __init__(self, parts: SinkParts, inputs: StatusInputs) -> None:
        self._parts = parts
        self.inputs = inputs

    def begin(self, published: Published) -> Published:
        self._set("pending", "The evaluation is under way.", published)
        return published

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        self._set(CONCLUSIONS[outcome(result).conclusion].status, title(result, 140), published)
        return published

    def _set(self, state: StatusState, description: str, published: Published) -> None:
        context = self._parts.context
        no_check = any(failure.sink == "check" for failure in published.failures)
        if context.commit and (self.inputs.status == "true" or (self.inputs.status == "auto" and no_check)):
            self._parts.github.commit_status(
                context.repository,
                context.commit,
                state=state,
                context=f"{NAME} ({context.label})",
                description=description,
                target_url=context.run_url,
            )
