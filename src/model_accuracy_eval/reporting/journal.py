"""The journal `predictions/<label>/<dataset>.jsonl`: AISBench's fields of a sample, and ours behind them.

Answered samples stand in the journal, once each. Samples without an answer stand in `<dataset>_failed.jsonl`, as
AISBench has it; they are asked again when a run goes on.
"""

import msgspec

from model_accuracy_eval.records import (
    Attempt,
    Exam,
    Fault,
    FaultKind,
    Likelihood,
    Problem,
    Rung,
    Timings,
    ToolRound,
    Usage,
    Weigh,
)

_TEXTS = frozenset({"text", "echo", "prompt-logprobs"})
_ROLES = {"system": "SYSTEM", "user": "HUMAN", "assistant": "BOT"}


class _Turn(msgspec.Struct):
    role: str
    prompt: str


class _Weight(msgspec.Struct, array_like=True):
    """`[-1.25, 3, true]`: logarithm, tokens, whether greedy; where the context was cropped, to how many tokens."""

    logprob: float
    tokens: int | None = None
    greedy: bool | None = None
    cropped_to: int | None = None


class _Line(msgspec.Struct, omit_defaults=True):
    data_abbr: str
    id: int
    success: bool
    uuid: str
    origin_prompt: list[_Turn]
    prediction: str
    gold: str
    index: int = -1
    reasoning: str = ""
    finish_reason: str | None = None
    rounds: tuple[ToolRound, ...] = ()
    rung: Rung = "chat"
    weighed: list[tuple[float | None, ...] | None] = []
    timings: Timings | None = None
    usage: Usage | None = None
    request: str = ""
    seed: int | None = None
    tries: int = 1


class _Kept(msgspec.Struct):
    """What judging needs of a line; the rest is skipped while decoding."""

    id: int
    index: int
    prediction: str
    reasoning: str = ""
    finish_reason: str | None = None
    rounds: tuple[ToolRound, ...] = ()
    rung: Rung = "chat"
    weighed: list[_Weight | None] = []
    timings: Timings | None = None
    usage: Usage | None = None
    request: str = ""
    seed: int | None = None
    tries: int = 1


class _Failure(msgspec.Struct):
    data_abbr: str
    id: int
    index: int
    input: list[_Turn]
    error_info: str
    kind: FaultKind
    status: int | None
    tries: int


class _Key(msgspec.Struct):
    id: int
    index: int


class _Way(msgspec.Struct):
    rung: Rung = "chat"


class _Asked(msgspec.Struct):
    id: int
    origin_prompt: list[_Turn] = []
    input: list[_Turn] = []


class _KeptFailure(msgspec.Struct):
    id: int
    index: int
    error_info: str
    kind: FaultKind
    status: int | None = None


_encode = msgspec.json.Encoder().encode
_decode_kept = msgspec.json.Decoder(_Kept).decode
_decode_key = msgspec.json.Decoder(_Key).decode
_decode_way = msgspec.json.Decoder(_Way).decode
_decode_asked = msgspec.json.Decoder(_Asked).decode
_decode_failure = msgspec.json.Decoder(_KeptFailure).decode


def file(label: str, dataset: str) -> str:
    return f"predictions/{label}/{dataset}.jsonl"


def failures_file(label: str, dataset: str) -> str:
    return f"predictions/{label}/{dataset}_failed.jsonl"


def _turns(problem: Problem, rung: Rung = "chat") -> list[_Turn]:
    """What was sent: the conversation, or the one text."""
    if rung in _TEXTS and problem.text:
        return [_Turn("HUMAN", problem.text)]
    return [_Turn(_ROLES[message.role], message.content) for message in problem.messages]


def line(exam: Exam, problem: Problem, attempt: Attempt) -> bytes:
    """An answered sample."""
    return (
        _encode(
            _Line(
                data_abbr=exam.task.name,
                id=attempt.problem,
                success=True,
                uuid=f"{attempt.request[:28]}{attempt.index:04x}",
                origin_prompt=_turns(problem, attempt.rung),
                prediction=attempt.text,
                gold=problem.right[0],
                index=attempt.index,
                reasoning=attempt.reasoning,
                finish_reason=attempt.finish_reason,
                rounds=attempt.rounds,
                rung=attempt.rung,
                weighed=[_weight(one) for one in attempt.weighed],
                timings=attempt.timings,
                usage=attempt.usage,
                request=attempt.request,
                seed=attempt.seed,
                tries=attempt.tries,
            )
        )
        + b"\n"
    )


def _weight(found: Likelihood | None) -> tuple[float | None, ...] | None:
    """What `_Weight` reads; the last entry is written where there is something to say."""
    if found is None:
        return None
    told = (found.logprob, found.tokens, found.greedy)
    return told if found.cropped_to is None else (*told, found.cropped_to)


def _likelihood(kept: _Weight | None) -> Likelihood | None:
    return None if kept is None else Likelihood(**msgspec.structs.asdict(kept))


def failure_line(exam: Exam, problem: Problem, attempt: Attempt, fault: Fault) -> bytes:
    """A sample that got no answer, and why."""
    failure = _Failure(
        exam.task.name, attempt.problem, attempt.index, _turns(problem),
        fault.sentence, fault.kind, fault.status, attempt.tries,
    )  # fmt: skip
    return _encode(failure) + b"\n"


def key(source: bytes) -> tuple[int, int]:
    """(problem, index) of a line of either file."""
    found = _decode_key(source)
    return found.id, found.index


def way(source: bytes) -> Weigh | None:
    """How the options of a line of the journal were weighed; None where nothing was."""
    match _decode_way(source).rung:
        case "chat" | "text":
            return None
        case rung:
            return rung


def question(source: bytes) -> tuple[int, str]:
    """(problem, the last turn that was asked) of a line of either file."""
    found = _decode_asked(source)
    return found.id, next((turn.prompt for turn in reversed(found.origin_prompt or found.input)), "")


def attempt(source: bytes) -> Attempt:
    """The sample that a line of the journal keeps."""
    kept = _decode_kept(source)
    return Attempt(
        problem=kept.id,
        index=kept.index,
        text=kept.prediction,
        reasoning=kept.reasoning,
        finish_reason=kept.finish_reason,
        rounds=kept.rounds,
        rung=kept.rung,
        weighed=tuple(_likelihood(one) for one in kept.weighed),
        timings=kept.timings,
        usage=kept.usage,
        request=kept.request,
        seed=kept.seed,
        tries=kept.tries,
    )


def failure(source: bytes) -> Attempt:
    """The sample without an answer that a line of the failures file keeps."""
    kept = _decode_failure(source)
    fault = Fault(kind=kept.kind, sentence=kept.error_info, status=kept.status)
    return Attempt(problem=kept.id, index=kept.index, fault=fault)
