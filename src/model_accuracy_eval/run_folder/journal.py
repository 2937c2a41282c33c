"""The journal `predictions/<label>/<dataset>.jsonl` (AISBench's fields of a sample, then ours).

Each answered sample has one line in the journal. Samples without an answer are in `<dataset>_failed.jsonl`, as AISBench
does it; they are asked again when the run is resumed.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.records import (
    Attempt,
    EarlierReply,
    Fault,
    FaultKind,
    Loglikelihood,
    LoglikelihoodSetting,
    Media,
    PreparedDataset,
    Problem,
    RequestMethod,
    Timings,
    ToldToken,
    ToolRound,
    Usage,
)
from model_accuracy_eval.records.base import filled
from model_accuracy_eval.records.exchange import GENERATING_METHODS

T = TypeVar("T")
_TEXT_METHODS = frozenset({"text", "echo", "prompt-logprobs"})
_ROLES = {"system": "SYSTEM", "user": "HUMAN", "assistant": "BOT"}


class Turn(msgspec.Struct):
    """One message of a prompt, under AISBench's names."""

    role: str
    prompt: str


class AnswerLine(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A line of the journal."""

    data_abbr: str
    id: int
    success: bool
    uuid: str
    origin_prompt: msgspec.Raw
    """A list of `Turn`, which is long and rarely needed, so it is decoded only when it is."""
    prediction: str
    gold: str
    index: int = -1
    reasoning: str = ""
    finish_reason: str | None = None
    rounds: tuple[ToolRound, ...] = ()
    earlier: tuple[EarlierReply, ...] = ()
    media: tuple[Media, ...] = ()
    spoken: bool = False
    tokens: tuple[ToldToken, ...] = ()
    method: RequestMethod = "chat"
    loglikelihoods: tuple[Loglikelihood | None, ...] = ()
    timings: Timings | None = None
    usage: Usage | None = None
    request: str = ""
    replica: str = ""
    seed: int | None = None
    tries: int = 1
    at: float | None = None
    """When the line was written, in seconds since the epoch."""


class FailureLine(msgspec.Struct, kw_only=True):
    """A line of the failures file."""

    data_abbr: str
    id: int
    index: int
    input: msgspec.Raw
    """A list of `Turn`."""
    error_info: str
    kind: FaultKind
    status: int | None = None
    tries: int = 1
    at: float | None = None


class SampleShown(msgspec.Struct):
    """Fields of both kinds of lines that show the problem."""

    origin_prompt: msgspec.Raw = msgspec.Raw()
    input: msgspec.Raw = msgspec.Raw(b"[]")
    gold: str = ""


class SampleKey(msgspec.Struct):
    """Fields of both kinds of lines that say which sample it is; decoding them alone takes a third of the time."""

    id: int
    index: int
    method: RequestMethod = "chat"
    finish_reason: str | None = None


class SampleTime(msgspec.Struct):
    """The fields of a sample's line that say how long it took."""

    id: int
    timings: Timings | None = None


class ShownProblem(msgspec.Struct):
    """The last message of a sample's prompt, and the right answer."""

    question: str
    gold: str


_encode = msgspec.json.Encoder().encode


def _reader(kind: type[T]) -> Callable[[bytes | msgspec.Raw], T]:
    """Of lines that somebody may have changed since they were written."""
    decode = msgspec.json.Decoder(kind).decode

    def read(source: bytes | msgspec.Raw) -> T:
        try:
            return decode(source)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadReuse(
                f"A line of the journal is not as this program writes it ({error}): it begins with "
                f"{bytes(source)[:_BEGINNING]!r}. Take it out, and run --reuse asks again for what it was."
            ) from error

    return read


_BEGINNING = 60
"""Bytes of a line by which it can be found."""
answer_of = _reader(AnswerLine)
"""A line of the journal as it is."""
failure_of = _reader(FailureLine)
"""A line of the failures file as it is."""
_decode_key = _reader(SampleKey)
_decode_time = _reader(SampleTime)
_decode_shown = _reader(SampleShown)
_decode_turns = _reader(list[Turn])


def file(label: str, dataset: str) -> str:
    return f"predictions/{label}/{dataset}.jsonl"


def failures_file(label: str, dataset: str) -> str:
    return f"predictions/{label}/{dataset}_failed.jsonl"


def media_file(label: str, dataset: str, media: Media) -> str:
    """Where a sound or picture of a reply is kept: equal ones are one file."""
    return f"predictions/{label}/{dataset}_media/{media.sha256[:16]}.{media.format}"


def is_media_file(name: str) -> bool:
    return name.startswith("predictions/") and "_media/" in name


def line(prepared: PreparedDataset, problem: Problem, attempt: Attempt, at: float | None = None) -> bytes:
    """The line of an answered sample. `at`: now, in seconds since the epoch."""
    answer = filled(
        AnswerLine,
        attempt,
        data_abbr=prepared.task.name,
        id=attempt.problem,
        success=True,
        uuid=f"{attempt.request[:28]}{attempt.index:04x}",
        origin_prompt=_turns(problem, attempt.method),
        prediction=attempt.text,
        gold=problem.right[0],
        at=at,
    )
    return _encode(answer) + b"\n"


def failure_line(
    prepared: PreparedDataset, problem: Problem, attempt: Attempt, fault: Fault, at: float | None = None
) -> bytes:
    """The line of a sample without an answer, with the reason."""
    failed = filled(
        FailureLine,
        attempt,
        fault,
        data_abbr=prepared.task.name,
        id=attempt.problem,
        input=_turns(problem),
        error_info=fault.sentence,
        at=at,
    )
    return _encode(failed) + b"\n"


def _turns(problem: Problem, method: RequestMethod = "chat") -> msgspec.Raw:
    """What was sent: the conversation, or the one text."""
    if method in _TEXT_METHODS and problem.text:
        turns = [Turn("HUMAN", problem.text)]
    else:
        turns = [Turn(_ROLES[message.role], message.shown) for message in problem.messages]
    return msgspec.Raw(_encode(turns))


def attempt(source: bytes) -> Attempt:
    """The sample in a line of the journal."""
    answer = answer_of(source)
    return filled(Attempt, answer, problem=answer.id, text=answer.prediction)


def failure(source: bytes) -> Attempt:
    """The sample in a line of the failures file, without an answer."""
    failed = failure_of(source)
    fault = filled(Fault, failed, sentence=failed.error_info)
    return Attempt(problem=failed.id, index=failed.index, fault=fault)


def key(source: bytes) -> tuple[int, int]:
    """(problem, index) of a line of either file."""
    sample = _decode_key(source)
    return sample.id, sample.index


def sample_time(source: bytes) -> tuple[int, float] | None:
    """(problem, seconds of its sample) of a line of the journal; None if it does not say."""
    try:
        sample = _decode_time(source)
    except BadReuse:  # a line that a kill cut off, in the journal of a run that is no longer looked after
        return None
    return (sample.id, sample.timings.e2e) if sample.timings else None


def unfinished(source: bytes) -> bool:
    """Whether a line of the journal is a text without a finish_reason."""
    sample = _decode_key(source)
    return sample.finish_reason is None and sample.method in GENERATING_METHODS


def loglikelihood_method(source: bytes) -> LoglikelihoodSetting | None:
    """How a line of the journal got its log-likelihoods; None where the answer is a text."""
    match _decode_key(source).method:
        case "chat" | "text":
            return None
        case method:
            return method


def shown(source: bytes) -> ShownProblem:
    """What a line of either file shows of its problem; a failure's does not hold the right answer."""
    sample = _decode_shown(source)
    turns = _decode_turns(sample.origin_prompt or sample.input)
    return ShownProblem(turns[-1].prompt if turns else "", sample.gold)


def questions(lines_of: Callable[[str], Iterable[bytes]], label: str, dataset: str) -> dict[int, str]:
    """Each problem's last message as it was asked. `lines_of`: a file's name → its lines."""
    names = (file(label, dataset), failures_file(label, dataset))
    return {key(line)[0]: shown(line).question for name in names for line in lines_of(name)}


def whole_prompt(source: bytes) -> ShownProblem:
    """As `shown`, with all messages; several of them have their roles before them."""
    sample = _decode_shown(source)
    turns = _decode_turns(sample.origin_prompt or sample.input)
    several = "\n\n".join(f"{turn.role}: {turn.prompt}" for turn in turns)
    return ShownProblem(turns[0].prompt if len(turns) == 1 else several, sample.gold)
