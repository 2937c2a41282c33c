"""Answers that are compared as their row's kind says."""

from typing import Any

import pytest

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.metrics.metric_table import metric


@pytest.mark.parametrize(
    ("right", "extras", "answer", "value"),
    [
        ("1.2", {"kind": "number", "precision": 1.0}, "1.24", 1),
        ("1.2", {"kind": "number", "precision": 1.0}, "1.26", 0),
        ("1.2", {"kind": "number", "precision": None}, "1.24", 0),
        ("1.2", {"kind": "number"}, "1.20", 1),
        ("1200", {"kind": "number", "precision": 0}, "1,200.4", 1),
        ("3", {"kind": "number", "precision": None}, "3.7", 0),
        ("1.2", {"kind": "number", "precision": 1.0}, "about that", 0),
        ("1.2", {"kind": "text", "precision": 1.0}, "1.24", 0),
        ("B", {"kind": "letter", "precision": 1.0}, "B", 1),
    ],
)
def test_numbers_are_rounded_where_the_row_says_so(right: str, extras: dict[str, Any], answer: str, value: int) -> None:
    problem = Problem(id=0, messages=(), references=(right,), extras=extras)
    assert metric("equal_in_kind").score(answer, problem, rounded="precision") == value
