"""Rows of CSV and TSV files, as programs and spreadsheets write them: with commas, semicolons or tabs between cells, a
`sep=` line before the header, empty lines and columns at the end."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataFile, MetricUse, Pipeline, Prompt, Step, TaskSpec

_MARKS = ",;\t|"


def read(name: str, lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row with the number of its line. `lines` have their ends."""
    first = next(lines, "")
    announced = first.rstrip("\r\n")[4:] if re.fullmatch(r"sep=[^\r\n][\r\n]*", first) else ""
    # What stands between the names of columns: of several signs outside quotes the most frequent, then the comma.
    bare = "".join(first.split('"')[::2])
    bare_counts = Counter({mark: bare.count(mark) for mark in _MARKS})
    mark = announced or ("\t" if name.removesuffix(".gz").endswith(".tsv") else bare_counts.most_common(1)[0][0])
    skipped = 1 if announced else 0
    reader = csv.reader(lines if announced else chain([first], lines), delimiter=mark, strict=True)
    try:
        header = _header(name, next(reader, []))
        for cells in reader:
            if any(cell.strip() for cell in cells):
                where = f"line {reader.line_num + skipped}"
                yield where, dict(zip(header, _of_width(f"{name}, {where}", header, cells), strict=True))
    except csv.Error as error:
        raise BadData(f"{name}, line {reader.line_num + skipped}: {error}.") from error


def _header(name: str, cells: Sequence[str]) -> list[str]:
    header = [cell.strip() for cell in cells]
    while header and not header[-1]:
        header.pop()
    if twice := [column for column, count in Counter(header).items() if count > 1]:
        shown = f"the column '{twice[0]}' is there twice" if twice[0] else "a column in the middle has no name"
        raise BadData(f"{name}, line 1: {shown}, so nobody knows which of its cells counts.")
    return header


def _of_width(where: str, header: Sequence[str], cells: Sequence[str]) -> Sequence[str]:
    """As many cells as there are names: what is empty behind them is no cell."""
    end = len(cells)
    while end > len(header) and not cells[end - 1].strip():
        end -= 1
    if end != len(header):
        raise BadData(f"{where}: the header names {len(header)} columns, but this row has another number of them.")
    return cells[:end]


# Files of conversations, as SmolTalk, ShareGPT and nanochat's own JSON have them: a list of messages a row.
#
# The service gets everything up to the last reply, and its reply is compared with that one. The overlap of their words
# says little by itself; a judge, or a baseline on the same file, says more.


_ROLES = ("user", "assistant")


_SHARED = "conversations"
_SHARED_ROLES = {"human": "user", "gpt": "assistant"}


def with_messages(row: dict[str, Any]) -> dict[str, Any]:
    """The row with `messages`, where it has ShareGPT's `conversations` instead: [{"from": "human", "value": "…"}]."""
    turns = row.get(_SHARED)
    if "messages" in row or not isinstance(turns, list) or not turns:
        return row
    if not all(isinstance(turn, dict) and {"from", "value"} <= turn.keys() for turn in turns):
        return row
    messages = [{"role": _SHARED_ROLES.get(turn["from"], turn["from"]), "content": turn["value"]} for turn in turns]
    return {**row, "messages": messages}


def check(where: str, messages: Any) -> None:
    """Refuses anything but an optional system message and then texts of user and assistant in turns, assistant last."""
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise BadData(f"{where}: a conversation is a list of messages with role and content.")
    turns = messages[1:] if messages and messages[0].get("role") == "system" else messages
    if len(turns) < 2:
        raise BadData(
            f"{where}: a conversation has 2 messages or more besides the system's, but this one has {len(turns)}."
        )
    for place, message in enumerate(turns):
        number = place + 1 + len(messages) - len(turns)
        if message.get("role") != _ROLES[place % 2]:
            raise BadData(
                f"{where}: message {number} must be of {_ROLES[place % 2]}, but is of {message.get('role')!r}."
            )
    for number, message in enumerate(messages, start=1):
        if not isinstance(message.get("content"), str) or not message["content"].strip():
            raise BadData(f"{where}: message {number} has no text as its content.")
    if len(turns) % 2:
        raise BadData(f"{where}: the last message must be of assistant, because it is what a reply is compared with.")


def last_replies(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each conversation split into what is sent and its last reply."""
    return [{**row, "earlier": row["messages"][:-1], "reply": row["messages"][-1]["content"]} for row in rows]


def task(name: str, path: str) -> TaskSpec:
    """The task of a file of conversations."""
    return TaskSpec(
        name=name,
        about="Own conversations, each with its last reply.",
        data=DataFile(name=path),
        views=(Step(name="last_replies"),),
        fields=("messages",),
        prompt=Prompt(dialogue="earlier", question=""),
        reference="{{ reply }}",
        max_tokens=1024,
        pipelines=(
            Pipeline(
                filters=(Step(name="strip_thoughts"), Step(name="stripped")),
                metrics=(MetricUse(name="token_f1"), MetricUse(name="exact", label="the same reply")),
            ),
        ),
    )
