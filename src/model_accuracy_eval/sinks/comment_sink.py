"""One comment on the pull request, which all its jobs and runs edit."""

import time
from collections.abc import Sequence
from typing import Annotated

from msgspec.structs import replace

from model_accuracy_eval.errors import PublishFailed, Refused
from model_accuracy_eval.ports import Published, Store
from model_accuracy_eval.records import Outcome, Record, Report
from model_accuracy_eval.report import comment, comment_sections
from model_accuracy_eval.report.comment_sections import CommentSection
from model_accuracy_eval.report.endings import outcome, words
from model_accuracy_eval.settings import about
from model_accuracy_eval.sinks.publisher import ActionSink

_SKEW = 600.0
"""Seconds that clocks of two machines may differ by: who edits a comment could say that it is from tomorrow."""


class CommentInputs(Record, frozen=True, kw_only=True):
    comment: Annotated[bool, about("Whether to comment on the pull request; later runs update the comment.")] = True


class CommentSink(ActionSink[CommentInputs]):
    """Implements `ports.Sink`."""

    name = "comment"

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        context = self._parts.context
        if not self.inputs.comment or context.pull is None:
            return published
        identity = self._parts.identity(result)
        own = CommentSection(
            identity=identity,
            run=context.run,
            started=context.started,
            conclusion=outcome(result).conclusion,
            words=words(result),
            url=context.run_url,
            text=comment.as_comment(result, identity=identity, links=self._parts.links(published)).strip(),
        )
        order = self._commits(context.pull.number)

        def merge(bodies: Sequence[str]) -> str | None:
            told = [section for body in bodies for section in comment_sections.parse(body)]
            known = [each for each in told if each.started < time.time() + _SKEW]
            if len(bodies) == 1 and any(replace(each, text=own.text) == own for each in known):
                return None
            return comment_sections.merge([*known, own], order, context.repository)

        try:
            number = context.pull.number
            address = self._parts.github.upsert_comment(context.repository, number, comment_sections.MARKER, merge)
        except (PublishFailed, Refused) as failure:
            return published.with_failures(self.name, failure.sentence)
        return published.with_link(self.name, address)

    def _commits(self, number: int) -> list[str] | None:
        """None if GitHub does not say; the comment is worth writing all the same."""
        try:
            return self._parts.github.commits(self._parts.context.repository, number)
        except (PublishFailed, Refused):
            return None
