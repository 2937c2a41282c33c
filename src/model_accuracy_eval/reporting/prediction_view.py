"""The journal as AISBench shows replies: `predictions/<label>/<dataset>.json`, sorted by problem."""

from collections.abc import Iterable, Iterator
from itertools import chain, groupby

import msgspec

from model_accuracy_eval.records import JSONObject, Loglikelihood
from model_accuracy_eval.reporting import journal


class PredictionEntry(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One problem in the view `<dataset>.json`."""

    origin_prompt: msgspec.Raw
    prediction: list[str | None] | str | None
    gold: str
    loglikelihoods: list[JSONObject | None] = []


def file(label: str, dataset: str) -> str:
    return f"predictions/{label}/{dataset}.json"


def as_view(lines: Iterable[bytes], n: int) -> Iterator[bytes]:
    """Lines by problem → `{"0": {"origin_prompt", "prediction", "gold"}, …}`; for n > 1 a list, with null for a missing
    sample.

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
