"""Tools that a model may use while it answers."""

from typing import Literal

from model_accuracy_eval.records.base import Record

ToolName = Literal["calculator"]


class ToolCall(Record, frozen=True, kw_only=True):
    """A tool that the model wants used. The arguments are its own words, which ought to be a JSON object."""

    id: str
    name: str
    arguments: str


class ToolUse(Record, frozen=True, kw_only=True):
    """A call, and what the tool said to it."""

    call: ToolCall
    result: str


class ToolRound(Record, frozen=True, kw_only=True):
    """A reply that called tools instead of answering, and what came of its calls."""

    text: str = ""
    reasoning: str = ""
    uses: tuple[ToolUse, ...]
