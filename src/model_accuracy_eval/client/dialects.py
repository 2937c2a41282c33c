"""Where servers differ from each other and from OpenAI's API: names, places and limits, in one table.

Each row says on which servers it was seen, so a row can be judged again when a server changes. A new quirk of a known
kind is one new row; the modules that read and write messages take all their names from here.
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Literal, NamedTuple

import msgspec

from model_accuracy_eval.records import JSONObject

SeenOn = Mapping[str, str]
"""A word on the wire → the servers that use it. Where only one of several can count, the first one does."""

_MISSING = msgspec.Raw()

# ── Requests ──

MAX_TOKENS = "max_tokens"
"""OpenAI's newer `max_completion_tokens` is ignored by llama-cpp-python, which then generates without a limit."""
STOPS_SENT = 4
"""As many stop strings as OpenAI takes. Some servers silently cut longer lists, others refuse them."""

# ── Samplers ──


class ServerSamplers(NamedTuple):
    """What a server is known to do to requests that leave samplers out."""

    name: str
    remark: str
    properties: str = ""
    """The path where the server shows its values, which then replace the remark; empty: nowhere."""
    version: tuple[str, str] = ("", "")
    """The path and the field where it says its version."""


SAMPLERS_OF_SERVERS: Mapping[str, ServerSamplers] = {
    "llamacpp": ServerSamplers(
        "llama.cpp",
        "applies top_k 40 and min_p 0.05 to requests that leave them out, unless it was started with others",
        "/props",
        ("/props", "build_info"),
    ),
    "me": ServerSamplers(
        "llama-cpp-python",
        "(as its list of models looks) applies top_k 40 and min_p 0.05 where requests leave them out",
    ),
    "vllm": ServerSamplers(
        "vLLM",
        "takes top_k, min_p and repetition_penalty from the generation_config.json of the weights where requests leave "
        "them out, unless it was started with --generation-config vllm",
        version=("/version", "version"),
    ),
    "sglang": ServerSamplers(
        "SGLang",
        "takes top_k, min_p and repetition_penalty from the generation_config.json of the weights where requests leave "
        "them out, unless it was started with --sampling-defaults openai",
        version=("/get_server_info", "version"),
    ),
    "lmdeploy": ServerSamplers("LMDeploy", "applies top_k 40 to requests that leave it out"),
}
"""`owned_by` in `/v1/models` → what is known."""

# ── Chat and completion streams ──


class ReasoningText(msgspec.Struct, gc=False):
    """The model's reasoning in a delta or message: one field for each name, and the first with a text counts."""

    reasoning: str | None = None
    """vLLM since 0.11.1, OpenRouter, Ollama."""
    reasoning_content: str | None = None
    """DeepSeek, vLLM before 0.11.1, SGLang, llama.cpp."""


REASONING_FIELDS = ReasoningText.__struct_fields__
reasoning_texts: Callable[[ReasoningText], tuple[str | None, ...]] = attrgetter(*REASONING_FIELDS)
"""The values of all these fields; fast, since it is called for every event that is decoded in full."""


class Delta(ReasoningText, gc=False):
    """What one event adds to a choice. Only needed fields are decoded, so no other field can be wrong."""

    content: str | list[object] | None = None
    tool_calls: msgspec.Raw = _MISSING
    function_call: msgspec.Raw = _MISSING
    """Sent by llama-cpp-python beside `tool_calls`; shows that the choice has begun, and is not read."""
    audio: msgspec.Raw = _MISSING
    images: list[object] | None = None
    """OpenRouter's pictures, as parts of a content."""


class ChunkChoice(msgspec.Struct, gc=False):
    """One choice of an event. In an answer that is not streamed it has a `message`, in completions a `text`."""

    index: int = 0
    delta: Delta | None = None
    message: Delta | None = None
    text: str | None = None
    finish_reason: str | None = None
    usage: msgspec.Raw = _MISSING
    """Here in Moonshot's streams, in the chunk everywhere else."""


class Chunk(msgspec.Struct, gc=False):
    """One event of a stream, or the complete answer of a server that does not stream."""

    choices: list[ChunkChoice] | None = None
    model: msgspec.Raw = _MISSING
    usage: msgspec.Raw = _MISSING
    error: msgspec.Raw = _MISSING
    modality: object = None
    """vLLM-Omni: `audio` where contents are Base64."""


class ToldTop(msgspec.Struct, gc=False):
    token: str = ""
    logprob: float | None = None


class ToldLogprob(ToldTop, gc=False):
    top_logprobs: list[ToldTop] | None = None


class ToldContent(msgspec.Struct, gc=False):
    content: list[ToldLogprob] | None = None


class ToldChoice(msgspec.Struct, gc=False):
    """What an event tells of the tokens of its text, where the request asks for it."""

    index: int = 0
    logprobs: ToldContent | None = None
    token_ids: list[int] | None = None
    """vLLM's, for `return_token_ids`."""


class ToldChunk(msgspec.Struct, gc=False):
    choices: list[ToldChoice] = []


ASKS_FOR_TOKENS = ("logprobs", "return_token_ids")
"""Fields of a request."""
REASONING_TOKENS: Mapping[tuple[str, ...], str] = {
    ("completion_tokens_details", "reasoning_tokens"): "OpenAI, vLLM",
    ("reasoning_tokens",): "SGLang",
}
"""Where `usage` has the number of reasoning tokens."""

