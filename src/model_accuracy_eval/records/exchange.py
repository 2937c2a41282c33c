"""What is sent to a service, and what it answers."""

from collections.abc import Mapping
from typing import Literal

from model_accuracy_eval.records.base import JSONObject, Record
from model_accuracy_eval.records.problem import Candidate, Media, Message

ToolName = Literal["calculator"]


class ToolCall(Record, frozen=True, kw_only=True):
    """A tool call of the model. The arguments are the model's text, which should be a JSON object."""

    id: str
    name: str
    arguments: str


class ToolUse(Record, frozen=True, kw_only=True):
    """A tool call and its result."""

    call: ToolCall
    result: str


class ToolRound(Record, frozen=True, kw_only=True):
    """A reply that called tools instead of answering, with the results of the calls."""

    text: str = ""
    reasoning: str = ""
    uses: tuple[ToolUse, ...]


RequestMethod = Literal["chat", "text", "echo", "prompt-logprobs", "top-logprobs", "extracted"]
"""How a request was made. The last five are methods for log-likelihoods, from the most to the least exact."""

GENERATING_METHODS: frozenset[RequestMethod] = frozenset({"chat", "text", "extracted"})
"""Methods whose answers are texts that the model wrote to their ends."""


NEUTRAL_SAMPLERS: Mapping[str, tuple[float, ...]] = {
    "top_k": (0, -1),  # 0: llama.cpp, llama-cpp-python, vLLM, LMDeploy; -1: SGLang, older vLLM
    "min_p": (0.0,),  # llama.cpp, vLLM, SGLang, LMDeploy
    "repetition_penalty": (1.0,),  # vLLM, SGLang, LMDeploy
    "repeat_penalty": (1.0,),  # llama.cpp
    "presence_penalty": (0.0,),  # OpenAI and all others, as is the next one
    "frequency_penalty": (0.0,),  # transformers serve adds it to a repetition penalty of 1
    "typical_p": (1.0,),  # llama.cpp, and all below
    "top_n_sigma": (-1.0, 0.0),
    "xtc_probability": (0.0,),
    "dry_multiplier": (0.0,),
    "dynatemp_range": (0.0,),
    "mirostat": (0,),
    "adaptive_target": (-1.0,),
}
"""The values with which a sampler changes nothing; the first that a service accepts is sent by `--sampling plain`.
Temperature and top_p are not here, because they are sent with every request."""


class Samplers(Record, frozen=True, kw_only=True):
    """What decides about sampling beside temperature, top_p and the user's own fields."""

    server: str = ""
    """Name of the server program; empty: unknown."""
    version: str = ""
    """Of the server program, if it says it."""
    own: dict[str, float] = {}
    """Samplers that the service says it applies where a request leaves them out; neutral ones are not here."""
    remark: str = ""
    """What the server program is known to do to such requests, as the end of a sentence."""
    neutral: dict[str, float] = {}
    """Neutral values that the service accepts, and that every request has."""
    refused: dict[str, str] = {}
    """Fields that it refuses, each with its words."""


class ServiceFinding(Record, frozen=True):
    """What was looked at before or after a run, beside its questions. SKIP: it could not be looked at."""

    probe: str
    state: Literal["PASS", "FAIL", "SKIP"]
    sentence: str
    next_step: str = ""


ANSWERED_BY = "model in replies"


class Service(Record, frozen=True, kw_only=True):
    """A server that answers `/v1/chat/completions`, and the name of the model it serves."""

    base_url: str
    model: str | None = None
    sends_finish_reasons: bool | None = None
    """Whether it has ended any choice with a finish_reason; None: it has not answered yet."""
    samplers: Samplers | None = None
    """None: not looked at."""
    stack: dict[str, str] = {}
    """On what the answers are made: engine, packages, driver, chips."""
    findings: tuple[ServiceFinding, ...] = ()

    @property
    def answered_by(self) -> str:
        """Another name than that of the model that was asked for; empty if it is the same."""
        return self.stack.get(ANSWERED_BY, "")


