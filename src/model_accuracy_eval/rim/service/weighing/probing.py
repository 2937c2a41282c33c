"""Whether a service's word about given tokens can be taken, and how its tokens are counted."""

from typing import NamedTuple

from model_accuracy_eval.errors import AdapterFailed
from model_accuracy_eval.records import Fault
from model_accuracy_eval.rim.service.weighing.boundary import Extent, begin
from model_accuracy_eval.rim.service.weighing.by_ids import ByIds
from model_accuracy_eval.rim.service.weighing.by_text import ByText
from model_accuracy_eval.rim.service.weighing.calls import Calls
from model_accuracy_eval.rim.service.weighing.once import Once
from model_accuracy_eval.rim.service.weighing.reading import Reader, Way
from model_accuracy_eval.rim.service.weighing.texts import Method, TextScale
from model_accuracy_eval.rim.service.weighing.tokenizer import SAMPLE, lent
from model_accuracy_eval.rim.service.weighing.tokens import Token, echoed

_SAME = 0.5
"""How far two log-probabilities of one token may lie apart: half precision and batching make some hundredths."""
_MADE = 4
"""Tokens that the service makes for comparison."""


class _Made(NamedTuple):
    text: str
    tokens: list[Token]


class Prober:
    """Looks at the two ways that tell of given texts."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._made: _Made | Fault | None = None

    async def scale(self, way: Way) -> tuple[TextScale | None, str]:
        """The scale, and what is known of it; or None, and why not."""
        if self._made is None:
            self._made = await self._make()
        if isinstance(self._made, Fault):
            return None, f"the service completes no texts: {self._made.sentence}"
        objection = ""
        for made in (1, 0):  # some refuse to make nothing, some to make anything, and to some 0 means without end
            reader = Reader(self._calls, way, made)
            answer = await reader.text(SAMPLE + self._made.text)
            objection = told(answer) if isinstance(answer, Fault) else _objection(self._made, *answer)
            if not objection:
                method, finding = await self._method(reader)
                return TextScale(self._calls, way, Once(method)), finding
            if not (isinstance(answer, Fault) and answer.kind == "rejected"):
                break
        return None, objection

    async def _make(self) -> _Made | Fault:
        """A few tokens, and what the model thought of them as it made them."""
        reader = Reader(self._calls, "echo", _MADE)
        answer = await reader.complete(SAMPLE, {"logprobs": 1, "seed": 0}, _MADE)
        if isinstance(answer, Fault):
            told(answer)
            return answer
        choice, _ = answer
        # Half a character does not survive being sent back.
        return _Made(choice.text.partition("\ufffd")[0], echoed(choice.logprobs) if choice.logprobs else [])

    async def _method(self, reader: Reader) -> tuple[Method, str]:
        tokenizer = await lent(self._calls)
        if isinstance(tokenizer, Fault):
            return ByText(reader), f"endings are found by the texts of tokens, for /tokenize says: {told(tokenizer)}"
        ids = await tokenizer.encode(SAMPLE)
        by_ids = ids if isinstance(ids, Fault) else await reader.ids(ids)
        by_text = await reader.text(SAMPLE)
        if isinstance(by_ids, Fault):
            return ByText(reader), f"endings are found by the texts of tokens, for numbers fail: {told(by_ids)}"
        if isinstance(by_text, Fault) or not _agree(by_ids, by_text[0]):
            return ByText(reader), "endings are found by the texts of tokens, for their numbers mean other tokens."
        window = tokenizer.window or await self._calls.window()
        room = f"{window} at once" if window else "nobody says how many at once"
        return ByIds(reader, tokenizer, window), f"tokens are counted by the service's tokenizer, {room}."


def _objection(made: _Made, tokens: list[Token], found: Extent | None) -> str:
    """Why the word about these tokens cannot be taken; empty where nothing speaks against it."""
    silent = sum(token.logprob is None for token in tokens)
    if len(tokens) < 3 or silent > 1:
        return "nothing is told about the tokens of a given text."
    given = tokens[begin(tokens, found, len(SAMPLE)) :] if found else []
    for then, now in zip(made.tokens, given, strict=False):
        if then.text != now.text:
            break
        if then.logprob is not None and now.logprob is not None and abs(then.logprob - now.logprob) > _SAME:
            return (
                f"the log-probability of '{now.text}' is said to be {now.logprob:.2f}, but was {then.logprob:.2f} when "
                "the model made that token, so it is not that token's."
            )
    return ""


def _agree(one: list[Token], other: list[Token]) -> bool:
    pairs = [(first.logprob, second.logprob) for first, second in zip(one, other, strict=False)]
    same = all(
        first is second if first is None or second is None else abs(first - second) <= _SAME for first, second in pairs
    )
    return same and len(one) == len(other)


def told(fault: Fault | None) -> str:
    """What the service said against it; raises when nobody is there to say anything."""
    if fault is not None and fault.kind == "refused":
        raise AdapterFailed(f"The service is gone: {fault.sentence}", stage="infer")
    return fault.sentence if fault else ""
