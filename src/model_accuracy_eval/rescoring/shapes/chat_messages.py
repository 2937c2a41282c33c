"""Messages in the form of OpenAI's interface, in which inspect and EvalScope keep replies."""

from collections.abc import Iterable

from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow

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
    """The last text of the user; the whole where it is no conversation."""
    value = row.get(path)
    if not isinstance(value, list):
        return value if isinstance(value, str) else ""
    asked = [message for message in row.objects(path) if message.get("role") == "user"]
    return (content(asked[-1], "content")[0] or "") if asked else ""
