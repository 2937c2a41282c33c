"""A server that returns log-probabilities of a `HashModel`, in as many or as few ways as real servers do.

    with LikelihoodServer(style=VLLM) as server:
        ... server.url ... server.requests ... server.model (the oracle: `loglikelihood(ids, begin)`) ...

`/v1/completions` (echo, logprobs, prompt_logprobs; text, ids and lists of them), `/v1/chat/completions` (logprobs,
top_logprobs, streamed or not), `/tokenize`, `/v1/models`. `style` says what of it there is:

    VLLM              everything; text gets a beginning-of-text token
    VLLM_NO_BOS       the same with a tokenizer that adds none
    PROMPT_LOGPROBS   no echo
    LLAMA_CPP         echo only; the beginning token is not shown, the first logprob is null, ids and lists fail, and
                      max_tokens 0 means "no limit"
    LLAMA_CPP_NO_BOS  its bug besides: without a beginning token every logprob stands one place too far on
    TOP               top_logprobs on chat and nothing else; also: NOTHING

Any habit can be had by itself: `dataclasses.replace(VLLM, tokenize=None)`. `plan(number, request)` gives the status
that request number `number` fails with, or None. `answer(request)` is what chat says when nothing constrains it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from tests.servers.hash_model import HashModel
from tests.servers.http import Exchange, HttpServer

JSON = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Style:
    """What a server offers."""

    echo: bool = False
    prompt_logprobs: bool = False
    top_logprobs: int = 0
    """The most that chat tells; 0: none."""
    tokenize: Literal["prompt", "content"] | None = None
    """The field of `/tokenize` that holds the text: vLLM's, or llama.cpp's."""
    ids: bool = False
    bos: bool = True
    hidden_bos: bool = False
    shifted: bool = False
    unlimited_zero: bool = False
    completions: bool = True
    names: bool = True
    """Whether tokens are shown at all; without, only their numbers are known."""
    context: int | None = 512
    delay: float = 0.0
    """Seconds before every answer."""


VLLM = Style(echo=True, prompt_logprobs=True, top_logprobs=20, tokenize="prompt", ids=True)
VLLM_NO_BOS = Style(echo=True, prompt_logprobs=True, top_logprobs=20, tokenize="prompt", ids=True, bos=False)
PROMPT_LOGPROBS = Style(prompt_logprobs=True, tokenize="prompt", ids=True)
LLAMA_CPP = Style(echo=True, top_logprobs=5, hidden_bos=True, unlimited_zero=True, context=None)
LLAMA_CPP_NO_BOS = Style(echo=True, bos=False, shifted=True, unlimited_zero=True, context=None)
TOP = Style(top_logprobs=20, completions=False, context=None)
NOTHING = Style(completions=False, context=None)

_MANY = 24
"""Tokens that "no limit" makes."""


class LikelihoodServer(HttpServer):
    """See above."""

    def __init__(
        self,
        model: HashModel | None = None,
        *,
        style: Style = VLLM,
        plan: Callable[[int, JSON], int | None] | None = None,
        answer: Callable[[JSON], str] = lambda _: "The answer is B.",
    ) -> None:
        super().__init__(self._handle)
        self.model = model or HashModel()
        self.style = style
        self._plan = plan
        self._say = answer

    def __enter__(self) -> "LikelihoodServer":
        super().__enter__()
        return self

    async def _handle(self, exchange: Exchange) -> None:
        asked, path = exchange.json, exchange.path
        status = self._plan(exchange.number, asked) if self._plan else None
        await exchange.pause(self.style.delay)
        if status is not None:
            exchange.reply(status, {"error": {"message": f"trouble {status}", "code": status}})
        elif path == "/v1/models":
            card: JSON = {"id": "hash"} | ({"max_model_len": self.style.context} if self.style.context else {})
            exchange.reply(200, {"data": [card]})
        elif path == "/tokenize" and self.style.tokenize:
            self._tokenize(exchange, asked)
        elif path == "/v1/completions" and self.style.completions:
            self._complete(exchange, asked)
        elif path == "/v1/chat/completions":
            self._chat(exchange, asked)
        else:
            exchange.reply(404, {"detail": "Not Found"})

    def _tokenize(self, exchange: Exchange, asked: JSON) -> None:
        if self.style.tokenize not in asked:
            exchange.reply(400, {"error": {"message": f"missing {self.style.tokenize}", "code": 400}})
            return
        special = asked.get("add_special_tokens" if self.style.tokenize == "prompt" else "add_special", True)
        ids = self.model.vocabulary.encode(asked[self.style.tokenize], bos=self.style.bos and special)
        exchange.reply(200, {"tokens": ids, "count": len(ids), "max_model_len": self.style.context})

    # ── completions ──

    def _complete(self, exchange: Exchange, asked: JSON) -> None:
        prompt = asked["prompt"]
        several = isinstance(prompt, list) and bool(prompt) and not isinstance(prompt[0], int)
        prompts = prompt if several else [prompt]
        if not self.style.ids and not isinstance(prompt, str):
            exchange.reply(500, {"error": {"message": "a prompt must be a text", "code": 500}})
            return
        room = self.style.context or 1 << 30
        read = [self._ids(one) for one in prompts]
        if any(not ids or len(ids) + 1 > room for ids in read):
            self._reject(exchange, max(map(len, read)))
            return
        choices = [self._choice(index, ids, asked) for index, ids in enumerate(read)]
        exchange.reply(200, {"choices": choices, "usage": {"prompt_tokens": sum(map(len, read))}})

    def _reject(self, exchange: Exchange, count: int) -> None:
        """In vLLM's words."""
        message = (
            f"This model's maximum context length is {self.style.context} tokens. However, you requested 1 output "
            f"tokens and your prompt contains {count} input tokens. Please reduce the length of the input prompt."
        )
        exchange.reply(400, {"error": {"message": message, "type": "BadRequestError", "code": 400}})

    def _ids(self, prompt: Any) -> list[int]:
        if isinstance(prompt, list):
            return [int(token) for token in prompt]
        return self.model.vocabulary.encode(prompt, bos=self.style.bos)

    def _choice(self, index: int, ids: list[int], asked: JSON) -> JSON:
        limit = asked.get("max_tokens", 16)
        made = self.model.greedy(ids, _MANY if limit == 0 and self.style.unlimited_zero else limit)
        echo = bool(asked.get("echo")) and self.style.echo
        vocabulary, whole = self.model.vocabulary, ids + made
        shown = whole if echo else made
        text_at = next((at for at, token in enumerate(ids) if token != vocabulary.bos), 0)
        hidden = text_at if echo and self.style.hidden_bos else 0
        choice: JSON = {"index": index, "text": vocabulary.decode(shown), "finish_reason": "length"}
        if asked.get("logprobs") is not None:
            choice["logprobs"] = self._legacy(whole, len(whole) - len(shown) + hidden, null_first=echo)
        if asked.get("prompt_logprobs") is not None and self.style.prompt_logprobs:
            places = [self._by_id(ids, place) for place in range(1, len(ids))]
            choice["prompt_logprobs"] = [None, *places]
        return choice

    def _legacy(self, ids: list[int], begin: int, *, null_first: bool) -> JSON:
        """The `logprobs` of completions; its offsets count what is shown, as vLLM's do."""
        name, ahead = self.model.vocabulary.name, self.style.shifted and null_first
        tokens = [name(token) for token in ids[begin:]]
        offsets, rows = [0], [self.model.logprobs(ids[: place + ahead]) for place in range(begin, len(ids))]
        for token in tokens[:-1]:
            offsets.append(offsets[-1] + len(token))
        logprobs = [float(row[token]) for row, token in zip(rows, ids[begin:], strict=True)]
        best = [{name(int(row.argmax())): float(row.max())} for row in rows]
        tops = [top | {token: value} for top, token, value in zip(best, tokens, logprobs, strict=True)]
        first = [None] if null_first else []
        return {
            "tokens": tokens,
            "text_offset": offsets,
            "token_logprobs": [*first, *logprobs[len(first) :]],
            "top_logprobs": [*first, *tops[len(first) :]],
        }

    def _by_id(self, ids: list[int], place: int) -> JSON:
        row, token = self.model.logprobs(ids[:place]), ids[place]
        name = self.model.vocabulary.name
        return {
            str(one): {"logprob": float(row[one]), "rank": int((row >= row[one]).sum())}
            | ({"decoded_token": name(one)} if self.style.names else {})
            for one in dict.fromkeys((token, int(row.argmax())))
        }

    # ── chat ──

    def _chat(self, exchange: Exchange, asked: JSON) -> None:
        ids = self.prompt_of(asked["messages"])
        if self.style.context and len(ids) + 1 > self.style.context:
            self._reject(exchange, len(ids))
            return
        wanted = asked.get("top_logprobs", 0)
        if wanted > self.style.top_logprobs > 0:
            message = f"top_logprobs is {wanted}, but can be {self.style.top_logprobs} at most"
            exchange.reply(400, {"error": {"message": message, "code": 400}})
            return
        choice: JSON = {"index": 0, "finish_reason": "stop"}
        if asked.get("logprobs") and self.style.top_logprobs:
            choice["logprobs"] = {"content": [self._first_token(ids, wanted)]}
        text = self._say(asked)
        if not asked.get("stream"):
            exchange.reply(200, {"choices": [choice | {"message": {"role": "assistant", "content": text}}]})
            return
        exchange.head()
        exchange.send(b"data: " + msgspec.json.encode({"choices": [choice | {"delta": {"content": text}}]}) + b"\n\n")
        exchange.send(b"data: [DONE]\n\n")
        exchange.end()

    def prompt_of(self, messages: Sequence[JSON]) -> list[int]:
        """The chat template: the contents, one behind the other."""
        contents = [message["content"] for message in messages]
        texts = (one if isinstance(one, str) else "".join(part.get("text", "") for part in one) for one in contents)
        return self.model.vocabulary.encode("".join(texts), bos=self.style.bos)

    def _first_token(self, ids: list[int], count: int) -> JSON:
        row, name = self.model.logprobs(ids), self.model.vocabulary.name
        best = [{"token": name(int(one)), "logprob": float(row[one])} for one in row.argsort()[::-1][:count]]
        return {"token": best[0]["token"], "logprob": best[0]["logprob"], "top_logprobs": best}
