"""The forms in which benchmarks' own repositories publish outputs: MMLU-Pro, GAOKAO-Bench, BBH, IFEval."""

import re
from collections.abc import Iterator
from pathlib import PurePath

from msgspec.structs import replace

from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow
from model_accuracy_eval.rescoring.shapes.row_samples import samples, with_verdicts
from model_accuracy_eval.rescoring.shapes.shape import Shape

_BBH_FILE = re.compile(r"(?P<task>\w+?)_few_shot_template")


def _mmlu_pro(row: ReplyRow, _: ReplyRow) -> Iterator[SavedReply]:
    """Where no answer was read, the official script guesses one; here that is no claim."""
    field = "model_outputs|generated_text"
    reply = SavedReply(
        problem=row.identifier("question_id"),
        question=row.text("question"),
        options=row.plain_texts("options"),
        gold=row.plain_texts("answer"),
        part=row.text("category"),
        dataset="mmlu_pro",
        answer=row.text("pred") or None,
    )
    claimed = {} if reply.answer is None else {"correct": float(reply.answer == row.text("answer"))}
    return samples(replace(reply, claimed=claimed), row, field)


def _gaokao(row: ReplyRow, head: ReplyRow) -> Iterator[SavedReply]:
    reply = SavedReply(
        problem=row.identifier("index"),
        question=row.text("question"),
        gold=row.plain_texts("standard_answer"),
        part=head.text("keyword"),
        dataset="gaokao_bench",
    )
    return samples(reply, row, "model_output")


def _bbh(row: ReplyRow, head: ReplyRow) -> Iterator[SavedReply]:
    """The prompt has worked examples before the question. The file's name has the task."""
    question = row.text("input").rpartition("\nQ: ")[2].partition("\nA:")[0]
    task = _BBH_FILE.match(PurePath(head.where).name)
    reply = SavedReply(
        question=question, gold=row.plain_texts("target"), part=task["task"] if task else "", dataset="bbh"
    )
    return samples(reply, row, "prediction")


def _responses(row: ReplyRow, head: ReplyRow) -> Iterator[SavedReply]:
    """Only the file's name tells of IFEval."""
    dataset = "ifeval" if PurePath(head.where).name.startswith("input_response_data") else ""
    return samples(SavedReply(question=row.text("prompt"), dataset=dataset), row, "response")


def _ifeval(row: ReplyRow, head: ReplyRow) -> Iterator[SavedReply]:
    """Only the file's name says by which of the two readings it was judged."""
    reading = "loose" if "loose" in PurePath(head.where).name else "strict"
    verdict = row.get("follow_all_instructions")
    metric = f"prompt_level_{reading}_acc"
    replies = [replace(reply, dataset="ifeval") for reply in _responses(row, head)]
    return with_verdicts(replies, verdict, row, "follow_all_instructions", metric)


SHAPES = (
    Shape(
        name="MMLU-Pro's outputs",
        tools="MMLU-Pro",
        file="`model_outputs_*.json`, `<subject>_result.json`, or the zip of one",
        needs=("question_id", "options", "answer", "pred", "category", "model_outputs|generated_text"),
        replies=_mmlu_pro,
        gives="question, options, right answer, subject; `pred` is the claim where there is one",
    ),
    Shape(
        name="GAOKAO-Bench's results",
        tools="GAOKAO-Bench",
        file="`Results/<model>/*.json`",
        at="example",
        needs=("index", "question", "standard_answer", "model_output"),
        replies=_gaokao,
        gives="question, right answers, subject",
    ),
    Shape(
        name="BBH's outputs",
        tools="BIG-Bench-Hard",
        file="`<task>_few_shot_template_*.json`",
        at="outputs",
        needs=("input", "prediction", "target"),
        replies=_bbh,
        gives="question, right answer, task",
    ),
    Shape(
        name="prompts with responses",
        tools="IFEval",
        file="`input_response_data_*.jsonl`",
        needs=("prompt", "response"),
        replies=_responses,
        gives="the prompt",
    ),
    Shape(
        name="IFEval's results",
        tools="IFEval",
        file="`eval_results_strict.jsonl`, `eval_results_loose.jsonl`",
        needs=("prompt", "response", "instruction_id_list", "follow_all_instructions"),
        replies=_ifeval,
        gives="the prompt; `follow_all_instructions` is the claim",
    ),
)
