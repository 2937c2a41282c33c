"""What EvalScope 1.x and inspect keep, with messages in the form of OpenAI's interface."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.reply_row import NO_REPLY, ReplyRow, Shape, as_share

_TEXT_PARTS = {"text", "output_text"}


def content(row: ReplyRow, path: str) -> tuple[str | None, str]:
    """The text of a message's content, and the reasoning in it. The content is a text, or a list of parts."""
    value = row.get(path)
    if value is None or isinstance(value, str):
        return value, ""
    if not isinstance(value, list):
        raise row.wrong(path, "is neither a text nor a list of parts")
    parts = [part if isinstance(part, dict) else {"type": "text", "text": part} for part in value]
    texts = _joined(part.get("text") for part in parts if part.get("type") in _TEXT_PARTS)
    reasoning = _joined(part.get("reasoning") or part.get("thinking") for part in parts)
    return texts, reasoning


def _joined(texts: Iterable[object]) -> str:
    return "\n".join(text for text in texts if isinstance(text, str))


def last_question(row: ReplyRow, path: str) -> str:
    """The last text of the user; the whole where it is no conversation. OpenCompass calls the user HUMAN."""
    value = row.get(path)
    if not isinstance(value, list):
        return value if isinstance(value, str) else ""
    turns = [ReplyRow(turn, row.where) for turn in value if isinstance(turn, dict)]
    asked = [turn for turn in turns if turn.get("role") in ("HUMAN", "user")] or turns
    return (content(asked[-1], "prompt|content")[0] or "") if asked else ""


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
    # As EvalScope has it: without a name, the first value is the main one.
    main = row.text(f"{_SCORE}.main_score_name") or next(iter(shares), "")
    reply = SavedReply(
        problem=row.identifier(group if row.get(group) is not None else "index"),
        question=last_question(row, "messages|input"),
        gold=tuple(filter(None, row.plain_texts("target"))),
        main=main,
        claimed={name: share for name, share in shares.items() if share is not None},
    )
    if row.get(f"{_SCORE}.prediction") is None:
        yield replace(reply, failure=NO_REPLY)
        return
    answer = row.get(f"{_SCORE}.extracted_prediction")
    text = row.text(f"{_SCORE}.prediction")
    yield replace(reply, text=text, answer=answer if isinstance(answer, str) else None)


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
        claimed=(claimed := dict(_claims(row))),
        main=next(iter(claimed)) if len(claimed) == 1 else "",
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
