"""The sinks on GitHub: the check run, the comment on the pull request, and the status of the commit."""

import posixpath

from model_accuracy_eval.errors import PublishFailed, Refused
from model_accuracy_eval.ports import Store
from model_accuracy_eval.ports.action_ports import ActionContext, CheckUpdater, GitHubApi, RunnerStep
from model_accuracy_eval.ports.service import Published
from model_accuracy_eval.records import Outcome, Report
from model_accuracy_eval.records.github import Annotation, OpenCheck, StatusState
from model_accuracy_eval.report import comment, comment_figures
from model_accuracy_eval.report.endings import CONCLUSIONS, outcome, title

_NAME = "Model accuracy"
STATE_CHECK, STATE_CLOSED = "check", "check_closed"
"""What the post step reads to see whether a check was left open."""


def page_links(context: ActionContext, published: Published) -> comment.Links:
    """The links at the end of a comment, a check and a summary."""
    links = published.links
    return comment.Links(artifact=links.get("artifact", ""), check=links.get("check", ""), run=context.run_url)


class CheckSink:
    """Implements `ports.sink.LiveSink`. Without `begin`, or when GitHub refuses the check, it publishes nothing."""

    name = "check"

    def __init__(self, context: ActionContext, github: GitHubApi, step: RunnerStep, updater: CheckUpdater) -> None:
        self._context = context
        self._github = github
        self._step = step
        self._updater = updater
        self._check: OpenCheck | None = None
        self._updates_ended = True

    def begin(self, published: Published) -> Published:
        context = self._context
        if not context.check or not context.commit:
            return published
        self._check = self._github.open_check(
            context.repository,
            context.commit,
            name=f"{_NAME} ({context.label})",
            key=context.key,
            title="In progress",
            summary="The evaluation is under way.",
            details_url=context.run_url,
        )
        self._step.save(STATE_CHECK, f"{self._check.repository} {self._check.id} {self._check.url}")
        self._updater.start(self._check)
        return published.with_link(self.name, self._check.url)

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        self._updates_ended = self._updater.stop()
        if self._check is None:
            return published
        self._complete(self._check, result, published, _annotation(self._context, outcome(result)))
        self._step.save(STATE_CLOSED, "yes")
        return published

    def publish_again(self, result: Report | Outcome, published: Published) -> None:
        """Repeats the verdict if GitHub was still busy with a progress update, which may have overwritten it."""
        if self._check is not None and not self._updates_ended:
            self._complete(self._check, result, published, None)

    def _complete(
        self, check: OpenCheck, result: Report | Outcome, published: Published, annotation: Annotation | None
    ) -> None:
        text = comment.as_check(result, commit=self._context.commit, links=page_links(self._context, published))
        self._github.complete_check(
            check,
            conclusion=text.conclusion,
            title=text.title,
            summary=text.summary,
            annotation=annotation,
            details_url=self._context.run_url,
        )


class CheckConfirmation:
    """Implements `ports.sink.Sink`: gives the check its verdict again, some time later, where that is needed."""

    name = "check"

    def __init__(self, check: CheckSink) -> None:
        self._check = check

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        self._check.publish_again(result, published)
        return published


class CommentSink:
    """Implements `ports.sink.Sink`: one comment on the pull request, which later runs edit."""

    name = "comment"

    def __init__(self, context: ActionContext, github: GitHubApi) -> None:
        self._context = context
        self._github = github

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        context = self._context
        if not context.comment or context.pull is None:
            return published
        key = comment_figures.key_of(context.label, context.adapter_repository)
        links = page_links(context, published)
        previous = ""

        head = self._head(context.pull.number)

        def write(text: str) -> str:
            nonlocal previous
            previous = text
            return comment.as_comment(
                result, key=key, commit=context.commit, head=head, links=links, before=comment_figures.read(text)
            )

        # The marker without figures stays the same from run to run.
        marker = comment_figures.marker(key, None)
        try:
            address = self._github.upsert_comment(context.repository, context.pull.number, marker, write)
        except (PublishFailed, Refused) as failure:
            published = published.with_failures(self.name, failure.sentence)
        else:
            published = published.with_link(self.name, address)
        return published.with_previous_comment(previous)

    def _head(self, number: int) -> str | None:
        """None if GitHub does not say; the comment is worth writing all the same."""
        try:
            return self._github.head(self._context.repository, number)
        except (PublishFailed, Refused):
            return None


class StatusSink:
    """Implements `ports.sink.LiveSink`: the status of the commit, by default only where a check cannot be opened."""

    name = "status"

    def __init__(self, context: ActionContext, github: GitHubApi) -> None:
        self._context = context
        self._github = github

    def begin(self, published: Published) -> Published:
        self._set("pending", "The evaluation is under way.", published)
        return published

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        self._set(CONCLUSIONS[outcome(result).conclusion].status, title(result, 140), published)
        return published

    def _set(self, state: StatusState, description: str, published: Published) -> None:
        context = self._context
        no_check = context.check and "check" not in published.links
        if not context.commit:
            return
        if context.status == "true" or (context.status == "auto" and no_check):
            self._github.commit_status(
                context.repository,
                context.commit,
                state=state,
                context=f"{_NAME} ({context.label})",
                description=description,
                target_url=context.run_url,
            )


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
