"""Files of kept replies → samples, whichever tool wrote them.

AISBench   `predictions/<model>/<dataset>.jsonl`, one line a sample, and the documented `.json`, one object a problem
lm-eval    `samples_<task>_<stamp>.jsonl`, one line a problem and filter
plain      {"id", "prediction" or "predictions", "gold"}, as lines or as one list
"""

import ast
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Likelihood, Record


class Kept(Record, frozen=True, kw_only=True):
    """One reply as a file keeps it."""

    problem: str
    text: str = ""
    gold: tuple[str, ...] = ()
    filter: str = "none"
    """lm-eval judges the same replies by several filters, and writes each with its own answers."""
    metrics: tuple[str, ...] = ()
    claimed: dict[str, float] = {}  # noqa: RUF012 - msgspec copies it
    """What the file says that the sample is worth, by metric."""
    options: tuple[str, ...] = ()
    weighed: tuple[Likelihood, ...] = ()


class _Plain(msgspec.Struct):
    """A line of ours, of AISBench's or of anybody's."""

    prediction: str | list[str] | None = None
    predictions: list[str] | None = None
    gold: Any = None
    id: int | str | None = None
    correct: bool | float | None = None
    success: bool = True

    def kept(self, problem: str, where: str) -> Iterator[Kept]:
        said = self.predictions if self.predictions is not None else self.prediction
        if said is None or self.gold is None:
            missing = "prediction" if said is None else "gold"
            raise BadData(f"{where}: the field '{missing}' is missing.")
        claimed = {} if self.correct is None else {"correct": float(self.correct)}
        for text in [said] if isinstance(said, str) else said:
            yield Kept(problem=problem, text=text, gold=_texts(self.gold), claimed=claimed)


class _Sample(msgspec.Struct):
    """A line of lm-eval's; what a metric says of it stands beside these fields, under the metric's name."""

    doc_id: int
    target: Any
    resps: list[list[Any]]
    filtered_resps: list[Any]
    filter: str = "none"
    metrics: tuple[str, ...] = ()
    arguments: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)

    def kept(self, claimed: dict[str, float]) -> Iterator[Kept]:
        common = Kept(
            problem=str(self.doc_id),
            gold=_literal(self.target),
            filter=self.filter,
            metrics=self.metrics,
            claimed=claimed,
        )
        if self._weighs():
            weighed = tuple(map(_likelihood, self._alone()))
            yield msgspec.structs.replace(common, options=self._options(), weighed=weighed)
            return
        for answer in self.filtered_resps if len(self.resps) > 1 else _flat(self.filtered_resps):
            yield msgspec.structs.replace(common, text=str(answer))

    def _weighs(self) -> bool:
        """Whether the replies are pairs of a logarithm and of whether greedy decoding says the same."""
        first = next(iter(self._alone()), None)
        return isinstance(first, list) and len(first) == 2 and str(first[1]) in {"True", "False"}

    def _alone(self) -> list[Any]:
        """What was said of every option, of which 0.5 keeps a list of one."""
        return [one[0] if isinstance(one, list) and len(one) == 1 else one for one in self.filtered_resps]

    def _options(self) -> tuple[str, ...]:
        endings = [str(one.get("arg_1", "")) for one in self.arguments.values()]
        return tuple(ending.removeprefix(" ") for ending in endings)


def _likelihood(pair: list[Any]) -> Likelihood:
    return Likelihood(logprob=float(pair[0]), greedy=str(pair[1]) == "True")


def _flat(answers: list[Any]) -> list[Any]:
    return answers[0] if answers and isinstance(answers[0], list) else answers


def _texts(gold: Any) -> tuple[str, ...]:
    return tuple(map(str, gold)) if isinstance(gold, list) else (str(gold),)


def _literal(target: Any) -> tuple[str, ...]:
    """lm-eval writes lists of right answers as Python spells them."""
    if isinstance(target, str) and target.startswith("["):
        try:
            return _texts(ast.literal_eval(target))
        except (SyntaxError, ValueError):
            return (target,)
    return _texts(target)


_decode = msgspec.json.Decoder().decode
_decode_plain = msgspec.json.Decoder(_Plain).decode
_decode_sample = msgspec.json.Decoder(_Sample).decode


def is_whole(name: str, first: bytes) -> bool:
    """Whether a file is one JSON value, by its name and its first line: `.json` files of lines exist, too."""
    if first.lstrip()[:1] == b"[":
        return True
    try:
        row = _decode(first)
    except msgspec.DecodeError:
        return True
    return name.removesuffix(".gz").endswith(".json") and not {"id", "doc_id"} & row.keys()


def read(name: str, lines: Iterable[bytes]) -> Iterator[Kept]:
    """Every kept reply of a file of lines, one at a time."""
    for number, line in enumerate(lines, start=1):
        where = f"{name}, line {number}"
        try:
            if b'"doc_id"' in line and b'"resps"' in line:
                yield from _lm_eval(line)
                continue
            row = _decode_plain(line)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            raise BadData(f"{where}: this is no kept reply: {error}.") from error
        if row.id is None:
            raise BadData(f"{where}: the field 'id' is missing, so samples cannot be told to their problems.")
        if row.success:
            yield from row.kept(str(row.id), where)


def read_whole(name: str, data: bytes) -> Iterator[Kept]:
    """Every kept reply of a file that is one JSON value: a list of rows, or AISBench's object of problems."""
    try:
        if data.lstrip()[:1] == b"[":
            rows = [
                (None if row.id is None else str(row.id), row) for row in msgspec.json.decode(data, type=list[_Plain])
            ]
        else:
            rows = list(msgspec.json.decode(data, type=dict[str, _Plain]).items())
    except msgspec.DecodeError as error:
        raise BadData(f"{name}: this is no file of kept replies: {error}.") from error
    for place, (problem, row) in enumerate(rows, start=1):
        where = f"{name}, problem {place}"
        if problem is None:
            raise BadData(f"{where}: the field 'id' is missing, so samples cannot be told to their problems.")
        yield from row.kept(problem, where)


def _lm_eval(line: bytes) -> Iterator[Kept]:
    sample = _decode_sample(line)
    fields = _decode(line)
    claimed = {name: float(fields[name]) for name in sample.metrics if isinstance(fields.get(name), int | float | bool)}
    return sample.kept(claimed)
