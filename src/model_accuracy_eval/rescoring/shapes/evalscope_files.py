"""What EvalScope 1.x keeps: predictions, and reviews, which have the right answers and the scores."""

from collections.abc import Iterator

from msgspec.structs import replace

from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.chat_messages import content, last_question
from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow, as_share
from model_accuracy_eval.rescoring.shapes.row_samples import NO_REPLY
from model_accuracy_eval.rescoring.shapes.shape import Shape

_SCORE = "sample_score.score"


def _prediction(row: ReplyRow, _: ReplyRow) -> Iterator[SavedReply]:
    reply = SavedReply(problem=row.identifier("index"), question=last_question(row, "messages"))
    if row.get("model_output.error"):
        yield replace(reply, failure=row.plain_texts("model_output.error")[0])
        return
    text, reasoning = content(row, "model_output.choices.0.message.content")
    if text is None:
        yield replace(reply, failure=NO_REPLY)
        return
    stop = row.text("model_output.choices.0.stop_reason") or None
    yield replace(reply, text=text, reasoning=reasoning, finish_reason="length" if stop == "max_tokens" else stop)


def _review(row: ReplyRow, _: ReplyRow) -> Iterator[SavedReply]:
    """Samples of one problem share its group."""
    group = "sample_score.group_id"
    values = row.get(f"{_SCORE}.value")
    shares = {str(name): as_share(value) for name, value in values.items()} if isinstance(values, dict) else {}
    reply = SavedReply(
        problem=row.identifier(group if row.get(group) is not None else "index"),
        question=last_question(row, "messages"),
        gold=row.plain_texts("target"),
        claimed={name: share for name, share in shares.items() if share is not None},
    )
    if row.get(f"{_SCORE}.prediction") is None:
        yield replace(reply, failure=NO_REPLY)
        return
    answer = row.get(f"{_SCORE}.extracted_prediction")
    text = row.text(f"{_SCORE}.prediction")
    yield replace(reply, text=text, answer=answer if isinstance(answer, str) else None)


SHAPES = (
    Shape(
        name="EvalScope's predictions",
        tools="EvalScope",
        file="`predictions/<model>/<dataset>.jsonl`",
        needs=("index", "model_output", "messages"),
        replies=_prediction,
        gives="question, errors",
    ),
    Shape(
        name="EvalScope's reviews",
        tools="EvalScope",
        file="`reviews/<model>/<dataset>.jsonl`",
        needs=("index", "target", "sample_score"),
        replies=_review,
        gives="question, right answer; each score is a claim",
    ),
)
