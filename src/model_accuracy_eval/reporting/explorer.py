"""The list of all problems that the page's script shows, filters and opens: one row a problem, without its replies."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from model_accuracy_eval.records import VerdictReason
from model_accuracy_eval.reporting.page_replies import PackedReplies, packed, packed_text
from model_accuracy_eval.reporting.sections import Item, Section
from model_accuracy_eval.reporting.untrusted_text import valid_unicode

LETTERS: Mapping[VerdictReason, str] = {
    "right": "r", "wrong": "w", "not found": "n", "unjudged": "u",
    "empty": "e", "rejected": "j", "failed": "f", "missing": "m",
}  # fmt: skip
"""What stands for a sample's verdict in a row; the script has the same table the other way around."""

FILTERS = (
    ("all", "All"),
    ("unstable", "Unstable"),
    ("wrong", "Wrong"),
    ("right", "Right"),
    ("lost", "Lost samples"),
    ("unread", "No answer read"),
)
COMPARED_FILTERS = (("changed", "Changed"), ("worse", "Worse"), ("better", "Better"), ("all", "All"))
Filters = Sequence[tuple[str, str]]
Packed = Mapping[str, PackedReplies]


class ExplorerRow(msgspec.Struct, array_like=True):
    """One problem. The script reads the fields by their places."""

    id: int
    key: str
    state: str
    score: str
    why: str
    """A letter for each sample."""
    teaser: str
    gold: str
    answers: list[tuple[str | None, str, int]]
    """Text, letter and number of samples of each different answer."""
    part: str | None
    chunk: int
    """-1: the page does not have its replies."""


class ExplorerDataset(msgspec.Struct):
    """One dataset of the list."""

    name: str
    share: bool
    rows: list[ExplorerRow]


class ExplorerIndex(msgspec.Struct):
    """Everything that the script knows before it opens a chunk."""

    filters: Filters
    datasets: list[ExplorerDataset]
    elsewhere: str = ""
    """The page that has the replies, if this one does not."""


def index(sections: Sequence[Section], replies: Packed, *, elsewhere: str = "") -> str:
    """Packed like a chunk: a JSON list with the index as its only entry."""
    return packed_text(_index_parts(sections, replies, elsewhere))


def _index_parts(sections: Sequence[Section], replies: Packed, elsewhere: str) -> Iterator[bytes]:
    """A list with an `ExplorerIndex`, row by row: all of them would be a gigabyte for a million problems."""
    hollow = [ExplorerDataset(section.dataset_result.dataset, section.share, []) for section in sections]
    *heads, end = msgspec.json.encode([ExplorerIndex(FILTERS, hollow, elsewhere)]).split(_NO_ROWS)
    for section, head in zip(sections, heads, strict=True):
        yield head + _NO_ROWS[:-2]
        separator = b""
        for item in section.all_items():
            yield separator + msgspec.json.encode(_row(item, replies.get(section.dataset_result.dataset)))
            separator = b","
        yield b"]}"
    yield end


_NO_ROWS = b'"rows":[]}'
"""No name of a dataset has it: a quotation mark within a text has a backslash before it."""


def compared_index(
    old: Sequence[Section], new: Sequence[Section], states: Mapping[str, Mapping[int, str]], packed_replies: Packed
) -> str:
    """Two runs problem by problem: those of the new one, where both have them, the changed ones first."""
    before = {section.dataset_result.dataset: {item.id: item for item in section.all_items()} for section in old}
    datasets = []
    for section in new:
        name = section.dataset_result.dataset
        rows = [
            _compared_row(item, before[name][item.id], states[name][item.id], packed_replies.get(name))
            for item in section.all_items()
            if item.id in states.get(name, {})
        ]
        rows.sort(key=lambda row: _COMPARED_ORDER.index(row.state))
        datasets.append(ExplorerDataset(name, section.share, rows))
    return packed([msgspec.json.encode(ExplorerIndex(COMPARED_FILTERS, datasets))])


_COMPARED_ORDER = ("worse", "better", "same")


def _compared_row(item: Item, before: Item, state: str, replies: PackedReplies | None) -> ExplorerRow:
    row = _row(item, replies)
    row.score, row.state = f"{before.score} → {item.score}", state
    return row


def _row(item: Item, replies: PackedReplies | None) -> ExplorerRow:
    return ExplorerRow(
        id=item.id,
        key=valid_unicode(item.key),
        state=item.state,
        score=item.score,
        why="".join(LETTERS[why] for why in item.why),
        teaser=valid_unicode(item.teaser),
        gold=valid_unicode(item.gold),
        answers=[
            (None if group.text is None else valid_unicode(group.text), LETTERS[group.why], group.count)
            for group in item.answers
        ],
        part=item.part and valid_unicode(item.part),
        chunk=replies.places.get(item.id, -1) if replies else -1,
    )