class Request(Record, frozen=True, kw_only=True):
    """One call: `n` choices for a conversation, or for the continuation of a text."""

    messages: tuple[Message, ...]
    text: str | None = None
    """Sent to `/v1/completions` instead of the messages."""
    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int | None = None
    stop: tuple[str, ...] = ()
    tools: tuple[JSONObject, ...] = ()
    """Definitions of the tools that may be called, in OpenAI's format."""
    rounds: tuple[ToolRound, ...] = ()
    """Replies and tool results since the question."""
    extra: JSONObject = {}


class LoglikelihoodRequest(Record, frozen=True, kw_only=True):
    """The log-likelihoods wanted for one problem: of its candidates, or of the letters of its options."""

    request: Request
    """The question with lettered options, for services that give no log-likelihoods of given texts."""
    candidates: tuple[Candidate, ...]
    options: int
    """How many of the candidates are options; the others have the same continuations after an empty context."""
    boundary: Literal["context", "shared"] = "context"
    rolling: bool = False
    """The only candidate is a whole text, which may be longer than the model's context."""


FaultKind = Literal["rejected", "refused", "failed"]


DOES_NOT_FIT = "The request does not fit into the model's context"
"""How the sentence of such a fault begins: readers of reports need another next step than for other rejections."""


class Fault(Record, frozen=True, kw_only=True):
    """Why there is no answer. `rejected`: the service rejects this request (4xx). `refused`: no service accepts
    connections. `failed`: transport error, 429, 5xx or a broken stream, after all retries."""

    kind: FaultKind
    sentence: str
    status: int | None = None
    lasting: bool = False
    """Whether a further try could not succeed."""
    silent: bool = False
    """Whether the last try ended because the service said nothing, or nothing more, in the time that it had."""


class Usage(Record, frozen=True, kw_only=True):
    """Tokens of one request with all its choices, or of all requests of one conversation; None: unknown."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    """Of the prompt."""


class Timings(Record, frozen=True, kw_only=True):
    """Seconds of one choice, measured when its bytes were read from the socket. Chunks are not tokens."""

    ttft: float | None = None
    """Request sent → first text of this choice."""
    e2e: float
    """Request sent → this choice complete."""
    gap_mean: float | None = None
    gap_max: float | None = None
    chunks: int = 0


class Loglikelihood(Record, frozen=True, kw_only=True, array_like=True):
    """The log-likelihood of one candidate's continuation. In JSON a list, because a journal holds many."""

    logprob: float
    """Natural logarithm, summed over the continuation's tokens."""
    tokens: int | None = None
    greedy: bool | None = None
    """Whether greedy decoding would produce every token; None: the service does not say."""
    cropped_to: int | None = None
    """The model's context length in tokens, if the context was longer and lost its beginning."""


