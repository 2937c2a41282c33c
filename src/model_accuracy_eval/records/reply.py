"""What is said to the service, and what it says."""

from typing import Literal

from model_accuracy_eval.records.base import JSONObject, Record
from model_accuracy_eval.records.plan import Rung
from model_accuracy_eval.records.problem import Candidate, Message
from model_accuracy_eval.records.tools import ToolCall, ToolRound


class Service(Record, frozen=True, kw_only=True):
    """A server that answers `/v1/chat/completions`, and the name of the model it serves."""

    base_url: str
    model: str | None = None


class Request(Record, frozen=True, kw_only=True):
    """One call: `n` choices of one conversation, or of what follows one text."""

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
    """Definitions of the tools that may be called, as OpenAI has them."""
    rounds: tuple[ToolRound, ...] = ()
    """What was said and used since the question."""
    extra: JSONObject = {}


class Ballot(Record, frozen=True, kw_only=True):
    """What is weighed for one problem: its candidates as they are, or the letters of its options."""

    request: Request
    """The question with its options behind their letters, for services that tell nothing about given texts."""
    candidates: tuple[Candidate, ...]
    options: int
    """How many of the candidates are options; those behind them are the same endings after nothing."""
    boundary: Literal["context", "shared"] = "context"
    rolling: bool = False
    """The one candidate is a whole text, and may be longer than what the service reads at once."""


FaultKind = Literal["rejected", "refused", "failed"]


class Fault(Record, frozen=True, kw_only=True):
    """Why there is no answer. `rejected`: the service will not do this item (4xx). `refused`: nobody
    listens. `failed`: transport, 429, 5xx or a broken stream, after all retries."""

    kind: FaultKind
    sentence: str
    status: int | None = None


class Usage(Record, frozen=True, kw_only=True):
    """Tokens of one request, all its choices together, or of all requests of one conversation; unknown is None."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


class Timings(Record, frozen=True, kw_only=True):
    """Seconds of one choice, measured as the bytes left the socket. Chunks are not tokens."""

    ttft: float | None = None
    """Request sent → first text of this choice."""
    e2e: float
    """Request sent → this choice complete."""
    gap_mean: float | None = None
    gap_max: float | None = None
    chunks: int = 0


class Likelihood(Record, frozen=True, kw_only=True):
    """What a service says about one candidate's ending."""

    logprob: float
    """Natural logarithm, summed over the ending's tokens."""
    tokens: int | None = None
    greedy: bool | None = None
    """Whether every token is the one that greedy decoding would take; None: the service does not say."""
    cropped_to: int | None = None
    """How many tokens the model reads at once, where the context was longer and lost its beginning."""


class Choice(Record, frozen=True, kw_only=True):
    """One complete answer of a reply."""

    text: str
    reasoning: str = ""
    finish_reason: str | None = None
    calls: tuple[ToolCall, ...] = ()
    """Tools that are to be used before there is an answer."""
    rounds: tuple[ToolRound, ...] = ()
    """Those that were used before it."""
    timings: Timings


class Reply(Record, frozen=True, kw_only=True):
    """What one request brought: complete choices (maybe fewer than asked), weights of a ballot, or a fault."""

    id: str
    choices: tuple[Choice, ...] = ()
    weighed: tuple[Likelihood | None, ...] = ()
    """One for every candidate, or where letters were weighed for every option."""
    usage: Usage | None = None
    tries: int = 1
    fault: Fault | None = None


class Attempt(Record, frozen=True, kw_only=True):
    """One sample: what the service said to problem `problem` the `index`-th time, or why nothing."""

    problem: int
    index: int
    text: str = ""
    reasoning: str = ""
    finish_reason: str | None = None
    rounds: tuple[ToolRound, ...] = ()
    """Tools that were used before the text was said."""
    rung: Rung = "chat"
    weighed: tuple[Likelihood | None, ...] = ()
    """One for every candidate, in their order; None where the service said nothing about it."""
    timings: Timings | None = None
    usage: Usage | None = None
    """Of the whole request; samples that share `request` share it."""
    request: str = ""
    seed: int | None = None
    tries: int = 1
    fault: Fault | None = None
