"""The message and the status in the body of an error, from the many places where servers put them."""

import json

import msgspec

from model_accuracy_eval.client import dialects
from model_accuracy_eval.records.exchange import DOES_NOT_FIT
from model_accuracy_eval.system.retry import Failure, http_failure

_EXCERPT = 300
_UNAVAILABLE = 503


def read_error(body: bytes) -> tuple[str, int | None]:
    """The server's message and HTTP status, wherever it put them; without a message, an excerpt of the body."""
    try:
        tree = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        tree = None
    error = tree.get("error") if isinstance(tree, dict) and tree.get("error") else tree
    message = _message(error)
    if message is None:
        message = body.decode("utf-8", "replace")
    return excerpt(message), _status(error)


def error_failure(status: int, sentence: str, retry_after: float | None = None) -> Failure:
    """What an error of the service means; a request that is too long is rejected, whatever the status."""
    if any(words in sentence for words in dialects.TOO_LONG):
        return Failure(kind="rejected", sentence=f"{DOES_NOT_FIT}: {sentence}", status=status, transient=False)
    failure = http_failure(status, sentence, retry_after)
    if status == _UNAVAILABLE and any(words in sentence for words in dialects.LOADING):
        # As if nobody listened yet: it takes as long as a start takes, and not a number of tries.
        return msgspec.structs.replace(failure, kind="refused", retry_after=None)
    return failure


def _message(error: object) -> str | None:
    if isinstance(error, str):
        return error
    if not isinstance(error, dict):
        return None
    for name in dialects.ERROR_MESSAGE_FIELDS:
        value = error.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            return "; ".join(_validation_error(item) for item in value)
        if isinstance(value, dict) and value:
            return _message(value) or json.dumps(value, ensure_ascii=False)
    return None


def _validation_error(item: object) -> str:
    """One entry of FastAPI's list of validation errors, as `body.messages: Field required`."""
    if isinstance(item, dict) and "msg" in item:
        location = item.get("loc")
        path = ".".join(str(name) for name in location) if isinstance(location, list) else ""
        return f"{path}: {item['msg']}" if path else str(item["msg"])
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)


def _status(error: object) -> int | None:
    """The HTTP status inside an error object; servers also put codes of their own there, which are ignored."""
    if not isinstance(error, dict):
        return None
    for name in dialects.ERROR_STATUS_FIELDS:
        code = error.get(name)
        if isinstance(code, (int, str)) and str(code).isdecimal() and 400 <= int(code) < 600:
            return int(code)
    return None


def excerpt(text: str, length: int = _EXCERPT) -> str:
    """One line of text, cut to a length that fits into a sentence."""
    text = " ".join(text[: 8 * length].split())
    return text if len(text) <= length else f"{text[: length - 1]}…"
