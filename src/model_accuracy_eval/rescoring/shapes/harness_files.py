"""What harnesses keep: the samples of lm-eval 0.4 and 0.5, and messages as EvalScope 1.x and inspect have them."""

import ast
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from msgspec.structs import replace

from model_accuracy_eval.records import Loglikelihood
from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.reply_row import NO_REPLY, ReplyRow, Shape, as_share, as_text


def _lm_eval_sample(row: ReplyRow) -> Iterator[SavedReply]:
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


# Messages in the form of OpenAI's interface.


_TEXT_PARTS = {"text", "output_text"}


def content(row: ReplyRow, path: str) -> tuple[str | None, str]:
    """The text of a message's content, and the reasoning in it. The content is a text, or a list of parts."""
    value = row.get(path)
    if value is None or isinstance(value, str):
        return value, ""
    if not isinstance(value, list):
        raise row.wrong(path, "is neither a text nor a list of parts")
    parts = [part if isinstance(part, dict) else {"type": "text", "text": part} for part in value]
    texts = _joined(part.get("text") for part in parts if part.get("type") in _TEXT_PARTS)
    reasoning = _joined(part.get("reasoning") or part.get("thinking") for part in parts)
    return texts, reasoning


def _joined(texts: Iterable[object]) -> str:
    return "\n".join(text for text in texts if isinstance(text, str))


def last_question(row: ReplyRow, path: str) -> str:
    """The last text of the user; the whole where it is no conversation. OpenCompass calls the user HUMAN."""
    value = row.get(path)
    if not isinstance(value, list):
        return value if isinstance(value, str) else ""
    turns = [ReplyRow(turn, row.where) for turn in value if isinstance(turn, dict)]
    asked = [turn for turn in turns if turn.get("role") in ("HUMAN", "user")] or turns
    return (content(asked[-1], "prompt|content")[0] or "") if asked else ""


_SCORE = "sample_score.score"


def _prediction(row: ReplyRow) -> Iterator[SavedReply]:
    reply = SavedReply(problem=row.identifier("index"), question=last_question(row, "messages"))
    if row.get("model_output.error"):
        yield replace(reply, failure=row.plain_texts("model_output.error")[0])
        return
    text, reasoning = content(row, "model_output.choices.0.message.content")
    if text is None:
        yield replace(reply, failure=NO_REPLY)
        return
    stop = row.text("model_output.choices.0.stop_reason") or None
    yield replace(reply, text=text, reasoning=reasoning, finish_reason="length" if stop == "max_tokens" else stop)


def _review(row: ReplyRow) -> Iterator[SavedReply]:
    """Samples of one problem share its group."""
    group = "sample_score.group_id"
    values = row.get(f"{_SCORE}.value")
    shares = {str(name): as_share(value) for name, value in values.items()} if isinstance(values, dict) else {}
    # As EvalScope has it: without a name, the first value is the main one.
    main = row.text(f"{_SCORE}.main_score_name") or next(iter(shares), "")
    reply = SavedReply(
        problem=row.identifier(group if row.get(group) is not None else "index"),
        question=last_question(row, "messages|input"),
        gold=tuple(filter(None, row.plain_texts("target"))),
        main=main,
        claimed={name: share for name, share in shares.items() if share is not None},
    )
    if row.get(f"{_SCORE}.prediction") is None:
        yield replace(reply, failure=NO_REPLY)
        return
    answer = row.get(f"{_SCORE}.extracted_prediction")
    text = row.text(f"{_SCORE}.prediction")
    yield replace(reply, text=text, answer=answer if isinstance(answer, str) else None)


_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partly correct, incorrect, no answer."""
_ATTACHMENT = "attachment://"


def _inspect_sample(row: ReplyRow) -> Iterator[SavedReply]:
    epoch = row.count("epoch") or 1
    reply = SavedReply(
        problem=row.identifier("id"),
        index=epoch - 1,
        question=_attached(row, last_question(row, "input")),
        options=row.plain_texts("choices"),
        gold=row.plain_texts("target"),
        dataset=row.text("eval.task").rpartition("/")[2],
        claimed=(claimed := dict(_claims(row))),
        main=next(iter(claimed)) if len(claimed) == 1 else "",
    )
    if row.get("error") is not None:
        yield replace(reply, failure=row.text("error.message") or "the log has an error without a message")
        return
    text, reasoning = content(row, "output.choices.0.message.content")
    text = row.text("output.completion") or None if text is None else text
    if text is None:
        yield replace(reply, failure=NO_REPLY)
        return
    stop = row.get("output.choices.0.stop_reason")
    yield replace(
        reply,
        text=_attached(row, text),
        reasoning=reasoning,
        finish_reason={"max_tokens": "length"}.get(str(stop), str(stop)) if stop else None,
    )


def _attached(row: ReplyRow, text: str) -> str:
    """Long texts are kept once, among the sample's attachments."""
    if not text.startswith(_ATTACHMENT):
        return text
    path = f"attachments.{text.removeprefix(_ATTACHMENT)}"
    if path not in row:
        raise row.wrong("attachments", f"lacks the text {text}")
    return row.text(path)


def _claims(row: ReplyRow) -> Iterator[tuple[str, float]]:
    scores = row.get("scores")
    for name in scores if isinstance(scores, dict) else ():
        value = row.get(f"scores.{name}.value")
        for metric, part in value.items() if isinstance(value, dict) else [(name, value)]:
            share = _LETTERS.get(part) if isinstance(part, str) else as_share(part)
            if share is not None:
                yield str(metric), share


SHAPES = (
    Shape(
        name="lm-eval's samples",
        tools="lm-eval 0.4 and 0.5 with `--log_samples`",
        file="`samples_<task>_<stamp>.jsonl`",
        needs=("doc_id", "target", "resps", "filtered_resps"),
        replies=_lm_eval_sample,
        gives="right answer, filter, filtered answer, log-likelihoods of the options; each metric's value is a claim",
    ),
    Shape(
        name="EvalScope's predictions",
        tools="EvalScope",
        file="`predictions/<model>/<dataset>.jsonl`",
        needs=("index", "model_output", "messages"),
        replies=_prediction,
        gives="question, errors",
    ),
    Shape(
        name="EvalScope's reviews",
        tools="EvalScope",
        file="`reviews/<model>/<dataset>.jsonl`",
        needs=("index", "target", "sample_score"),
        replies=_review,
        gives="question, right answer; each score is a claim",
    ),
    Shape(
        name="inspect's log",
        tools="inspect",
        file="`*.eval`, `*.json`",
        at="samples",
        needs=("id", "epoch", "input", "output"),
        replies=_inspect_sample,
        gives="task, question, options, right answer, epoch, errors; each score is a claim",
    ),
)