class ToldToken(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A token of a reply, as far as the request asked for it and the service tells it."""

    text: str = ""
    logprob: float | None = None
    likeliest: tuple[tuple[str, float | None], ...] = ()
    """The texts and log-probabilities at its place."""
    id: int | None = None


class EarlierReply(Record, frozen=True, kw_only=True):
    """A reply of the model before its last one, and what it was asked next."""

    text: str
    reasoning: str = ""
    finish_reason: str | None = None
    spoken: bool = False
    next: str


class Choice(Record, frozen=True, kw_only=True):
    """One complete answer of a reply."""

    index: int = 0
    """Its place among the choices of the request, from 0."""
    text: str
    reasoning: str = ""
    finish_reason: str | None = None
    """None: the service sent none, and had sent none before."""
    calls: tuple[ToolCall, ...] = ()
    """Tool calls that have to be answered before there is an answer."""
    rounds: tuple[ToolRound, ...] = ()
    """Tool calls and results before this answer."""
    earlier: tuple[EarlierReply, ...] = ()
    """Replies of the same conversation before this one."""
    media: tuple[Media, ...] = ()
    """Sounds and pictures beside the text, as data URIs or addresses."""
    spoken: bool = False
    """Whether the text is the transcript of the sound, because nothing was written."""
    tokens: tuple[ToldToken, ...] = ()
    timings: Timings


class Reply(Record, frozen=True, kw_only=True):
    """The result of one request: complete choices (perhaps fewer than requested), log-likelihoods, or a fault."""

    id: str
    choices: tuple[Choice, ...] = ()
    loglikelihoods: tuple[Loglikelihood | None, ...] = ()
    """One for every candidate, or for every option where its letter was measured."""
    usage: Usage | None = None
    tries: int = 1
    fault: Fault | None = None
    replica: str = ""
    """Which replica of the service answered; empty if there is one service."""
    model: str = ""
    """As the service calls the one that answered; empty if it does not."""


class ScoredToken(Record, frozen=True, array_like=True):
    """A token of an answer, with the likeliest ones at its place, as far as the service tells them."""

    text: str
    logprob: float
    likeliest: tuple[tuple[str, float], ...] = ()

    @property
    def margin(self) -> float | None:
        """How far the token is ahead of all others, in nats; negative where another one was likelier."""
        others = [logprob for text, logprob in self.likeliest if text != self.text]
        return self.logprob - max(others) if others else None


class ScoredReply(Record, frozen=True, kw_only=True):
    """An answer with its tokens, as far as the service tells them."""

    text: str
    finish_reason: str | None = None
    tokens: tuple[ScoredToken, ...] = ()
    ids: tuple[int, ...] = ()
    """The tokens' numbers, where the service tells them."""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    """Of all choices."""
    further: tuple["ScoredReply", ...] = ()
    """The choices behind the first one; the first has what is known of their request."""

    @property
    def choices(self) -> tuple["ScoredReply", ...]:
        return (self, *self.further)


class ReadAgain(Record, frozen=True, kw_only=True):
    """What a service wrote behind a text, and the same tokens read as part of it."""

    written: tuple[ScoredToken, ...]
    read: tuple[ScoredToken, ...]
    length: int
    """Tokens of text and answer together."""


class SampleFields(Record, frozen=True, kw_only=True):
    """What a service said in one sample beside its text, wherever that is kept."""

    reasoning: str = ""
    finish_reason: str | None = None
    rounds: tuple[ToolRound, ...] = ()
    """Tool calls and results before the text."""
    earlier: tuple[EarlierReply, ...] = ()
    """Replies of the same conversation before the text."""
    media: tuple[Media, ...] = ()
    """Sounds and pictures beside the text; the name is that of the file that holds one."""
    spoken: bool = False
    """Whether the text is the transcript of the sound, because nothing was written."""
    tokens: tuple[ToldToken, ...] = ()
    """Of the text, where the run asks for log-probabilities or token ids."""
    method: RequestMethod = "chat"
    loglikelihoods: tuple[Loglikelihood | None, ...] = ()
    """One for every candidate, in their order; None: the service gave none."""
    timings: Timings | None = None
    usage: Usage | None = None
    """Usage of the whole request; samples with the same `request` share it."""
    request: str = ""


class Attempt(SampleFields, frozen=True, kw_only=True):
    """One sample: the answer number `index` to problem `problem`, or why there is none."""

    problem: int
    index: int
    text: str = ""
    seed: int | None = None
    tries: int = 1
    fault: Fault | None = None
    replica: str = ""
    """Which replica of the service answered; empty if there was one service."""
    at: float | None = None
    """When it came, in seconds since the epoch."""

    @property
    def is_empty(self) -> bool:
        return not (self.text.strip() or self.loglikelihoods or self.media)


class Question(Record, frozen=True, kw_only=True):
    """A question to the judge model about one answer. It decodes greedily, so one question has one opinion."""

    messages: tuple[Message, ...]
    max_tokens: int = 0
    """Tokens of its opinion, thoughts included; 0: what the settings say."""


class Opinion(Record, frozen=True, kw_only=True):
    """The judge model's reply."""

    text: str
    """Without its thoughts."""
    cut: bool = False
    """Whether it ended because its tokens were used up."""
    judge: str = ""
    """Always empty: a field of every findings file."""
