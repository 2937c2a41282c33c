"""Rows with sounds and videos: what is asked of them, and which are refused."""

from typing import Any

import pytest

from model_accuracy_eval.benchmarks.mmau import heard_questions
from model_accuracy_eval.errors import BadData


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"choices": "[", "answer": "a"}, "row 1: 'choices' is no JSON"),
        ({"choices": '["a", "b"]', "answer": "c"}, "row 1: the right answer 'c' is 0 of the 2 options"),
        ({"choices": ["a", "A "], "answer": "a"}, "row 1: the right answer 'a' is 2 of the 2 options"),
    ],
)
def test_options_without_the_right_answer(row: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadData, match=sentence):
        heard_questions([row])
