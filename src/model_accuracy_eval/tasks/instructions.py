"""Rows of IFEval → the same with instructions that can be checked, or a sentence that says which cannot."""

from typing import Any

from model_accuracy_eval.errors import BadData, UsageError
from model_accuracy_eval.records import JSONObject
from model_accuracy_eval.scoring.ifeval.following import instruction

Row = dict[str, Any]


def instructions(rows: list[Row]) -> list[Row]:
    """With the column `instructions`, made of the names in `instruction_id_list` and the arguments in `kwargs`."""
    return [{**row, "instructions": _of(row, number)} for number, row in enumerate(rows, start=1)]


def _of(row: Row, number: int) -> list[JSONObject]:
    names, arguments = row["instruction_id_list"], row["kwargs"]
    if not (isinstance(names, list) and isinstance(arguments, list) and len(names) == len(arguments)):
        raise BadData(
            f"Row {number}: instruction_id_list and kwargs are lists of the same length, but here they are "
            f"{names!r:.80} and {arguments!r:.80}."
        )
    try:
        return [instruction(*pair) for pair in zip(names, arguments, strict=True)]
    except UsageError as error:
        raise BadData(f"Row {number}: {error.sentence}") from error
