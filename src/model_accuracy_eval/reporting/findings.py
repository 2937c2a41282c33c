"""`predictions/<label>/<dataset>_findings.jsonl`: a line for every answer of a judge and every program that ran."""

import msgspec

from model_accuracy_eval.records import Opinion, Question
from model_accuracy_eval.records.code import Execution
from model_accuracy_eval.scoring.asks import Ask, AskResult


class FindingLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line: the ask's key, the first sample that needed it, and what the judge or the program said."""

    key: str
    problem: int
    index: int
    question: Question | None = None
    opinion: Opinion | None = None
    execution: Execution | None = None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(FindingLine).decode


def file(label: str, dataset: str) -> str:
    return f"predictions/{label}/{dataset}_findings.jsonl"


def line(key: str, problem: int, index: int, ask: Ask, finding: AskResult) -> bytes:
    """The line of a finding; programs are not repeated in it, for the journal has them."""
    whole = FindingLine(
        key=key,
        problem=problem,
        index=index,
        question=ask if isinstance(ask, Question) else None,
        opinion=finding if isinstance(finding, Opinion) else None,
        execution=finding if isinstance(finding, Execution) else None,
    )
    return _encode(whole) + b"\n"


def finding(source: bytes) -> tuple[str, AskResult | None]:
    """The key and the finding in a line."""
    whole = _decode(source)
    return whole.key, whole.opinion or whole.execution
