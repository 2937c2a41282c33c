"""From the JSON of a request to the jobs it asks for. Fields that are not known are passed over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tinyserver.chat_reader import ChatReader
from tinyserver.fields import Fields
from tinyserver.http_errors import RequestError
from tinyserver.records import Asked, Job
from tinyserver.sampling import Sampling
from tinyserver.tokenizer import Tokenizer

MOST_CHOICES: Final = 128
MOST_LOGPROBS: Final = 20
LEGACY_MAX_TOKENS: Final = 16
"""What a completion may say if it names no limit: the API has it so."""


@dataclass(frozen=True)
class Served:
    """What there is to ask for."""

    name: str
    context: int
    tokenizer: Tokenizer
    chat: ChatReader


def read_chat(body: dict[str, Any], served: Served) -> Asked:
    """Read the body of `/v1/chat/completions`."""
    fields = _fields(body, served)
    top = fields.whole("top_logprobs", low=0, high=MOST_LOGPROBS)
    wanted = fields.flag("logprobs")
    if top is not None and not wanted:
        raise RequestError("top_logprobs needs logprobs to be true.", param="top_logprobs")
    prompt, pictures = served.chat.read(body.get("messages"))
    name = "max_completion_tokens" if fields.has("max_completion_tokens") else "max_tokens"
    job = Job(
        prompt=prompt,
        choices=_choices(fields),
        max_tokens=_room(prompt, fields.whole(name, low=1), served, name),
        sampling=_sampling(fields),
        stops=fields.texts("stop"),
        ends=not fields.flag("ignore_eos"),
        top=(top or 0) if wanted else None,
        pictures=pictures,
    )
    return _asked([job], fields)


def read_completion(body: dict[str, Any], served: Served) -> Asked:
    """Read the body of `/v1/completions`."""
    fields = _fields(body, served)
    echo, top = fields.flag("echo"), fields.whole("logprobs", low=0, high=MOST_LOGPROBS)
    asked = fields.whole("max_tokens", low=0 if echo else 1)
    asked = LEGACY_MAX_TOKENS if asked is None else asked
    sampling, stops, choices = _sampling(fields), fields.texts("stop"), _choices(fields)
    jobs = [
        Job(prompt, choices, _room(prompt, asked, served, "max_tokens"), sampling, stops, top, echo)
        for prompt in _prompts(body.get("prompt"), served.tokenizer)
    ]
    return _asked(jobs, fields)


def read_text(body: dict[str, Any], served: Served) -> tuple[int, ...]:
    """Read the body of `/tokenize`: the tokens of its text, to which this tokenizer adds none, or of its chat."""
    if _fields(body, served).has("messages"):
        return served.chat.read(body["messages"])[0]
    text = body.get("prompt")
    if not isinstance(text, str):
        raise RequestError("prompt must be a text.", param="prompt")
    return served.tokenizer.encode(text)


def _fields(body: dict[str, Any], served: Served) -> Fields:
    model = body.get("model")
    if model is not None and model != served.name:
        sentence = f"The model `{model}` does not exist: this server has `{served.name}`."
        raise RequestError(sentence, status=404, param="model")
    return Fields(body)


def _sampling(fields: Fields) -> Sampling:
    return Sampling(
        temperature=fields.number("temperature", 1.0, low=0.0),
        top_p=fields.number("top_p", 1.0, low=0.0, high=1.0, open_below=True),
        seed=fields.whole("seed", low=-(2**63), high=2**63 - 1),
    )


def _choices(fields: Fields) -> int:
    choices = fields.whole("n", low=1, high=MOST_CHOICES)
    return 1 if choices is None else choices


def _asked(jobs: Sequence[Job], fields: Fields) -> Asked:
    stream = fields.flag("stream")
    options = fields.part("stream_options")
    if options is not None and not stream:
        raise RequestError("stream_options needs stream to be true.", param="stream_options")
    aloud = "audio" in fields.texts("modalities")
    return Asked(tuple(jobs), stream, options is not None and options.flag("include_usage"), aloud)


def _room(prompt: Sequence[int], asked: int | None, served: Served, name: str) -> int:
    """How many tokens may be made: what was asked for, else whatever the context has left."""
    if not prompt:
        raise RequestError("The prompt is empty.", param="input_text")
    left = served.context - len(prompt)
    facts = f"The prompt has {len(prompt)} tokens, the model's maximum context length is {served.context}"
    if left < (1 if asked is None else min(asked, 1)):
        raise RequestError(f"{facts}: no room for an answer.", param="input_text")
    if asked is not None and asked > left:
        raise RequestError(f"{facts}: {name} can be {left} at most, not {asked}.", param=name)
    return left if asked is None else asked


def _prompts(prompt: Any, tokenizer: Tokenizer) -> list[tuple[int, ...]]:
    """A string, a list of strings, a list of token ids, or a list of such lists."""
    several = prompt if isinstance(prompt, list) and not _is_ids(prompt) else [prompt]
    if not several:
        raise RequestError("prompt must not be an empty list.", param="prompt")
    return [_one_prompt(one, tokenizer) for one in several]


def _one_prompt(prompt: Any, tokenizer: Tokenizer) -> tuple[int, ...]:
    if isinstance(prompt, str):
        return tokenizer.encode(prompt)
    if not isinstance(prompt, list) or not _is_ids(prompt):
        raise RequestError("prompt must be text or token ids, or a list of these.", param="prompt")
    strangers = [token for token in prompt if token not in tokenizer.names]
    if strangers:
        raise RequestError(f"The model has no token with the number {strangers[0]}.", param="prompt")
    return tuple(prompt)


def _is_ids(value: list[Any]) -> bool:
    return bool(value) and all(type(item) is int for item in value)
