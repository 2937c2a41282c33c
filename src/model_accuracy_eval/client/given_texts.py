"""Log-likelihoods of given texts, by the log-probabilities of their tokens."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

import msgspec

from model_accuracy_eval.client import prompt_logprobs
from model_accuracy_eval.client.dialects import BEGINNING_TOKENS, PromptLogprobsMethod
from model_accuracy_eval.client.prompt_logprobs import (
    SAMPLE,
    PromptReader,
    PromptTokens,
    Token,
    Tokenizer,
    sum_logprobs,
)
from model_accuracy_eval.client.service_client import ServiceClient
from model_accuracy_eval.records import Candidate, Fault, Loglikelihood, LoglikelihoodRequest, Reply
from model_accuracy_eval.records.exchange import DOES_NOT_FIT

EndingLoglikelihoods = list[Loglikelihood | Fault]


class GivenTextsClient:
    """Implements `ports.LoglikelihoodClient` by `echo` or `prompt_logprobs`."""

    def __init__(
        self, client: ServiceClient, method: PromptLogprobsMethod, endings: "EndingsByIds | EndingsByText"
    ) -> None:
        self._client = client
        self._endings = endings
        self.method: PromptLogprobsMethod = method
        self.findings: tuple[str, ...] = ()

    async def loglikelihood(self, request: LoglikelihoodRequest) -> Reply:
        """Requests all candidates at once. If one of them fails, the reply is a fault."""
        reply_id = self._client.next_id()
        results = await self._loglikelihoods(request)
        fault = first_fault(results)
        if fault is not None:
            return Reply(id=reply_id, fault=fault)
        loglikelihoods = tuple(result for result in results if not isinstance(result, Fault))
        return Reply(id=reply_id, loglikelihoods=loglikelihoods)

    async def _loglikelihoods(self, request: LoglikelihoodRequest) -> EndingLoglikelihoods:
        if request.rolling:
            return [await self._endings.full_text(candidate.continuation) for candidate in request.candidates]
        if request.boundary == "context":
            return await self._endings.after_context(request.candidates)
        options, bare = request.candidates[: request.options], request.candidates[request.options :]
        results = await self._endings.distinct_parts(options)
        return results + (await self._endings.distinct_parts(bare) if bare else [])


def first_fault(results: Sequence[object]) -> Fault | None:
    return next((result for result in results if isinstance(result, Fault)), None)


# The two ways to locate endings: in token ids of the service's tokenizer, and without it in the texts of tokens.
#
# Each finds log-likelihoods of three kinds: `after_context`, of the text that follows each candidate's context; of
# `distinct_parts`, which the other candidates do not share; of a `full_text`, its first token included. Results have an
# entry for each candidate, or hold a fault.


_NO_BEGINNING = Fault(kind="rejected", sentence="No token is known that can stand before the beginning of a text.")


class EndingsByIds:
    """The ids that are sent are those in which the boundary was found."""

    def __init__(self, reader: PromptReader, tokenizer: Tokenizer, context_length: int | None) -> None:
        self._reader = reader
        self._tokenizer = tokenizer
        self._context_length = context_length

    async def after_context(self, candidates: Sequence[Candidate]) -> EndingLoglikelihoods:
        pairs = [prompt_logprobs.move_blanks(candidate) for candidate in candidates]
        ids = await self._encode(text for context, ending in pairs for text in (context, context + ending))
        if isinstance(ids, Fault):
            return [ids]
        spans = [(ids[context + ending], ids[context]) for context, ending in pairs]
        return await self._score_all(
            [(tokens, prompt_logprobs.common_prefix([context, tokens])) for tokens, context in spans]
        )

    async def distinct_parts(self, candidates: Sequence[Candidate]) -> EndingLoglikelihoods:
        texts = [candidate.context + candidate.continuation for candidate in candidates]
        ids = await self._encode(texts)
        if isinstance(ids, Fault):
            return [ids]
        return await self._score_all(prompt_logprobs.distinct_parts(candidates, [ids[text] for text in texts], key=int))

    async def full_text(self, text: str) -> Loglikelihood | Fault:
        """Sent in windows that fit into the context length."""
        encoded = await self._encode(["", text])
        prompt = encoded if isinstance(encoded, Fault) else await self._with_beginning(encoded[text], len(encoded[""]))
        if isinstance(prompt, Fault):
            return prompt
        ids, _ = prompt
        windows = prompt_logprobs.token_windows(len(ids), self._longest_prompt() or len(ids))
        answers = await asyncio.gather(*(self._reader.read_ids(ids[window.start : window.end]) for window in windows))
        tokens: list[Token] = []
        for window, answer in zip(windows, answers, strict=True):
            if isinstance(answer, Fault):
                return answer
            tokens += answer[window.begin - window.start :]
        return sum_logprobs(tokens)

    async def _score_all(self, spans: Sequence[tuple[list[int], int]]) -> EndingLoglikelihoods:
        return list(await asyncio.gather(*(self._score(ids, begin) for ids, begin in spans)))

    async def _score(self, ids: list[int], begin: int) -> Loglikelihood | Fault:
        """A prompt that is too long loses its beginning, but never a part of its ending."""
        prompt = await self._with_beginning(ids, begin)
        if isinstance(prompt, Fault):
            return prompt
        ids, begin = prompt
        longest = self._longest_prompt()
        excess = max(0, len(ids) - longest) if longest else 0
        if excess >= begin:
            sentence = (
                f"{DOES_NOT_FIT}: an ending has {len(ids) - begin} tokens, but the model reads at most {longest}."
            )
            return Fault(kind="rejected", sentence=sentence)
        tokens = await self._reader.read_ids(ids[excess:])
        result = tokens if isinstance(tokens, Fault) else sum_logprobs(tokens[begin - excess :])
        if excess and isinstance(result, Loglikelihood):
            return msgspec.structs.replace(result, cropped_to=longest)
        return result

    async def _with_beginning(self, ids: list[int], begin: int) -> tuple[list[int], int] | Fault:
        """With a token before the ending: services return no log-probability for the first token of a prompt."""
        if begin:
            return ids, begin
        beginning = await self._tokenizer.beginning()
        return _NO_BEGINNING if beginning is None else ([beginning, *ids], 1)

    def _longest_prompt(self) -> int | None:
        return self._context_length - max(1, self._reader.generated) if self._context_length else None

    async def _encode(self, texts: Iterable[str]) -> dict[str, list[int]] | Fault:
        unique = list(dict.fromkeys(texts))
        answers = await asyncio.gather(*(self._tokenizer.encode(text) for text in unique))
        encoded = {text: ids for text, ids in zip(unique, answers, strict=True) if not isinstance(ids, Fault)}
        return first_fault(answers) or encoded


class EndingsByText:
    """For services that have no tokenizer for us, or do not take token ids."""

    def __init__(self, reader: PromptReader) -> None:
        self._reader = reader
        self._beginning: str | None = None

    async def after_context(self, candidates: Sequence[Candidate]) -> EndingLoglikelihoods:
        pairs = [prompt_logprobs.move_blanks(candidate) for candidate in candidates]
        return list(await asyncio.gather(*(self._score(context, ending) for context, ending in pairs)))

    async def full_text(self, text: str) -> Loglikelihood | Fault:
        return await self._score("", text)

    async def distinct_parts(self, candidates: Sequence[Candidate]) -> EndingLoglikelihoods:
        spans = await self._spans(candidates, self._reader.read_text)
        if not isinstance(spans, Fault) and any(begin == 0 and tokens[0].logprob is None for tokens, begin in spans):
            spans = await self._spans(candidates, self._read_with_beginning)
        return [spans] if isinstance(spans, Fault) else [sum_logprobs(tokens[begin:]) for tokens, begin in spans]

    async def _spans(
        self, candidates: Sequence[Candidate], read: Callable[[str], Awaitable[PromptTokens | Fault]]
    ) -> list[tuple[list[Token], int]] | Fault:
        texts = [candidate.context + candidate.continuation for candidate in candidates]
        answers = await asyncio.gather(*(read(text) for text in texts))
        tokens = [answer[0] for answer in answers if not isinstance(answer, Fault)]
        return first_fault(answers) or prompt_logprobs.distinct_parts(candidates, tokens, key=lambda token: token.key)

    async def _score(self, context: str, ending: str) -> Loglikelihood | Fault:
        """Reads again with a beginning token if the log-probability of the text's first token is needed."""
        tokens = await self._ending_tokens(context, ending, with_beginning=not context)
        if context and not isinstance(tokens, Fault) and any(token.logprob is None for token in tokens):
            tokens = await self._ending_tokens(context, ending, with_beginning=True)
        return tokens if isinstance(tokens, Fault) else sum_logprobs(tokens)

    async def _ending_tokens(self, context: str, ending: str, *, with_beginning: bool) -> list[Token] | Fault:
        read = self._read_with_beginning if with_beginning else self._reader.read_text
        answer = await read(context + ending)
        if isinstance(answer, Fault):
            return answer
        tokens, span = answer
        if span is not None:
            added = len(self._beginning or "") if with_beginning else 0
            return tokens[prompt_logprobs.first_token_after(tokens, span, added + len(context)) :]
        if not context:
            return tokens[1:]
        # Characters are split over tokens. Then only the tokens of the context alone show which ones are its own.
        context_answer = await read(context)
        if isinstance(context_answer, Fault):
            return context_answer
        keys = [[token.key for token in sequence] for sequence in (context_answer[0], tokens)]
        return tokens[prompt_logprobs.common_prefix(keys) :]

    async def _read_with_beginning(self, text: str) -> PromptTokens | Fault:
        """Reads the text after a beginning token: one that the service adds, else one that is written before it."""
        if self._beginning is None:
            self._beginning = await self._find_beginning()
        return _NO_BEGINNING if self._beginning is None else await self._reader.read_text(self._beginning + text)

    async def _find_beginning(self) -> str | None:
        """The text of a beginning token; empty if the service adds one to every prompt."""
        answer = await self._reader.read_text(SAMPLE)
        if not isinstance(answer, Fault) and answer[1] is not None and answer[1].start:
            return ""
        for name in BEGINNING_TOKENS:
            answer = await self._reader.read_text(name + SAMPLE)
            if not isinstance(answer, Fault) and answer[1] is not None and answer[0][0].text == name:
                return name
        return None
