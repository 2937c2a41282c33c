"""A prompt → its tokens with their log-probabilities, by `echo` or by vLLM's `prompt_logprobs`."""

from typing import Literal

from model_accuracy_eval.records import Fault, JSONObject
from model_accuracy_eval.rim.service.weighing.boundary import Extent, extent
from model_accuracy_eval.rim.service.weighing.calls import Calls
from model_accuracy_eval.rim.service.weighing.tokens import Choice, Completion, Token, considered, echoed

Way = Literal["echo", "prompt-logprobs"]
_ASKED: dict[Way, JSONObject] = {"echo": {"echo": True, "logprobs": 1}, "prompt-logprobs": {"prompt_logprobs": 1}}

Read = tuple[list[Token], Extent | None]
"""The prompt's tokens, and where among them its text is; None where their texts do not tell."""


class Reader:
    """`made`: how many tokens the service has to add to a prompt before it says anything about it."""

    def __init__(self, calls: Calls, way: Way, made: int) -> None:
        self._calls = calls
        self.way = way
        self.made = made

    async def text(self, prompt: str) -> Read | Fault:
        """The prompt as text; the service makes tokens of it."""
        answer = await self.complete(prompt, _ASKED[self.way], self.made)
        if isinstance(answer, Fault):
            return answer
        choice, made = answer
        if choice.prompt_logprobs is not None:
            return _with_first(considered(choice.prompt_logprobs, None), prompt)
        tokens = echoed(choice.logprobs) if choice.logprobs else []
        found = extent(tokens, prompt)
        return (tokens[: found.end] if found else tokens[: len(tokens) - made]), found

    async def ids(self, prompt: list[int]) -> list[Token] | Fault:
        """The prompt as numbers, one token each."""
        answer = await self.complete(prompt, _ASKED[self.way], self.made)
        if isinstance(answer, Fault):
            return answer
        choice, _ = answer
        if choice.prompt_logprobs is not None:
            tokens = considered(choice.prompt_logprobs, prompt)
        else:
            tokens = echoed(choice.logprobs) if choice.logprobs else []
        if len(tokens) < len(prompt):
            return Fault(
                kind="failed", sentence=f"The service was given {len(prompt)} tokens, but told of {len(tokens)}."
            )
        return tokens[: len(prompt)]

    async def complete(self, prompt: str | list[int], more: JSONObject, made: int) -> tuple[Choice, int] | Fault:
        """One completion, and how many tokens were made for it. Temperature 1 leaves probabilities as they are."""
        body = {"prompt": prompt, "max_tokens": made, "temperature": 1.0, **more}
        answer = await self._calls.post("completions", body, Completion)
        if isinstance(answer, Fault):
            return answer
        if not answer.choices:
            return Fault(kind="failed", sentence="The service's completion has no choices.")
        told = answer.usage.completion_tokens if answer.usage else None
        return answer.choices[0], min(made, made if told is None else told)


def _with_first(tokens: list[Token], prompt: str) -> Read:
    """As vLLM does not say what the first token is: what of the prompt the others leave over, or nothing of it."""
    others = "".join(token.text or "" for token in tokens[1:])
    if not others or not prompt.endswith(others):
        return tokens, None
    text = prompt[: len(prompt) - len(others)]
    return [tokens[0]._replace(text=text), *tokens[1:]], Extent(0 if text else 1, len(tokens))
