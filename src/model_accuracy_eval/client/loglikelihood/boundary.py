"""Where an ending begins among the tokens. A token that reaches across the boundary belongs to the ending."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from model_accuracy_eval.records import Candidate

TokenKeys = Sequence[int | str]
T = TypeVar("T")


class Token(NamedTuple):
    """One token of a prompt, as the service returns it."""

    key: int | str
    """Its token id if known, else its text: equal tokens have equal keys."""
    text: str | None
    logprob: float | None
    """None if the service does not return it, as for the first token."""
    greedy: bool | None
    """Whether no other token is more likely here; None if the service does not return that."""


def move_blanks(candidate: Candidate) -> tuple[str, str]:
    """Context and ending. Blanks at the context's end move to the ending: tokenizers join them with the next word."""
    context = candidate.context.rstrip()
    return context, candidate.context[len(context) :] + candidate.continuation


def common_prefix(sequences: Sequence[TokenKeys]) -> int:
    """How many tokens all sequences have in common at their beginning."""
    positions = enumerate(zip(*sequences, strict=False))
    return next((at for at, keys in positions if len(set(keys)) > 1), min(map(len, sequences)))


def common_suffix(sequences: Sequence[TokenKeys]) -> int:
    """How many tokens all sequences have in common at their end."""
    return common_prefix([keys[::-1] for keys in sequences])


def distinct_parts(
    candidates: Sequence[Candidate], sequences: Sequence[list[T]], *, key: Callable[[T], int | str]
) -> list[tuple[list[T], int]]:
    """The tokens of each candidate, and the first one to count.

    For options after one context, that is the first token they do not all share. For one ending after several contexts,
    it is the start of the ending, as far back as the tokens are the same.
    """
    keys = [[key(token) for token in tokens] for tokens in sequences]
    if len({candidate.context for candidate in candidates}) > 1:
        suffix = common_suffix(keys)
        return [(tokens, len(tokens) - suffix) for tokens in sequences]
    prefix = common_prefix(keys)
    return [(tokens, prefix) for tokens in sequences]


class TextSpan(NamedTuple):
    """The tokens `start:end` that make up a prompt's text."""

    start: int
    end: int


def locate_text(tokens: Sequence[Token], prompt: str) -> TextSpan | None:
    """Which tokens make up the prompt, with or without a beginning-of-text token before them.

    None if their texts do not add up to it, as where a character is split over several tokens.
    """
    for start in (0, 1):
        text = ""
        for at in range(start, len(tokens)):
            text += tokens[at].text or ""
            if not prompt.startswith(text):
                break
            if len(text) == len(prompt):
                return TextSpan(start, at + 1)
    return None


def first_token_after(tokens: Sequence[Token], span: TextSpan, length: int) -> int:
    """The first token that reaches beyond so many characters of the prompt."""
    characters = 0
    for at in range(span.start, span.end):
        characters += len(tokens[at].text or "")
        if characters > length:
            return at
    return span.end


class Window(NamedTuple):
    """Tokens `start:end` are sent in one request, and those from `begin` on count."""

    start: int
    begin: int
    end: int


def windows(count: int, size: int) -> list[Window]:
    """Windows of at most `size` tokens in which every token but the first counts once.

    As in lm-eval: a full window has one token of context, the last one as many as fit.
    """
    ends = [*range(size, count, size - 1), count]
    begins = [1, *ends[:-1]]
    return [Window(max(0, end - size), begin, end) for begin, end in zip(begins, ends, strict=True)]
