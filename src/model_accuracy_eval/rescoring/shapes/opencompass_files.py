"""What AISBench, OpenCompass, MMLU-Pro and this program write, whose files are AISBench's and more; plain rows."""

from collections.abc import Iterator

import msgspec

from model_accuracy_eval.records import EarlierReply, Loglikelihood, RequestMethod, ToolRound
from model_accuracy_eval.records.base import filled
from model_accuracy_eval.rescoring.saved_replies import HEADLINE, SavedReply
from model_accuracy_eval.rescoring.shapes.harness_files import last_question
from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow, Shape, as_text, samples, with_verdicts

_UNNAMED_FAILURE = "the tool says that the request failed"


class _OwnFields(msgspec.Struct):
    """What this program writes beyond AISBench's fields."""

    reasoning: str = ""
    finish_reason: str | None = None
    rounds: tuple[ToolRound, ...] = ()
    earlier: tuple[EarlierReply, ...] = ()
    method: RequestMethod = "chat"
    loglikelihoods: tuple[Loglikelihood | None, ...] = ()
    kind: str = ""


def _line(row: ReplyRow) -> Iterator[SavedReply]:
    try:
        own = msgspec.convert(row.fields, _OwnFields)
    except msgspec.ValidationError as error:
        raise row.wrong("data_abbr", f"is there, but the row is no line of AISBench's: {error}") from error
    reply = filled(
        SavedReply,
        own,
        problem=row.identifier("id"),
        index=row.count("index"),
        question=last_question(row, "origin_prompt|input"),
        gold=row.plain_texts("gold"),
        dataset=row.text("data_abbr"),
    )
    if row.get("success") is False or "error_info" in row:
        failure = as_text(row.get("error_info") or _UNNAMED_FAILURE)
        yield msgspec.structs.replace(reply, failure=failure, rejected=own.kind == "rejected")
        return
    if isinstance(row.get("prediction"), list | dict):
        raise row.wrong("prediction", "is no text; calls of tools are not judged here")
    yield from samples(reply, row, "prediction")


def _problem(row: ReplyRow) -> Iterator[SavedReply]:
    reply = SavedReply(
        problem=row.key,
        question=last_question(row, "origin_prompt"),
        gold=row.plain_texts("gold"),
        loglikelihoods=_named_loglikelihoods(row),
    )
    return samples(reply, row, "prediction")


def _named_loglikelihoods(row: ReplyRow) -> tuple[Loglikelihood | None, ...]:
    """Those of the view of one problem, where they are objects."""
    entries = row.get("loglikelihoods") or []
    names = Loglikelihood.__struct_fields__
    try:
        lists = [
            [each[name] if name == "logprob" else each.get(name) for name in names] if isinstance(each, dict) else each
            for each in (entries if isinstance(entries, list) else [entries])
        ]
        return msgspec.convert(lists, tuple[Loglikelihood | None, ...])
    except (msgspec.ValidationError, KeyError) as error:
        raise row.wrong("loglikelihoods", f"cannot be read: {error}") from error


def _batch(row: ReplyRow) -> Iterator[SavedReply]:
    reply = SavedReply(problem=row.identifier("task_id"))
    if row.get("error"):
        yield msgspec.structs.replace(reply, failure=as_text(row.get("error")))
        return
    yield from samples(reply, row, "text")


def _mmlu_pro(row: ReplyRow) -> Iterator[SavedReply]:
    """Where no answer was read, the official script takes an option by chance, and counts it if it is right."""
    answer, options = row.text("pred") or None, row.plain_texts("options")
    is_right = answer == row.text("answer") if answer else 1 / max(1, len(options))
    reply = SavedReply(
        problem=row.identifier("question_id"),
        question=row.text("question"),
        options=options,
        gold=row.plain_texts("answer"),
        part=row.text("category"),
        dataset="mmlu_pro",
        answer=answer,
        claimed={HEADLINE: float(is_right)},
        is_guess=answer is None,
    )
    return samples(reply, row, "model_outputs|generated_text")


def _plain(row: ReplyRow) -> Iterator[SavedReply]:
    reply = SavedReply(problem=row.identifier("id"), question=row.text("question"), gold=row.plain_texts("gold"))
    if row.get("success") is False:
        yield msgspec.structs.replace(reply, failure=as_text(row.get("error") or _UNNAMED_FAILURE))
        return
    replies = list(samples(reply, row, "predictions|prediction"))
    verdict = row.get("correct")
    # One verdict for several samples is that of each.
    verdicts = verdict if isinstance(verdict, list) or verdict is None else [verdict] * len(replies)
    yield from with_verdicts(replies, verdicts, row, "correct")


SHAPES = (
    Shape(
        name="AISBench's lines",
        tools="AISBench, runs of this program",
        file="`predictions/<model>/<dataset>.jsonl`, `<dataset>_failed.jsonl`",
        needs=("data_abbr", "id", "prediction|error_info"),
        replies=_line,
        gives="dataset, question, right answer, failures",
    ),
    Shape(
        name="predictions",
        tools="OpenCompass, AISBench, runs of this program",
        file="`predictions/<model>/<dataset>.json`, or its parts `<dataset>_0.json`, `<dataset>_1.json`, …",
        arrangement="keyed rows",
        in_parts=True,
        needs=("prediction",),
        replies=_problem,
        gives="question, right answer",
    ),
    Shape(
        name="plain rows",
        tools="anyone",
        file='lines, or a list, of `{"id", "prediction" or "predictions", "gold"}`',
        needs=("id", "prediction|predictions"),
        replies=_plain,
        gives="right answer; `correct` is the claim",
    ),
    Shape(
        name="lines of batch",
        tools="`batch` of this program, `apr run --batch-jsonl`",
        file="its output",
        needs=("task_id", "text|error", "tokens_generated|inference_ms|error"),
        replies=_batch,
        gives="errors",
    ),
    Shape(
        name="MMLU-Pro's outputs",
        tools="MMLU-Pro",
        file="`model_outputs_*.json`, `<subject>_result.json`, or the zip of one",
        needs=("question_id", "options", "answer", "pred", "category", "model_outputs|generated_text"),
        replies=_mmlu_pro,
        gives="question, options, right answer, subject; `pred` is the claim, or what a guess is worth",
    ),
)
