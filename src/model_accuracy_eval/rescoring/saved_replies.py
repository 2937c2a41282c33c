"""Files of saved replies → samples, whichever tool wrote them.

AISBench   `predictions/<model>/<dataset>.jsonl`, one line a sample, and the documented `.json`, one object a problem
lm-eval    `samples_<task>_<stamp>.jsonl`, one line a problem and filter
plain      {"id", "prediction" or "predictions", "gold"}, as lines or as one list
"""

import ast
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Loglikelihood, Record, RequestMethod, ToolRound


class SavedReply(Record, frozen=True, kw_only=True):
    """One sample of a file, as far as the file describes it."""

    problem: str = ""
    """Its problem's id in the file: "HumanEval/12", "17", a UUID; empty: the file has none."""
    index: int | None = None
    """Number of the sample of its problem; None: the order in the file."""
    text: str = ""
    """The whole reply."""
    answer: str | None = None
    """What the tool's own filter left of the reply; None: the file does not say."""
    reasoning: str = ""
    finish_reason: str | None = None
    rounds: tuple[ToolRound, ...] = ()
    method: RequestMethod = "chat"
    failure: str = ""
    """Why there is no reply; such a sample counts as failed."""
    rejected: bool = False
    """Whether the service rejected the request, which counts apart from other failures."""
    question: str = ""
    options: tuple[str, ...] = ()
    """Texts of the options in their order."""
    gold: tuple[str, ...] = ()
    part: str = ""
    """Subject, subset, language or category."""
    dataset: str = ""
    """The dataset that the row names."""
    filter: str = "none"
    """lm-eval judges the same replies by several filters, and writes each with its own answers."""
    metrics: tuple[str, ...] = ()
    claimed: dict[str, float] = {}  # noqa: RUF012 - msgspec copies it
    """The sample's values in the file, by metric."""
    loglikelihoods: tuple[Loglikelihood | None, ...] = ()


class _PlainRow(msgspec.Struct):
    """A row of this program, of AISBench, or in the plain format."""

    prediction: str | list[str] | None = None
    predictions: list[str] | None = None
    gold: Any = None
    id: int | str | None = None
    correct: bool | float | None = None
    success: bool = True

    def replies(self, problem: int | str | None, where: str) -> Iterator[SavedReply]:
        predictions = self.predictions if self.predictions is not None else self.prediction
        if problem is None:
            raise BadData(f"{where}: the field 'id' is missing, so samples cannot be assigned to their problems.")
        if predictions is None or self.gold is None:
            missing = "prediction" if predictions is None else "gold"
            raise BadData(f"{where}: the field '{missing}' is missing.")
        claimed = {} if self.correct is None else {"correct": float(self.correct)}
        for text in [predictions] if isinstance(predictions, str) else predictions:
            yield SavedReply(problem=str(problem), text=text, gold=_texts(self.gold), claimed=claimed)


class _LmEvalSample(msgspec.Struct):
    """A line of lm-eval. Its metrics' values are further fields, under the metrics' names."""

    doc_id: int
    target: Any
    resps: list[list[Any]]
    filtered_resps: list[Any]
    filter: str = "none"
    metrics: tuple[str, ...] = ()
    arguments: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)

    def replies(self, claimed: dict[str, float]) -> Iterator[SavedReply]:
        reply = SavedReply(
            problem=str(self.doc_id),
            gold=_literal(self.target),
            filter=self.filter,
            metrics=self.metrics,
            claimed=claimed,
        )
        # lm-eval 0.5 writes the reply about each option as a list of one.
        single = [entry[0] if isinstance(entry, list) and len(entry) == 1 else entry for entry in self.filtered_resps]
        if single and _is_loglikelihood(single[0]):
            endings = [str(argument.get("arg_1", "")) for argument in self.arguments.values()]
            options = tuple(ending.removeprefix(" ") for ending in endings)
            yield msgspec.structs.replace(reply, options=options, loglikelihoods=tuple(map(_loglikelihood, single)))
            return
        answers = self.filtered_resps
        if len(self.resps) <= 1 and answers and isinstance(answers[0], list):
            answers = answers[0]
        # A filter may leave fewer answers than there are replies: the first one, or that of the majority.
        for text, answer in zip_longest(self.resps[0] if self.resps else [], answers):
            yield msgspec.structs.replace(
                reply, text="" if text is None else str(text), answer=None if answer is None else str(answer)
            )


def _is_loglikelihood(value: Any) -> bool:
    """Whether it is a pair of a log-likelihood and of whether greedy decoding gives the same text."""
    return isinstance(value, list) and len(value) == 2 and str(value[1]) in {"True", "False"}


def _loglikelihood(pair: list[Any]) -> Loglikelihood:
    return Loglikelihood(logprob=float(pair[0]), greedy=str(pair[1]) == "True")


def _texts(gold: Any) -> tuple[str, ...]:
    return tuple(map(str, gold)) if isinstance(gold, list) else (str(gold),)


def _literal(target: Any) -> tuple[str, ...]:
    """The right answers. lm-eval writes several as a Python list."""
    if isinstance(target, str) and target.startswith("["):
        try:
            return _texts(ast.literal_eval(target))
        except (SyntaxError, ValueError):
            return (target,)
    return _texts(target)


_decode = msgspec.json.Decoder().decode
_decode_plain = msgspec.json.Decoder(_PlainRow).decode
_decode_sample = msgspec.json.Decoder(_LmEvalSample).decode


def is_one_value(name: str, first_line: bytes) -> bool:
    """Whether a file is one JSON value, by its name and its first line; some `.json` files hold lines."""
    if first_line.lstrip()[:1] == b"[":
        return True
    try:
        row = _decode(first_line)
    except msgspec.DecodeError:
        return True
    return name.removesuffix(".gz").endswith(".json") and not {"id", "doc_id"} & row.keys()


def read_lines(name: str, lines: Iterable[bytes]) -> Iterator[SavedReply]:
    """Every reply in a file of lines, one at a time."""
    for number, line in enumerate(lines, start=1):
        where = f"{name}, line {number}"
        try:
            if b'"doc_id"' in line and b'"resps"' in line:
                yield from _lm_eval_replies(line)
                continue
            row = _decode_plain(line)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            raise BadData(f"{where}: this is not a saved reply: {error}.") from error
        if row.success or row.id is None:
            yield from row.replies(row.id, where)


def _lm_eval_replies(line: bytes) -> Iterator[SavedReply]:
    sample, fields = _decode_sample(line), _decode(line)
    claimed = {name: float(fields[name]) for name in sample.metrics if isinstance(fields.get(name), int | float | bool)}
    return sample.replies(claimed)


def read_value(name: str, data: bytes) -> Iterator[SavedReply]:
    """Every reply in a file that is one JSON value: a list of rows, or AISBench's object of problems."""
    rows: list[tuple[int | str | None, _PlainRow]]
    try:
        if data.lstrip()[:1] == b"[":
            rows = [(row.id, row) for row in msgspec.json.decode(data, type=list[_PlainRow])]
        else:
            rows = list(msgspec.json.decode(data, type=dict[str, _PlainRow]).items())
    except msgspec.DecodeError as error:
        raise BadData(f"{name}: this is not a file of saved replies: {error}.") from error
    for number, (problem, row) in enumerate(rows, start=1):
        yield from row.replies(problem, f"{name}, problem {number}")
