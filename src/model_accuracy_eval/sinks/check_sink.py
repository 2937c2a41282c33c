"""The check run of the commit: opened before anything else, and closed with the verdict.

And the status of the commit, by default only where a check cannot be opened. A verdict on a commit of another
repository goes there, where the token may write it; here a check that is no verdict names that commit.
"""

import posixpath
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec.structs import replace

from model_accuracy_eval.ports import Published, Store
from model_accuracy_eval.records import Outcome, Record, Report
from model_accuracy_eval.records.report import ActionContext, Annotation, OpenCheck, StatusState, is_same, is_verdict
from model_accuracy_eval.report import comment, markdown
from model_accuracy_eval.report.endings import CONCLUSIONS, outcome, title
from model_accuracy_eval.settings import about
from model_accuracy_eval.sinks.publisher import SinkParts

if TYPE_CHECKING:
    from model_accuracy_eval.github.api import GitHubRest
    from model_accuracy_eval.github.runner import Runner

ELSEWHERE = "check elsewhere"
"""The link to a check in the adapter's own repository, where that is another one; empty: it could not be opened."""
_OPENED, _CLOSED = "check", "check_closed"
"""What the post step reads to see whether checks were left open."""


class CheckInputs(Record, frozen=True, kw_only=True):
    check: Annotated[bool, about("Whether to create a check run for the commit.")] = True


class CheckSink:
    """Implements `ports.LiveSink`. Without `begin`, or when GitHub refuses the check, it publishes nothing."""

    name = "check"

    def __init__(self, parts: SinkParts, inputs: CheckInputs) -> None:
        self._parts = parts
        self.inputs = inputs
        self._checks: list[OpenCheck] = []

    def begin(self, published: Published) -> Published:
        context = self._parts.context
        if not self.inputs.check:
            return published
        if not context.own_adapter and context.adapter_commit:
            published = published.with_link(ELSEWHERE, "")
            with self._parts.where_the_token_may():
                opened = self._open(context.adapter_repository, context.adapter_commit)
                published = published.with_link(ELSEWHERE, opened)
        if not context.commit:
            return published
        published = published.with_link(self.name, self._open(context.repository, context.commit))
        if objection := self._objection(self._checks[-1]):
            # What keeps its name is about something else, or will be told by the job that has it.
            self._parts.github.rename_check(self._checks[-1], f"{self._parts.title}, not started")
            return replace(published, objections=(objection,))
        return published

    def _objection(self, check: OpenCheck) -> str:
        """Why no second check of this name may be opened on this commit. One without a verdict, such as that of a run
        that was refused, keeps nobody from theirs."""
        title, context = self._parts.title, self._parts.context
        for key, conclusion in self._parts.github.earlier_keys(check, context.commit, title):
            run, subject, *_ = [*key.split(), "", ""]
            if run == context.run and conclusion in {None, "success", "failure"}:
                return (
                    f"Another job of this workflow run has the check '{title}': jobs that evaluate different things "
                    "need different labels (label), and to evaluate one thing twice says nothing more."
                )
            if subject != context.identity.subject and conclusion in {"success", "failure"}:
                return (
                    f"The check '{title}' of {context.commit[:12]} is about another model, and this run is about "
                    f"{context.identity.line}: give it a label of its own (label)."
                )
        return ""

    def _open(self, repository: str, commit: str) -> str:
        context = self._parts.context
        check = self._parts.github.open_check(
            repository,
            commit,
            name=self._parts.title,
            key=context.key,
            title="In progress",
            summary=f"The evaluation is under way: {markdown.literal(context.identity.line)}.",
            details_url=context.run_url,
        )
        self._checks.append(check)
        self._parts.step.save(_OPENED, " ".join(f"{each.repository} {each.id} {each.url}" for each in self._checks))
        return check.url

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        context = self._parts.context
        text = comment.as_check(result, identity=self._parts.identity(result), links=self._parts.links(published))
        for check in self._checks:
            if context.own_adapter:
                self._complete(check, text, outcome(result))
            elif is_same(check.repository, context.adapter_repository):
                with self._parts.where_the_token_may():
                    self._complete(check, text, outcome(result))
            else:  # what is said of another commit satisfies no required check: it has another name, and no success
                conclusion = "neutral" if is_verdict(outcome(result).conclusion) else text.conclusion
                title = f"{context.adapter_repository}@{context.adapter_commit[:7]}: {text.title}"
                self._complete(check, replace(text, conclusion=conclusion, title=title), outcome(result))
        if self._checks:
            self._parts.step.save(_CLOSED, "yes")
        return published

    def _complete(self, check: OpenCheck, text: comment.CheckText, ending: Outcome) -> None:
        self._parts.github.complete_check(
            check,
            conclusion=text.conclusion,
            title=text.title,
            summary=text.summary,
            annotation=_annotation(self._parts.context, check, ending),
            details_url=self._parts.context.run_url,
        )


def _annotation(context: ActionContext, check: OpenCheck, ending: Outcome) -> Annotation | None:
    """Points at the adapter's line that is at fault, if the commit of the check is the one that has it."""
    if ending.about is None or not is_same(check.repository, context.adapter_repository):
        return None
    if context.own_adapter and context.adapter_commit != context.commit:
        return None
    file, line = ending.about
    return Annotation(
        path=posixpath.normpath(posixpath.join(context.adapter_path, file)),
        line=line,
        message=ending.sentence,
        title=CONCLUSIONS[ending.conclusion].words,
    )


def left_open(step: "Runner") -> list[OpenCheck]:
    """The checks that a killed main step could not close, as its post step sees it."""
    fields = [] if step.state(_CLOSED) else step.state(_OPENED).split()
    return [
        OpenCheck(repository=repository, id=int(number), url=url)
        for repository, number, url in zip(fields[::3], fields[1::3], fields[2::3], strict=True)
    ]


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
        # GitHub shows 140 characters, of which the commit is to be one part.
        words = f"{title(result, 90)} · {self._parts.identity(result).line}"
        self._set(CONCLUSIONS[outcome(result).conclusion].status, words, published)
        return published

    def _set(self, state: StatusState, description: str, published: Published) -> None:
        parts, context = self._parts, self._parts.context
        if context.own_adapter:
            no_check = any(failure.sink == "check" for failure in published.failures)
            self._set_at(context.repository, context.commit, state, description, no_check=no_check)
        else:
            with parts.where_the_token_may():
                repository, no_check = context.adapter_repository, published.links.get(ELSEWHERE) == ""
                self._set_at(repository, context.adapter_commit, state, description, no_check=no_check)

    def _set_at(self, repository: str, commit: str, state: StatusState, description: str, *, no_check: bool) -> None:
        if commit and (self.inputs.status == "true" or (self.inputs.status == "auto" and no_check)):
            self._parts.github.commit_status(
                repository,
                commit,
                state=state,
                context=self._parts.title,
                description=description,
                target_url=self._parts.context.run_url,
            )
