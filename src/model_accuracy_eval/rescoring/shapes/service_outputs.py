"""What comes out of batches of requests and of benchmarks of conversation: OpenAI, Anthropic, apr, MT-Bench, BFCL."""

import re
from collections.abc import Iterator

from msgspec.structs import replace

from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.chat_messages import content
from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow, as_text
from model_accuracy_eval.rescoring.shapes.row_samples import NO_REPLY, samples, with_index
from model_accuracy_eval.rescoring.shapes.shape import Shape

_APR_SAMPLE = re.compile(r"(?P<problem>\d+)_s(?P<sample>\d+)")
_BFCL_ERROR = "Error during inference:"
_OK = 200


def _openai(row: ReplyRow, _: ReplyRow) -> Iterator[SavedReply]:
    """Chat, completions and responses differ in what the body holds."""
    reply = SavedReply(problem=row.identifier("custom_id"))
    status = row.count("response.status_code")
    if row.get("error") or (status is not None and status != _OK):
        error = row.get("error.message|response.body.error.message|error")
        shown = f"HTTP {status}" if status is not None and error is None else as_text(error)
        yield replace(reply, failure=shown, rejected=status is not None and 400 <= status < 500 and status != 429)
        return
    choices = row.objects("response.body.choices")
    for choice in choices:
        yield _message(reply, choice, "message.content|text", choice.get("finish_reason"))
    if not choices:
        messages = [part for part in row.objects("response.body.output") if part.get("type") == "message"]
        yield _message(reply, messages[-1], "content", None) if messages else replace(reply, failure=NO_REPLY)


def _anthropic(row: ReplyRow, _: ReplyRow) -> Iterator[SavedReply]:
    reply = SavedReply(problem=row.identifier("custom_id"))
    kind = row.text("result.type")
    if kind != "succeeded":
        error = row.get("result.error.error.message|result.error.message")
        yield replace(reply, failure=as_text(error) if error else kind)
        return
    stop = row.get("result.message.stop_reason")
    yield _message(reply, row, "result.message.content", "length" if stop == "max_tokens" else stop)


def _message(reply: SavedReply, row: ReplyRow, path: str, stop: object) -> SavedReply:
    text, reasoning = content(row, path)
    if text is None:
        return replace(reply, failure=NO_REPLY)
    reasoning = reasoning or row.text("message.reasoning_content|message.reasoning")
    return replace(reply, text=text, reasoning=reasoning, finish_reason=stop if isinstance(stop, str) else None)


def _apr(row: ReplyRow, _: ReplyRow) -> Iterator[SavedReply]:
    """`12_s3` is the sample 3 of problem 12, where several were asked for."""
    problem = row.identifier("task_id")
    match = _APR_SAMPLE.fullmatch(problem)
    reply = SavedReply(problem=problem)
    if match:
        reply = with_index(SavedReply(problem=match["problem"]), int(match["sample"]))
    if row.get("error"):
        yield replace(reply, failure=as_text(row.get("error")))
        return
    yield from samples(reply, row, "text")


def _mt_bench(row: ReplyRow, _: ReplyRow) -> Iterator[SavedReply]:
    """Each turn is judged by itself."""
    for choice in row.objects("choices"):
        turns = choice.get("turns")
        if not isinstance(turns, list) or not turns:
            raise row.wrong("choices", "has no turns")
        for number, turn in enumerate(turns, start=1):
            reply = SavedReply(
                problem=row.identifier("question_id"),
                index=choice.count("index"),
                dataset="mt_bench",
                filter=f"turn {number}" if len(turns) > 1 else "none",
            )
            yield from samples(reply, ReplyRow({"turn": turn}, row.where), "turn")


def _bfcl(row: ReplyRow, _: ReplyRow) -> Iterator[SavedReply]:
    """Calls of tools are given as JSON."""
    problem = row.identifier("id")
    reply = SavedReply(problem=problem, dataset=f"BFCL_{problem.rpartition('_')[0]}")
    result = row.get("result")
    text = "" if result is None else as_text(result)
    if result is None or text.startswith(_BFCL_ERROR):
        yield replace(reply, failure=text or NO_REPLY)
        return
    yield replace(reply, text=text)


SHAPES = (
    Shape(
        name="OpenAI's batch output",
        tools="OpenAI's batches, and services with the same interface",
        file="the output and error files of a batch",
        needs=("custom_id", "response|error"),
        replies=_openai,
        gives="errors, finish reasons",
    ),
    Shape(
        name="Anthropic's batch results",
        tools="Anthropic's batches",
        file="the results of a batch",
        needs=("custom_id", "result.type"),
        replies=_anthropic,
        gives="errors, finish reasons",
    ),
    Shape(
        name="apr's batch output",
        tools="`apr run --batch-jsonl`",
        file="its output, with `task_id`",
        needs=("task_id", "text|error", "tokens_generated|inference_ms|error"),
        replies=_apr,
        gives="errors; the number of the sample in `12_s3`",
    ),
    Shape(
        name="MT-Bench's answers",
        tools="MT-Bench",
        file="`model_answer/<model>.jsonl`",
        needs=("question_id", "model_id", "choices.*.turns"),
        replies=_mt_bench,
        gives="each turn by itself",
    ),
    Shape(
        name="BFCL's results",
        tools="BFCL",
        file="`result/<model>/**/BFCL_*_result.json`",
        needs=("id", "result", "latency|input_token_count|traceback"),
        replies=_bfcl,
        gives="calls of tools as JSON, errors",
    ),
)
