"""A prompt → its tokens with their log-probabilities, by `echo` or by vLLM's `prompt_logprobs`."""

from collections.abc import Callable, Sequence
from math import isnan
from typing import NamedTuple, TypeVar

import msgspec

from model_accuracy_eval.client.dialects import (
    BEGINNING_TOKENS,
    CONTEXT_LENGTH,
    LOWEST_LOGPROB,
    MAX_TOKENS,
    PROMPT_LOGPROBS,
    TOKENIZE,
    Completion,
    CompletionChoice,
    CompletionLogprobs,
    PositionLogprobs,
    PromptLogprobsMethod,
    TokenizeFields,
)
from model_accuracy_eval.client.service_client import ServiceClient
from model_accuracy_eval.records import Candidate, Fault, JSONObject, Loglikelihood, ScoredToken

T = TypeVar("T")

SAMPLE = "The capital of France is"


class _Tokenized(msgspec.Struct):
    tokens: list[int]
    context_length: int | None = msgspec.field(default=None, name=CONTEXT_LENGTH)


class Tokenizer:
    """The service's own tokenizer: text → token ids, as the service encodes the texts that it is sent."""

    def __init__(self, client: ServiceClient, fields: TokenizeFields, context_length: int | None) -> None:
        self._client = client
        self._fields = fields
        self.context_length = context_length
        self._beginning: int | None = None

    async def encode(self, text: str, *, special: bool = True) -> list[int] | Fault:
        """`special`: with a beginning-of-text token, if the model has one."""
        body = {self._fields.text: text, self._fields.special: special}
        return await self._tokens(body)

    async def encode_chat(self, messages: Sequence[JSONObject]) -> list[int] | Fault:
        """The prompt that the service makes of a conversation: vLLM takes one in place of a text."""
        return await self._tokens({"messages": [*messages], "add_generation_prompt": True})

    async def _tokens(self, body: JSONObject) -> list[int] | Fault:
        answer = await self._client.post_json("tokenize", body, _Tokenized)
        return answer if isinstance(answer, Fault) else answer.tokens

    async def beginning(self) -> int | None:
        """A token that can stand before a text, for models whose tokenizer adds none by itself."""
        for name in () if self._beginning is not None else BEGINNING_TOKENS:
            ids = await self.encode(name, special=False)
            if isinstance(ids, list) and len(ids) == 1:
                self._beginning = ids[0]
                break
        return self._beginning


async def find_tokenizer(client: ServiceClient) -> Tokenizer | Fault:
    """The tokenizer, by the first fields that the service accepts; else its answer to the last ones."""
    answer: _Tokenized | Fault = Fault(kind="failed", sentence="")
    for fields in TOKENIZE:
        answer = await client.post_json("tokenize", {fields.text: SAMPLE, fields.special: True}, _Tokenized)
        if not isinstance(answer, Fault) and answer.tokens:
            return Tokenizer(client, fields, answer.context_length)
    return answer if isinstance(answer, Fault) else Fault(kind="failed", sentence="It returned no tokens.")


# Where an ending begins among the tokens. A token that reaches across the boundary belongs to the ending.


TokenKeys = Sequence[int | str]


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


def distinct_parts(
    candidates: Sequence[Candidate], sequences: Sequence[list[T]], *, key: Callable[[T], int | str]
) -> list[tuple[list[T], int]]:
    """The tokens of each candidate, and the first one to count.

    For options after one context, that is the first token they do not all share. For one ending after several contexts,
    it is the start of the ending, as far back as the tokens are the same.
    """
    keys = [[key(token) for token in tokens] for tokens in sequences]
    if len({candidate.context for candidate in candidates}) > 1:
        suffix = common_prefix([one[::-1] for one in keys])
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


def token_windows(count: int, size: int) -> list[Window]:
    """Windows of at most `size` tokens in which every token but the first counts once.

    As in lm-eval: a full window has one token of context, the last one as many as fit.
    """
    ends = [*range(size, count, size - 1), count]
    begins = [1, *ends[:-1]]
    return [Window(max(0, end - size), begin, end) for begin, end in zip(begins, ends, strict=True)]


PromptTokens = tuple[list[Token], TextSpan | None]
"""The prompt's tokens, and which of them are its text; None if the texts of the tokens do not show that."""


