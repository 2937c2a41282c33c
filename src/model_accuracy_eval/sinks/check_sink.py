"""The check run of the commit: opened before anything else, and closed with the verdict.

And the status of the commit, by default only where a check cannot be opened. A verdict on a commit of another
repository goes there, where the token may write it; here a check that is no verdict names that commit.
"""

import contextlib
import itertools
import posixpath
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec.structs import replace

from model_accuracy_eval.ports import Published, Store
from model_accuracy_eval.records import Outcome, Record, Report
from model_accuracy_eval.records.report import ActionContext, Annotation, OpenCheck, StatusState, is_same, is_verdict
from model_accuracy_eval.report import comment, markdown
from model_accuracy_eval.report.endings import CONCLUSIONS, outcome, title
from model_accuracy_eval.settings import about
from model_accuracy_eval.sinks.publisher import ActionSink, SinkParts

if TYPE_CHECKING:
    from model_accuracy_eval.github.api import GitHubRest
    from model_accuracy_eval.github.checks import Keys
    from model_accuracy_eval.github.runner import Runner

ELSEWHERE = "check elsewhere"
"""The link to a check in the adapter's own repository, where that is another one; empty: it could not be opened."""
_OPENED, _CLOSED = "check", "check_closed"
"""What the post step reads to see whether checks were left open."""


class CheckInputs(Record, frozen=True, kw_only=True):
    check: Annotated[bool, about("Whether to create a check run for the commit.")] = True


class CheckSink(ActionSink[CheckInputs]):
    """Implements `ports.LiveSink`. Without `begin`, or when GitHub refuses the check, it publishes nothing."""

    name = "check"

    def __init__(self, parts: SinkParts, inputs: CheckInputs) -> None:
        super().__init__(parts, inputs)
        self._checks: list[OpenCheck] = []

    def begin(self, published: Published) -> Published:
        context = self._parts.context
        if not self.inputs.check:
            return published
        if not context.own_adapter and context.adapter_commit:
            published = published.with_link(ELSEWHERE, "")
            with self._parts.where_the_token_may():
                published = self._open(context.adapter_repository, context.adapter_commit, ELSEWHERE, published)
        return self._open(context.repository, context.commit, self.name, published) if context.commit else published

    def _open(self, repository: str, commit: str, link: str, published: Published) -> Published:
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
        published = published.with_link(link, check.url)
        keys = self._parts.github.check_keys(repository, commit, self._parts.title)
        if not (objection := _objection(self._parts, commit, keys)):
            return published
        # What keeps its name is about something else, or will be told by the job that has it.
        self._parts.github.rename_check(check, f"{self._parts.title}, not started")
        return replace(published, objections=tuple(dict.fromkeys((*published.objections, objection))))

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
        for check in () if self._parts.since_stop() else self._checks:
            own = is_same(check.repository, context.repository)
            with contextlib.nullcontext() if own else self._parts.where_the_token_may():
                self._give_up_name(check, context.commit if own else context.adapter_commit)
        return published

    def _give_up_name(self, check: OpenCheck, commit: str) -> None:
        github, name = self._parts.github, self._parts.title
        if _is_superseded(self._parts.context, github.check_keys(check.repository, commit, name)):
            github.rename_check(check, f"{name}, superseded")

    def _complete(self, check: OpenCheck, text: comment.CheckText, ending: Outcome) -> None:
        self._parts.github.complete_check(
            check,
            conclusion=text.conclusion,
            title=text.title,
            summary=text.summary,
            annotation=_annotation(self._parts.context, check, ending),
            details_url=self._parts.context.run_url,
        )


def _objection(parts: SinkParts, commit: str, keys: "Keys") -> str:
    """Why this run may have no check or status of its name on this commit, of those that were there before its own. One
    without a verdict, such as that of a run that was refused, keeps nobody from theirs."""
    title, context = parts.title, parts.context
    for key, conclusion in itertools.takewhile(lambda each: each[0] != context.key, keys):
        run, subject, *_ = [*key.split(), "", ""]
        if run == context.run and conclusion in {None, "success", "failure"}:
            return (
                f"Another job of this workflow run has the check '{title}': jobs that evaluate different things "
                "need different labels (label), and to evaluate one thing twice says nothing more."
            )
        if subject != context.identity.subject and conclusion in {"success", "failure"}:
            return (
                f"The check '{title}' of {commit[:12]} is about another model, and this run is about "
                f"{context.identity.line}: give it a label of its own (label)."
            )
    return ""


def _is_superseded(context: ActionContext, keys: "Keys") -> bool:
    """Whether another run has begun under the same name after this one: what ends last is not what is newest. The
    numbers of runs do not tell, since an old one can be run again."""
    later = itertools.dropwhile(lambda each: each[0] != context.key, keys)
    return any(key.partition(" ")[0] not in {"", context.run} for key, _ in later)


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


class StatusSink(ActionSink[StatusInputs]):
    """Implements `ports.LiveSink`."""

    name = "status"

    def begin(self, published: Published) -> Published:
        objection = self._set("pending", "The evaluation is under way.", published)
        return replace(published, objections=tuple(dict.fromkeys(filter(None, (*published.objections, objection)))))

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        # GitHub shows 140 characters, of which the commit is to be one part.
        words = f"{title(result, 90)} · {self._parts.identity(result).line}"
        self._set(CONCLUSIONS[outcome(result).conclusion].status, words, published)
        return published

    def _set(self, state: StatusState, description: str, published: Published) -> str:
        """Returns why it may not be set."""
        parts, context = self._parts, self._parts.context
        if context.own_adapter:
            no_check = any(failure.sink == "check" for failure in published.failures)
            return self._set_at(context.repository, context.commit, state, description, no_check=no_check)
        with parts.where_the_token_may():
            repository, no_check = context.adapter_repository, published.links.get(ELSEWHERE) == ""
            return self._set_at(repository, context.adapter_commit, state, description, no_check=no_check)
        return ""

    def _set_at(self, repository: str, commit: str, state: StatusState, description: str, *, no_check: bool) -> str:
        if not commit or not (self.inputs.status == "true" or (self.inputs.status == "auto" and no_check)):
            return ""
        github, context, name = self._parts.github, self._parts.context, self._parts.title
        keys = github.status_keys(repository, commit, name)
        if (objection := _objection(self._parts, commit, keys)) or _is_superseded(context, keys):
            return objection
        github.commit_status(
            repository,
            commit,
            state=state,
            context=name,
            key=context.key,
            description=description,
            target_url=context.run_url,
        )
        # Of two jobs that begin together, both have seen nothing.
        return (
            _objection(self._parts, commit, github.status_keys(repository, commit, name)) if state == "pending" else ""
        )
