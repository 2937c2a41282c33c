"""One row made neutral."""

from typing import Literal

from model_accuracy_eval.records.base import JSONObject, Record


class Message(Record, frozen=True, kw_only=True):
    """One turn of the conversation that is sent."""

    role: Literal["system", "user", "assistant"]
    content: str


class Candidate(Record, frozen=True, kw_only=True):
    """A text whose ending is weighed: how likely the model finds `continuation` after `context`."""

    context: str
    continuation: str


class Problem(Record, frozen=True, kw_only=True):
    """One row made neutral: all that asking and judging need, whatever file it came from."""

    id: int
    """Position of the row in its file, so that slices and limits never rename a problem."""
    messages: tuple[Message, ...]
    text: str = ""
    """The same as one text, where that is what is sent or weighed."""
    references: tuple[str, ...]
    choices: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    """One for every option; behind them, where a metric wants it, the same endings after nothing."""
    gold: tuple[int, ...] = ()
    """Positions of the right options."""
    category: str | None = None
    part: tuple[int, ...] = ()
    """Where its task stands among the parts, and among theirs; empty: it is the exam's own."""
    extras: JSONObject = {}

    @property
    def right(self) -> tuple[str, ...]:
        """The right answers as people read them: of weighed options their texts."""
        return tuple(self.choices[place] for place in self.gold if place in range(len(self.choices))) or self.references
