"""One row → its samples, where a field holds one reply or a list of them."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow, as_share, as_text

NO_REPLY = "the file has null in the place of the reply"


def samples(reply: SavedReply, row: ReplyRow, field: str) -> Iterator[SavedReply]:
    """The row's samples: `reply` with each text of the field. Null is a sample that failed."""
    value = row.get(field)
    for entry in value if isinstance(value, list) else [value]:
        if entry is None:
            yield replace(reply, failure=NO_REPLY)
        elif isinstance(entry, bool) or not isinstance(entry, str | int | float):
            raise row.wrong(field, "holds something else than texts")
        else:
            yield replace(reply, text=as_text(entry))


def with_verdicts(
    replies: Iterable[SavedReply], verdicts: object, row: ReplyRow, field: str, metric: str = "correct"
) -> Iterator[SavedReply]:
    """The samples with what the tool says of each: a list with an entry for each, or one verdict for the only one."""
    each = list(replies)
    if verdicts is None:
        yield from each
        return
    values: Sequence[object] = verdicts if isinstance(verdicts, list) else [verdicts]
    if len(values) != len(each):
        raise row.wrong(field, f"has {len(values):,} verdicts for {len(each):,} replies")
    for reply, value in zip(each, values, strict=True):
        if value is None:
            yield reply
            continue
        share = as_share(value)
        if share is None or not 0 <= share <= 1:
            raise row.wrong(
                field, f"holds {as_text(value)[:60]} for a verdict, which is neither true, false nor a share of 1"
            )
        yield replace(reply, claimed={**reply.claimed, metric: share})


def with_answers(replies: Iterable[SavedReply], answers: object, row: ReplyRow, field: str) -> Iterator[SavedReply]:
    """The samples with what the tool's own filter left of each, where the file has such a list."""
    each = list(replies)
    values: Sequence[object] = answers if isinstance(answers, list) else [None] * len(each)
    if len(values) != len(each):
        raise row.wrong(field, f"has {len(values):,} entries for {len(each):,} replies")
    for reply, value in zip(each, values, strict=True):
        yield replace(reply, answer=None if value is None else as_text(value))


def with_index(reply: SavedReply, index: int | None) -> SavedReply:
    """`index`: as the file counts, from 0; a number below 0 says nothing."""
    return reply if index is None or index < 0 else replace(reply, index=index)
