"""Rows of code benchmarks → what stands around a reply to make it a program, and the tests that it has to pass."""

from collections.abc import Sequence
from typing import Any

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.tasks.rows import Row

_MBPP = ("text", "code", "task_id", "test_setup_code", "test_list", "challenge_test_list")
_HUMAN_EVAL = ("prompt", "test", "entry_point")


def programs(rows: list[Row]) -> list[Row]:
    """Every row with `program_head` and `program_tests`; the fields tell whose row it is."""
    return [{**row, **_program(row)} for row in rows]


def _program(row: Row) -> dict[str, Any]:
    if _has(row, _MBPP):
        return {"program_head": "", "program_tests": "\n".join(row["test_list"])}
    if _has(row, _HUMAN_EVAL):
        return {"program_head": row["prompt"], "program_tests": f"{row['test']}\ncheck({row['entry_point']})"}
    raise BadData(
        f"Programs are tested with rows that have {', '.join(_HUMAN_EVAL)} (HumanEval) or {', '.join(_MBPP)} (MBPP), "
        f"but there is a row that has: {', '.join(row)}."
    )


def _has(row: Row, fields: Sequence[str]) -> bool:
    return row.keys() >= set(fields)
