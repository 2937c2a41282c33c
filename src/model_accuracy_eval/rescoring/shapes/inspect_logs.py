"""Logs of inspect: `.json`, and `.eval`, which is a zip archive with a file for each sample."""

from collections.abc import Iterator

from msgspec.structs import replace

from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.chat_messages import content, last_question
from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow, as_share
from model_accuracy_eval.rescoring.shapes.row_samples import NO_REPLY
from model_accuracy_eval.rescoring.shapes.shape import Shape

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partly correct, incorrect, no answer."""
_ATTACHMENT = "attachment://"


def _sample(row: ReplyRow, head: ReplyRow) -> Iterator[SavedReply]:
    epoch = row.count("epoch") or 1
    reply = SavedReply(
        problem=row.identifier("id"),
        index=epoch - 1,
        question=_attached(row, last_question(row, "input")),
        options=row.plain_texts("choices"),
        gold=row.plain_texts("target"),
        dataset=head.text("eval.task").rpartition("/")[2],
        claimed=dict(_claims(row)),
    )
    if row.get("error") is not None:
        yield replace(reply, failure=row.text("error.message") or "the log has an error without a message")
        return
    text, reasoning = content(row, "output.choices.0.message.content")
    text = row.text("output.completion") or None if text is None else text
    if text is None:
        yield replace(reply, failure=NO_REPLY)
        return
    stop = row.get("output.choices.0.stop_reason")
    yield replace(
        reply,
        text=_attached(row, text),
        reasoning=reasoning,
        finish_reason={"max_tokens": "length"}.get(str(stop), str(stop)) if stop else None,
    )


def _attached(row: ReplyRow, text: str) -> str:
    """Long texts are kept once, among the sample's attachments."""
    if not text.startswith(_ATTACHMENT):
        return text
    path = f"attachments.{text.removeprefix(_ATTACHMENT)}"
    if path not in row:
        raise row.wrong("attachments", f"lacks the text {text}")
    return row.text(path)


def _claims(row: ReplyRow) -> Iterator[tuple[str, float]]:
    scores = row.get("scores")
    for name in scores if isinstance(scores, dict) else ():
        value = row.get(f"scores.{name}.value")
        for metric, part in value.items() if isinstance(value, dict) else [(name, value)]:
            share = _LETTERS.get(part) if isinstance(part, str) else as_share(part)
            if share is not None:
                yield str(metric), share


SHAPES = (
    Shape(
        name="inspect's log",
        tools="inspect",
        file="`*.eval`, `*.json`",
        at="samples",
        needs=("id", "epoch", "input", "output"),
        replies=_sample,
        gives="task, question, options, right answer, epoch, errors; each score is a claim",
    ),
)
