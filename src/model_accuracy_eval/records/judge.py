"""The nouns of asking another model for its opinion about an answer."""

from model_accuracy_eval.records import Message, Record


class Question(Record, frozen=True, kw_only=True):
    """What a judge is asked about one answer; it decodes greedily, so the same question has one opinion."""

    messages: tuple[Message, ...]
    max_tokens: int = 64


class Opinion(Record, frozen=True, kw_only=True):
    """What the judge said."""

    text: str