CACHED_TOKENS: Mapping[tuple[str, ...], str] = {
    ("prompt_tokens_details", "cached_tokens"): "OpenAI, vLLM, SGLang",
    ("prompt_cache_hit_tokens",): "DeepSeek",
}
"""Where `usage` has the number of the prompt's tokens that were in a cache."""

FAILED_FINISH_REASONS: SeenOn = {
    "error": "vLLM",
    "abort": "vLLM, SGLang",
    "parse_error": "LMDeploy",
    "insufficient_system_resource": "DeepSeek",
}
"""Finish reasons of a server that gave up: there is no answer, whatever text came before."""

# ── Errors ──

ERROR_MESSAGE_FIELDS: SeenOn = {
    "message": "OpenAI, vLLM, SGLang, LMDeploy",
    "detail": "transformers serve, and vLLM for unknown paths: FastAPI's own errors",
    "msg": "FastAPI's validation errors",
}
ERROR_STATUS_FIELDS: SeenOn = {
    "code": "vLLM, SGLang, LMDeploy",
    "status": "proxies, none recorded by name",
    "status_code": "proxies, none recorded by name",
}
"""Fields with the HTTP status of an error. Other values in them are the server's own codes."""
FLAT_ERROR_FIELDS: SeenOn = {
    "detail": "transformers serve",
    "message": "vLLM before its `error` object, SGLang, LMDeploy",
}
"""Fields that make an event an error although it has no `error`; so does `"object": "error"` of the same servers."""

TOO_LONG: SeenOn = {
    "context length": "OpenAI, vLLM, SGLang, llama-cpp-python",
    "context_length_exceeded": "OpenAI, llama-cpp-python",
    "context size": "llama.cpp",
    "context window": "Ollama and proxies",
    "max_model_len": "vLLM, for max_tokens beyond it",
    "max_new_tokens` must be <=": "TGI",
}
"""Words in the message of an error that say that prompt and answer do not fit into the model's context."""

LOADING: SeenOn = {"Loading model": "llama.cpp"}
"""Words in the message of a 503 of a server that listens before its model is loaded."""

# ── Models and tokenizers ──

CONTEXT_LENGTH = "max_model_len"
"""In `/v1/models` of vLLM and SGLang, and in vLLM's answer of `/tokenize`."""


class TokenizeFields(NamedTuple):
    """The fields of a request to `/tokenize`."""

    text: str
    special: str
    """Asks for the beginning-of-text token, if the model has one."""
    servers: str


TOKENIZE = (
    TokenizeFields("prompt", "add_special_tokens", "vLLM"),
    TokenizeFields("content", "add_special", "llama.cpp"),
)
BEGINNING_TOKENS = (
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
"""Tokens that may stand before a text: first those that mark a beginning, then those that mark an end."""

# ── Log-probabilities ──

PromptLogprobsMethod = Literal["echo", "prompt-logprobs"]
PROMPT_LOGPROBS: Mapping[PromptLogprobsMethod, JSONObject] = {
    "echo": {"echo": True, "logprobs": 1},  # OpenAI's older models, vLLM, llama-cpp-python
    "prompt-logprobs": {"prompt_logprobs": 1},  # vLLM
}
"""Request fields that ask for the log-probabilities of the prompt's tokens."""


class CompletionLogprobs(msgspec.Struct, gc=False):
    """OpenAI's `logprobs` of a completion: lists with an entry for each token."""

    tokens: list[str] = []
    token_logprobs: list[float | None] = []
    top_logprobs: list[dict[str, float] | None] | None = None


class PromptLogprob(msgspec.Struct, gc=False):
    """One token at one position in vLLM's `prompt_logprobs`."""

    logprob: float
    decoded_token: str | None = None


PositionLogprobs = Mapping[str, PromptLogprob]
"""Token id → entry. The first is the token at this position, the others are the most likely ones."""


class CompletionChoice(msgspec.Struct):
    text: str = ""
    logprobs: CompletionLogprobs | None = None
    prompt_logprobs: list[dict[str, PromptLogprob] | None] | None = None


class TokenLogprob(msgspec.Struct):
    """A token of an answer, with the likeliest ones in its place."""

    token: str
    logprob: float
    top_logprobs: list["TokenLogprob"] = []


class ChatLogprobs(msgspec.Struct):
    content: list[TokenLogprob] | None = None


class ChatMessage(msgspec.Struct):
    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    tool_calls: msgspec.Raw = _MISSING


class ChatChoice(msgspec.Struct):
    message: ChatMessage = msgspec.field(default_factory=ChatMessage)
    index: int = 0
    finish_reason: str | None = None
    logprobs: ChatLogprobs | None = None
    token_ids: list[int] | None = None
    """vLLM's, for `return_token_ids`."""


class ChatAnswer(msgspec.Struct):
    """The fields of an answer of `/v1/chat/completions` in one piece that are needed for its log-probabilities."""

    choices: list[ChatChoice]
    usage: msgspec.Raw = _MISSING


class CompletionUsage(msgspec.Struct):
    completion_tokens: int | None = None


class Completion(msgspec.Struct):
    """The fields of an answer of `/v1/completions` that are needed here."""

    choices: list[CompletionChoice]
    usage: CompletionUsage | None = None


LOWEST_LOGPROB = -9999.0
"""vLLM's stand-in for minus infinity, which JSON cannot express."""
TOP_LOGPROBS: Mapping[int, str] = {20: "OpenAI, vLLM", 5: "OpenAI until early 2024, and servers that kept its limit"}
"""The most `top_logprobs` that may be asked for; the larger number is tried first."""
