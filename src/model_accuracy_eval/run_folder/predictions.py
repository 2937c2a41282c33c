"""`predictions/<label>/<dataset>_findings.jsonl`: a line for every answer of a judge and every program that ran."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby

import msgspec

from model_accuracy_eval.records import JSONObject, Loglikelihood, Media, Opinion, Problem, Question
from model_accuracy_eval.records.code import Execution
from model_accuracy_eval.run_folder import journal
from model_accuracy_eval.scoring.metrics.metric_type import Ask, AskResult


class FindingLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line: the ask's key, the first sample that needed it, and what the judge or the program said."""

    key: str
    problem: int
    index: int
    question: Question | None = None
    opinion: Opinion | None = None
    execution: Execution | None = None


_decode = msgspec.json.Decoder(FindingLine).decode


def findings_file(label: str, dataset: str) -> str:
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
    return msgspec.json.encode(whole) + b"\n"


def finding(source: bytes) -> tuple[str, AskResult | None]:
    """The key and the finding in a line."""
    whole = _decode(source)
    return whole.key, whole.opinion or whole.execution


# The journal as AISBench shows replies: `predictions/<label>/<dataset>.json`, sorted by problem.


class PredictionEntry(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One problem in the view `<dataset>.json`."""

    origin_prompt: msgspec.Raw
    prediction: list[str | None] | str | None
    gold: str
    loglikelihoods: list[JSONObject | None] = []


def view_file(label: str, dataset: str) -> str:
    return f"predictions/{label}/{dataset}.json"


def places_by_problem(lines: Iterable[bytes]) -> list[int]:
    """Where each line of a journal begins, by problem and then as they stand: long replies are not held for it."""
    problems, place = [], 0
    for line in lines:
        problems.append((journal.key(line)[0], place))
        place += len(line)
    return [place for _, place in sorted(problems)]


def as_view(lines: Iterable[bytes], n: int) -> Iterator[bytes]:
    """Lines by problem → `{"0": {"origin_prompt", "prediction", "gold"}, …}`; for n > 1 a list, with null for a
    missing sample.

    Where the options' log-likelihoods were asked for, the prediction is the most likely one, and `loglikelihoods` has
    an entry for each.
    """
    yield b"{"
    separator = b""
    for problem, answers in groupby(map(journal.answer_of, lines), key=lambda answer: answer.id):
        body = msgspec.json.format(msgspec.json.encode(_entry(answers, n)), indent=4).replace(b"\n", b"\n    ")
        yield b'%s\n    "%d": %s' % (separator, problem, body)
        separator = b","
    yield b"\n}\n"


def _entry(answers: Iterator[journal.AnswerLine], n: int) -> PredictionEntry:
    """One problem's; of what stands twice the last counts."""
    first = next(answers)
    entry = PredictionEntry(origin_prompt=first.origin_prompt.copy(), prediction=None, gold=first.gold)
    predictions: list[str | None] = [None] * n
    for answer in chain([first], answers):
        predictions[answer.index] = answer.prediction
        if answer.loglikelihoods:
            entry.loglikelihoods = [_named(candidate) for candidate in answer.loglikelihoods]
    entry.prediction = predictions if n > 1 else predictions[0]
    return entry


def _named(candidate: Loglikelihood | None) -> JSONObject | None:
    """A candidate's log-likelihood with the names of its fields; `cropped_to` only where something was cropped."""
    if candidate is None:
        return None
    fields = msgspec.structs.asdict(candidate)
    return {name: value for name, value in fields.items() if name != "cropped_to" or value is not None}


# `predictions/<label>/<dataset>_pictures.jsonl`: small pictures of the questions, and small pictures and sounds of the
# replies, for the page; a line for each.


LARGEST = 100_000
"""Bytes of one picture; a larger one is named and not shown."""
ALL_TOGETHER = 8_000_000
"""Bytes of one dataset's pictures, the first ones."""
_ADDRESS = ("data:image/", "data:audio/")


class PictureLine(msgspec.Struct, frozen=True):
    """One picture or sound. The id is the beginning of its hash, as questions name it; the address is a data URI."""

    id: str
    address: str


_decode_pictures = msgspec.json.Decoder(PictureLine).decode


def pictures_file(label: str, dataset: str) -> str:
    return f"predictions/{label}/{dataset}_pictures.jsonl"


def lines(problems: Iterable[Problem], replies: Iterable[Media], read: Callable[[Media], bytes]) -> Iterator[bytes]:
    """Those that are small, each once. `read` gives the bytes of one, whether a question or a reply has it."""
    seen: set[str] = set()
    left = ALL_TOGETHER
    asked = (media for problem in problems for message in problem.messages for media in message.media)
    for media in chain((media for media in asked if media.kind == "image"), replies):
        if media.sha256 in seen or media.kind == "video":
            continue
        seen.add(media.sha256)
        if media.size is not None and media.size <= min(LARGEST, left):
            left -= media.size
            yield msgspec.json.encode(PictureLine(media.sha256[:12], _address(media, read))) + b"\n"


def _address(media: Media, read: Callable[[Media], bytes]) -> str:
    if media.url.startswith(_ADDRESS):
        return media.url
    return f"data:{media.kind}/{media.format};base64,{b64encode(read(media)).decode()}"


def addresses(source: Iterable[bytes]) -> dict[str, str]:
    """Id → data URI."""
    return {line.id: line.address for line in map(_decode_pictures, source) if line.address.startswith(_ADDRESS)}
