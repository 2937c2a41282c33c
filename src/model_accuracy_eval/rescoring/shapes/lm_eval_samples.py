"""The samples that lm-eval 0.4 and 0.5 log: a line for each problem and filter."""

import ast
from collections.abc import Iterator
from itertools import zip_longest

from msgspec.structs import replace

from model_accuracy_eval.records import Loglikelihood
from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow, Shape, as_share, as_text


def _sample(row: ReplyRow, _: ReplyRow) -> Iterator[SavedReply]:
    metrics = row.plain_texts("metrics")
    question = row.get("doc.question")
    verdicts = {metric: as_share(row.get(metric)) for metric in metrics}
    reply = SavedReply(
        problem=row.identifier("doc_id"),
        question=question if isinstance(question, str) else "",
        gold=_right_answers(row),
        filter=row.text("filter") or "none",
        metrics=metrics,
        claimed={metric: value for metric, value in verdicts.items() if value is not None},
    )
    replies, answers = (_list(row, name) for name in ("resps", "filtered_resps"))
    # lm-eval 0.5 writes the reply about each option as a list of one.
    single = [entry[0] if isinstance(entry, list) and len(entry) == 1 else entry for entry in answers]
    likelihoods = [_loglikelihood(entry) for entry in single]
    if likelihoods and likelihoods[0] is not None:
        options = tuple(ending.removeprefix(" ") for ending in row.plain_texts("arguments.*.arg_1|arguments.*.1"))
        yield replace(reply, options=options, loglikelihoods=tuple(likelihoods))
        return
    if len(replies) > 1:
        raise row.wrong("resps", f"has replies to {len(replies):,} requests, and which is the answer is not known")
    texts = replies[0] if replies else []
    if answers and isinstance(answers[0], list):
        answers = answers[0]
    # A filter may leave fewer answers than there are replies: the first one, or that of the majority.
    for text, answer in zip_longest(texts if isinstance(texts, list) else [texts], answers):
        yield replace(
            reply, text="" if text is None else as_text(text), answer=None if answer is None else as_text(answer)
        )


def _list(row: ReplyRow, field: str) -> list[object]:
    value = row.get(field)
    if not isinstance(value, list):
        raise row.wrong(field, "is not a list")
    return value


def _loglikelihood(value: object) -> Loglikelihood | None:
    """A pair of a log-likelihood and of whether greedy decoding gives the same text."""
    match value:
        case [logprob, greedy] if str(greedy) in {"True", "False"}:
            return Loglikelihood(logprob=float(str(logprob)), greedy=str(greedy) == "True")
    return None


def _right_answers(row: ReplyRow) -> tuple[str, ...]:
    """lm-eval writes several right answers as a Python list."""
    target = row.get("target")
    if isinstance(target, str) and target.startswith("["):
        try:
            answers = ast.literal_eval(target)
        except (SyntaxError, ValueError):
            return (target,)
        return tuple(map(str, answers)) if isinstance(answers, list) else (target,)
    return row.plain_texts("target")


SHAPES = (
    Shape(
        name="lm-eval's samples",
        tools="lm-eval 0.4 and 0.5 with `--log_samples`",
        file="`samples_<task>_<stamp>.jsonl`",
        needs=("doc_id", "target", "resps", "filtered_resps"),
        replies=_sample,
        gives="right answer, filter, filtered answer, log-likelihoods of the options; each metric's value is a claim",
    ),
)
