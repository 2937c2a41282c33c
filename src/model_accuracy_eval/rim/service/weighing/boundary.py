"""Where an ending begins, counted in tokens. A token that reaches across the boundary belongs to the ending."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from model_accuracy_eval.records import Candidate
from model_accuracy_eval.rim.service.weighing.tokens import Token

Keys = Sequence[int | str]
T = TypeVar("T")


def settled(candidate: Candidate) -> tuple[str, str]:
    """Context and ending; blanks at the context's end move over, for tokenizers glue them to the word behind them."""
    context = candidate.context.rstrip()
    return context, candidate.context[len(context) :] + candidate.continuation


def shared_start(several: Sequence[Keys]) -> int:
    """How many tokens all have in common at their beginning."""
    together = zip(*several, strict=False)
    return next((at for at, keys in enumerate(together) if len(set(keys)) > 1), min(map(len, several)))


def shared_end(several: Sequence[Keys]) -> int:
    """The same at their end."""
    return shared_start([keys[::-1] for keys in several])


def distinct(
    candidates: Sequence[Candidate], several: Sequence[list[T]], *, key: Callable[[T], int | str]
) -> list[tuple[list[T], int]]:
    """The tokens of each, and where among them begins what it does not share with the others.

    Of options behind one context that is what follows their common beginning; of one ending behind several contexts
    it is the ending itself, as far back as the tokens are the same.
    """
    keys = [[key(one) for one in tokens] for tokens in several]
    if len({candidate.context for candidate in candidates}) > 1:
        end = shared_end(keys)
        return [(tokens, len(tokens) - end) for tokens in several]
    start = shared_start(keys)
    return [(tokens, start) for tokens in several]


class Extent(NamedTuple):
    """Tokens of a prompt among those of an answer: the first that is text, and the first that is the answer's."""

    first: int
    end: int


def extent(tokens: Sequence[Token], prompt: str) -> Extent | None:
    """Where the tokens' texts make up the prompt, with or without a token for the beginning; None where they do not.

    They do not where a character is split over tokens: a part of one has no text.
    """
    for first in (0, 1):
        whole = ""
        for at in range(first, len(tokens)):
            whole += tokens[at].text or ""
            if not prompt.startswith(whole):
                break
            if len(whole) == len(prompt):
                return Extent(first, at + 1)
    return None


def begin(tokens: Sequence[Token], found: Extent, length: int) -> int:
    """The first token that reaches beyond so many characters of the prompt."""
    reached = 0
    for at in range(found.first, found.end):
        reached += len(tokens[at].text or "")
        if reached > length:
            return at
    return found.end


class Window(NamedTuple):
    """Tokens `start:end` are read at once, and those from `begin` on are weighed."""

    start: int
    begin: int
    end: int


def windows(count: int, size: int) -> list[Window]:
    """Every token behind the first weighed once, in windows of `size` tokens or fewer; the first only opens the text.

    As lm-eval has it: a full window knows one token of what went before, the last one as many as it has room for.
    """
    ends = [*range(size, count, size - 1), count]
    begins = [1, *ends[:-1]]
    return [Window(max(0, end - size), begin, end) for begin, end in zip(begins, ends, strict=True)]
