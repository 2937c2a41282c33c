"""One comment on the pull request, which later runs edit."""

from typing import Annotated

from model_accuracy_eval.errors import PublishFailed, Refused
from model_accuracy_eval.ports import Published, Store
from model_accuracy_eval.records import Outcome, Record, Report
from model_accuracy_eval.report import comment
from model_accuracy_eval.settings import about
from model_accuracy_eval.sinks.publisher import SinkParts


class CommentInputs(Record, frozen=True, kw_only=True):
    comment: Annotated[bool, about("Whether to comment on the pull request; later runs update the comment.")] = True


class CommentSink:
    """Implements `ports.Sink`."""

    name = "comment"

    def __init__(self, parts: SinkParts, inputs: CommentInputs) -> None:
        self._parts = parts
        self.inputs = inputs

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        context = self._parts.context
        if not self.inputs.comment or context.pull is None:
            return published
        marker = comment.marker(context.label, context.adapter_repository)
        head = self._head(context.pull.number)
        body = comment.as_comment(result, commit=context.commit, head=head, links=self._parts.links(published))
        try:
            address = self._parts.github.upsert_comment(context.repository, context.pull.number, marker, body)
        except (PublishFailed, Refused) as failure:
            return published.with_failures(self.name, failure.sentence)
        return published.with_link(self.name, address)

    def _head(self, number: int) -> str | None:
        """None if GitHub does not say; the comment is worth writing all the same."""
        try:
            return self._parts.github.head(self._parts.context.repository, number)
        except (PublishFailed, Refused):
            return None