class PromptReader:
    """Asks for a prompt's log-probabilities. `generated`: how many tokens the service has to generate beside that."""

    def __init__(self, client: ServiceClient, method: PromptLogprobsMethod, generated: int) -> None:
        self._client = client
        self._method = method
        self.generated = generated

    async def read_text(self, prompt: str) -> PromptTokens | Fault:
        """The tokens of a prompt that is sent as text."""
        answer = await self.complete(prompt, PROMPT_LOGPROBS[self._method], self.generated)
        if isinstance(answer, Fault):
            return answer
        choice, generated = answer
        if choice.prompt_logprobs is not None:
            return _with_first_text([position_token(one, None) for one in choice.prompt_logprobs], prompt)
        tokens = echo_tokens(choice.logprobs) if choice.logprobs else []
        span = locate_text(tokens, prompt)
        return (tokens[: span.end] if span else tokens[: len(tokens) - generated]), span

    async def read_ids(self, prompt: list[int]) -> list[Token] | Fault:
        """The tokens of a prompt that is sent as token ids, one for each id."""
        answer = await self.complete(prompt, PROMPT_LOGPROBS[self._method], self.generated)
        if isinstance(answer, Fault):
            return answer
        choice, _ = answer
        if choice.prompt_logprobs is not None:
            tokens = [position_token(*pair) for pair in zip(choice.prompt_logprobs, prompt, strict=False)]
        else:
            tokens = echo_tokens(choice.logprobs) if choice.logprobs else []
        if len(tokens) < len(prompt):
            sentence = f"The service was sent {len(prompt)} tokens, but returned {len(tokens)}."
            return Fault(kind="failed", sentence=sentence)
        return tokens[: len(prompt)]

    async def read_likeliest(self, prompt: list[int], begin: int, count: int) -> tuple[ScoredToken, ...] | Fault:
        """The tokens of a prompt from that place on, each with so many of the likeliest ones there."""
        fields = PROMPT_LOGPROBS[self._method]
        answer = await self.complete(prompt, {name: fields[name] is True or count for name in fields}, self.generated)
        if isinstance(answer, Fault):
            return answer
        choice, _ = answer
        if choice.prompt_logprobs is not None:
            positions = [*zip(choice.prompt_logprobs, prompt, strict=False)][begin:]
            found = [_scored(position, str(token_id)) for position, token_id in positions]
        else:
            told = choice.logprobs or CompletionLogprobs()
            rows = zip(told.tokens, told.token_logprobs, told.top_logprobs or [], strict=False)
            found = [
                ScoredToken(text, logprob, tuple((tops or {}).items())) if logprob is not None else None
                for text, logprob, tops in [*rows][begin : len(prompt)]
            ]
        known = tuple(token for token in found if token is not None)
        if len(known) < len(prompt) - begin:
            return Fault(kind="rejected", sentence="It tells no log-probabilities of a prompt's tokens.")
        return known

    async def complete(
        self, prompt: str | list[int], fields: JSONObject, generated: int
    ) -> tuple[CompletionChoice, int] | Fault:
        """One completion, and its number of generated tokens. Temperature 1 leaves the probabilities as they are."""
        body = {"prompt": prompt, MAX_TOKENS: generated, "temperature": 1.0, **fields}
        answer = await self._client.post_json("completions", body, Completion)
        if isinstance(answer, Fault):
            return answer
        if not answer.choices:
            return Fault(kind="failed", sentence="The service's completion has no choices.")
        count = answer.usage.completion_tokens if answer.usage else None
        return answer.choices[0], generated if count is None else min(generated, count)


def _with_first_text(tokens: list[Token], prompt: str) -> PromptTokens:
    """Adds the text of the first token, which vLLM leaves out: what the other tokens leave over of the prompt."""
    rest = "".join(token.text or "" for token in tokens[1:])
    if not rest or not prompt.endswith(rest):
        return tokens, None
    text = prompt[: len(prompt) - len(rest)]
    return [tokens[0]._replace(text=text), *tokens[1:]], TextSpan(0 if text else 1, len(tokens))


def echo_tokens(logprobs: CompletionLogprobs) -> list[Token]:
    """All tokens of the prompt, then all that were generated. Empty if the lists differ in length."""
    tops = logprobs.top_logprobs or [None] * len(logprobs.tokens)
    if not len(logprobs.tokens) == len(logprobs.token_logprobs) == len(tops):
        return []
    return [
        Token(text, text, _bounded(logprob), _is_greedy(logprob, list(top.values()) if top else []))
        for text, logprob, top in zip(logprobs.tokens, logprobs.token_logprobs, tops, strict=True)
    ]


def position_token(position: PositionLogprobs | None, token_id: int | None) -> Token:
    if not position:
        return Token(-1 if token_id is None else token_id, None, None, None)
    key = next(iter(position)) if token_id is None or str(token_id) not in position else str(token_id)
    entry = position[key]
    values = [other.logprob for other in position.values()]
    return Token(int(key), entry.decoded_token, _bounded(entry.logprob), _is_greedy(entry.logprob, values))


def _scored(position: PositionLogprobs | None, token_id: str) -> ScoredToken | None:
    if not position or token_id not in position:
        return None
    likeliest = tuple((entry.decoded_token or "", entry.logprob) for entry in position.values())
    return ScoredToken(position[token_id].decoded_token or "", position[token_id].logprob, likeliest)


def _is_greedy(logprob: float | None, values: Sequence[float]) -> bool | None:
    return logprob >= max(values) if values and logprob is not None else None


def _bounded(logprob: float | None) -> float | None:
    """NaN counts as a missing value, minus infinity as the lowest one."""
    return None if logprob is None or isnan(logprob) else max(logprob, LOWEST_LOGPROB)


def sum_logprobs(tokens: Sequence[Token]) -> Loglikelihood | Fault:
    """The log-likelihood of an ending; a fault if it is missing for one of its tokens."""
    logprobs = [token.logprob for token in tokens if token.logprob is not None]
    missing = len(tokens) - len(logprobs)
    if missing:
        sentence = f"The service returned no log-probability for {missing} of the {len(tokens)} tokens of an ending."
        return Fault(kind="rejected", sentence=sentence)
    greedy = [token.greedy for token in tokens]
    return Loglikelihood(logprob=sum(logprobs), tokens=len(tokens), greedy=None if None in greedy else all(greedy))
