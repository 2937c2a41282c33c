"""The forms in which outputs about mathematics are published: GSM8K, Abel, ToRA, Qwen2.5-Math, DeepSeek-Math."""

import re
from collections.abc import Iterator

from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.chat_messages import last_question
from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow
from model_accuracy_eval.rescoring.shapes.row_samples import samples, with_answers, with_verdicts
from model_accuracy_eval.rescoring.shapes.shape import Shape

_ABEL_PROMPT = re.compile(r"Question:\n(?P<question>.*)\nAnswer:", re.DOTALL)


def _gsm8k(row: ReplyRow, _: ReplyRow) -> Iterator[SavedReply]:
    """Each model has a field of its own."""
    for name, value in row.fields.items():
        if isinstance(value, dict) and "solution" in value:
            reply = SavedReply(
                question=row.text("question"),
                gold=(row.text("ground_truth").rpartition("\nA:")[2].strip(),),
                dataset="gsm8k",
                filter=name,
            )
            model = ReplyRow(value, row.where)
            yield from with_verdicts(samples(reply, model, "solution"), model.get("is_correct"), model, "is_correct")


def _abel(row: ReplyRow, _: ReplyRow) -> Iterator[SavedReply]:
    question = _ABEL_PROMPT.search(row.text("prompt"))
    reply = SavedReply(
        problem=row.identifier("id"),
        question=question["question"] if question else row.text("prompt"),
        gold=row.plain_texts("gold"),
        answer=row.text("pred"),
    )
    return with_verdicts(samples(reply, row, "response"), row.get("result"), row, "result")


def _tora(row: ReplyRow, _: ReplyRow) -> Iterator[SavedReply]:
    """`code` is the whole reply, `pred` what was read out of it or came out of its programs."""
    reply = SavedReply(problem=row.identifier("idx"), question=row.text("question"), gold=row.plain_texts("gt"))
    each = with_answers(samples(reply, row, "code"), row.get("pred"), row, "pred")
    return with_verdicts(each, row.get("score"), row, "score")


def _deepseek_math(row: ReplyRow, _: ReplyRow) -> Iterator[SavedReply]:
    """`model_output` is the whole reply, `prediction` what was read out of it."""
    reply = SavedReply(
        problem=row.identifier("id") if "id" in row else "",
        question=last_question(row, "messages"),
        gold=row.plain_texts("answer"),
        answer=" / ".join(row.plain_texts("prediction")),
    )
    return with_verdicts(samples(reply, row, "model_output"), row.get("accuracy"), row, "accuracy")


SHAPES = (
    Shape(
        name="GSM8K's model solutions",
        tools="grade-school-math",
        file="`example_model_solutions.jsonl`, with a field for each model",
        needs=("question", "ground_truth", "*.solution"),
        replies=_gsm8k,
        gives="question, right answer; `is_correct` is the claim",
    ),
    Shape(
        name="Abel's outputs",
        tools="Abel",
        file="`outputs/<dataset>/*.jsonl`",
        needs=("id", "prompt", "response", "pred", "gold", "result"),
        replies=_abel,
        gives="question, right answer; `result` is the claim",
    ),
    Shape(
        name="ToRA's outputs",
        tools="ToRA, Qwen2.5-Math, math-evaluation-harness",
        file="`outputs/<model>/<dataset>/*.jsonl`",
        needs=("idx", "gt", "code", "pred"),
        replies=_tora,
        gives="question, right answer, the tool's own answer; `score` has the claims",
    ),
    Shape(
        name="DeepSeek-Math's outputs",
        tools="DeepSeek-Math",
        file="`predictions.json`",
        needs=("messages", "answer", "model_output", "id|prediction"),
        replies=_deepseek_math,
        gives="question, right answer, the tool's own answer; `accuracy` is the claim",
    ),
)
