"""Rows as other tools' folders have them → rows as the hubs have them."""

import csv
import io
from collections.abc import Callable, Mapping
from typing import Any

from model_accuracy_eval.errors import BadData

Rows = list[dict[str, Any]]

TEXT = "text"
"""The column with the whole text of a file whose rows a layout makes."""


def headless_options(rows: Rows, place: str) -> Rows:
    """MMLU's own CSV files: the question, four options and the letter of the right one, without a header."""
    (whole,) = rows
    lines = [cells for cells in csv.reader(io.StringIO(whole[TEXT], newline="")) if cells]
    for number, cells in enumerate(lines, start=1):
        if len(cells) != 6 or cells[5].strip() not in set("ABCD"):
            raise BadData(
                f"{place}, row {number}: a question, four options and one of the letters A to D are expected, without "
                f"a header, but there are {len(cells)} cells, the last of them {cells[-1][:40]!r}."
            )
    return [
        {"question": question, "choices": options, "answer": "ABCD".index(letter.strip())}
        for question, *options, letter in lines
    ]


def stem_questions(rows: Rows, place: str) -> Rows:
    """The Allen Institute's own files: {"question": {"stem": "…", "choices": [{"text": "…", "label": "A"}]}}."""
    for number, row in enumerate(rows, start=1):
        question = row.get("question")
        if not isinstance(question, Mapping) or not {"stem", "choices"} <= question.keys():
            raise BadData(f"{place}, row {number}: 'question' has no 'stem' and 'choices'.")
    return [
        {
            **row,
            "question": row["question"]["stem"],
            "question_stem": row["question"]["stem"],
            "choices": {name: [one[name] for one in row["question"]["choices"]] for name in ("text", "label")},
        }
        for row in rows
    ]


LAYOUTS: dict[str, Callable[[Rows, str], Rows]] = {
    "headless_options": headless_options,
    "stem_questions": stem_questions,
}
