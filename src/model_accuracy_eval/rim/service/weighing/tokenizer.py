"""The service's own tokenizer, where it lends it out: vLLM's `/tokenize`, or llama.cpp's."""

import msgspec

from model_accuracy_eval.records import Fault, JSONObject
from model_accuracy_eval.rim.service.weighing.calls import Calls

OPENINGS = (
    "<s>",
    "<|begin_of_text|>",
    "<bos>",
    "<|bos|>",
    "<|endoftext|>",
    "</s>",
    "<|im_end|>",
    "<|eot_id|>",
    "<eos>",
)
"""What tokens are called that a text may begin with: those for a beginning first, then those for an end."""
SAMPLE = "The capital of France is"
_DIALECTS = (("prompt", "add_special_tokens"), ("content", "add_special"))


class _Tokenized(msgspec.Struct):
    tokens: list[int]
    max_model_len: int | None = None


class Tokenizer:
    """Text → numbers, the way the service does it for texts that are sent to it."""

    def __init__(self, calls: Calls, dialect: tuple[str, str], window: int | None) -> None:
        self._calls = calls
        self._field, self._special = dialect
        self.window = window
        self._opening: int | None = None

    async def encode(self, text: str, *, special: bool = True) -> list[int] | Fault:
        """`special`: with the token for the beginning, if the service adds one."""
        body = {self._field: text, self._special: special}
        answer = await self._calls.post("tokenize", body, _Tokenized)
        return answer if isinstance(answer, Fault) else answer.tokens

    async def opening(self) -> int | None:
        """The token that stands in for nothing at all in front of a text, which the service adds to none by itself."""
        for name in () if self._opening is not None else OPENINGS:
            ids = await self.encode(name, special=False)
            if isinstance(ids, list) and len(ids) == 1:
                self._opening = ids[0]
                break
        return self._opening


async def lent(calls: Calls) -> Tokenizer | Fault:
    """The tokenizer in one of its dialects, or what the service said to the last of them."""
    answer: _Tokenized | Fault = Fault(kind="failed", sentence="")
    for dialect in _DIALECTS:
        body: JSONObject = {dialect[0]: SAMPLE, dialect[1]: True}
        answer = await calls.post("tokenize", body, _Tokenized)
        if not isinstance(answer, Fault) and answer.tokens:
            return Tokenizer(calls, dialect, answer.max_model_len)
    return answer if isinstance(answer, Fault) else Fault(kind="failed", sentence="It gave no tokens.")
